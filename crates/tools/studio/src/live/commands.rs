//! The requests of a viewer to a run in progress, in the protocol of the control socket.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use wayhop_control::{Client, ClientError, Envelope, Request};

/// The connection for viewers' requests, reopened after a failure.
#[derive(Default)]
pub(crate) struct Commands {
    client: Mutex<Option<Client>>,
}

impl Commands {
    /// Carries out a request, a line of the control socket's. The answer is for the viewer who asked. Blocks, for 10 s at most.
    pub(crate) fn carry_out(&self, socket: &Path, line: &str) -> Value {
        let (id, outcome) = match Envelope::parse(line) {
            Err((id, e)) => (id, Err(e.to_string())),
            Ok(Envelope { id, node, request }) if is_for_viewers(&request) => {
                (id, self.ask(socket, |c| c.ask(node.clone(), request.clone())))
            }
            Ok(Envelope { id, .. }) => {
                (id, Err("the studio does not support this request; use wayhop ctl".to_owned()))
            }
        };
        match outcome {
            Ok(value) => json!({"kind": "answer", "id": id, "ok": value}),
            Err(why) => json!({"kind": "answer", "id": id, "error": why}),
        }
    }

    fn ask(
        &self,
        socket: &Path,
        question: impl Fn(&mut Client) -> Result<Value, ClientError>,
    ) -> Result<Value, String> {
        let mut held = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = Some(Client::connect(socket).map_err(|e| e.to_string())?);
        }
        let answer = held.as_mut().map_or_else(|| unreachable!("made above"), &question);
        if !matches!(answer, Ok(_) | Err(ClientError::Refused(_))) {
            *held = None;
        }
        answer.map_err(|e| e.to_string())
    }
}

/// To look and to move, to break and to mend; not to end the run, to change parameters or to capture frames.
const fn is_for_viewers(request: &Request) -> bool {
    matches!(
        request,
        Request::Tables { .. }
            | Request::Counters {}
            | Request::Position {}
            | Request::SetPosition { .. }
            | Request::ReleasePosition {}
            | Request::Links {}
            | Request::SetLink { .. }
            | Request::Down { .. }
            | Request::Up {}
    )
}
