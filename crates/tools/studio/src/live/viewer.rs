//! One viewer of a run under way, at a WebSocket (RFC 6455).
//!
//! The server sends `run` first, then everything since the viewer's last message, or everything
//! that is kept. A viewer that is too slow for the run misses messages, and learns so by `gap`. The
//! viewer sends requests, which are answered in order.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use serde::Deserialize;
use serde_json::{Value, json};

use super::hub::Hub;

/// The longest request, octets.
pub(crate) const MAX_REQUEST: usize = 16 << 10;
/// How long a viewer may take to read a message.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where a viewer goes on.
#[derive(Debug, Deserialize)]
pub(crate) struct ResumePoint {
    pub(crate) run: String,
    /// The hub that it heard before.
    #[serde(default)]
    hub: Option<String>,
    /// The number of the last message that it has of this hub.
    #[serde(default)]
    after: Option<u64>,
}

/// Serves a viewer until it goes away, or the run has ended and all is said.
pub(crate) async fn serve(mut socket: WebSocket, hub: Arc<Hub>, wanted: ResumePoint) {
    let is_back = wanted.hub.as_deref() == Some(hub.id());
    let mut next = if is_back { wanted.after.map_or(0, |n| n.saturating_add(1)) } else { 0 };
    let mut growth = hub.growth();
    if say(&mut socket, &hub.greeting()).await.is_none() {
        return;
    }
    loop {
        let Some(ended) = catch_up(&mut socket, &hub, &mut next).await else { return };
        if ended {
            // With an error the viewer is gone already.
            let _ = socket.send(Message::Close(None)).await;
            return;
        }
        tokio::select! {
            changed = growth.changed() => if changed.is_err() { return },
            request = socket.recv() => {
                let Some(Ok(request)) = request else { return };
                let Message::Text(line) = request else { continue };
                let of_request = Arc::clone(&hub);
                let answer = tokio::task::spawn_blocking(move || of_request.carry_out(&line)).await;
                let Ok(answer) = answer else { return };
                if say(&mut socket, &answer).await.is_none() {
                    return;
                }
            }
        }
    }
}

/// Sends what the viewer lacks. Returns whether the run has ended; `None` if the viewer is gone.
async fn catch_up(socket: &mut WebSocket, hub: &Hub, next: &mut u64) -> Option<bool> {
    loop {
        let (begin, messages, is_all) = hub.since(*next);
        if begin > *next && *next > 0 {
            say(socket, &json!({"kind": "gap", "count": begin - *next})).await?;
        }
        *next = begin + messages.len() as u64;
        let was_nothing = messages.is_empty();
        for message in messages {
            send(socket, message).await?;
        }
        if is_all || was_nothing {
            return Some(is_all);
        }
    }
}

async fn say(socket: &mut WebSocket, value: &Value) -> Option<()> {
    send(socket, Message::Text(value.to_string().into())).await
}

async fn send(socket: &mut WebSocket, message: Message) -> Option<()> {
    tokio::time::timeout(PATIENCE, socket.send(message)).await.ok()?.ok()
}
