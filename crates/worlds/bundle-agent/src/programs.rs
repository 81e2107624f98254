//! The programs' end: connections to the socket, each with a task that reads and one that writes.
//!
//! Memory stays bounded: so many programs, so many requests of each that are not answered, so many octets of all that are on their
//! way in. What waits to be delivered is in the store, and bounded with it.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, channel, unbounded_channel};

use crate::event::Event;
use crate::frames::{Frame, Frames};
use crate::messages::{Refusal, refusal};
use crate::waiting::{Item, Reservation};

/// The most programs at a time.
const MAX_PROGRAMS: usize = 64;
/// Requests of one program that are not answered; it is not read from until one is.
const MAX_PENDING: usize = 16;
/// Octets that are read at a time.
const READ: usize = 64 << 10;

/// Takes programs in. `is_open`: of any user; otherwise of the agent's own and root.
pub(crate) async fn accept(listener: UnixListener, largest: u64, is_open: bool, events: Sender<Event>) {
    let (incoming, places) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(MAX_PROGRAMS)));
    let me = nix::unistd::geteuid().as_raw();
    for number in 0.. {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors: others will go.
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            continue;
        };
        let is_ours = stream.peer_cred().is_ok_and(|c| c.uid() == me || c.uid() == 0);
        if !is_open && !is_ours {
            tokio::spawn(turn_away(
                stream,
                "this agent is another user's; ask for an agent of your own, or for users = \"all\" in its configuration",
            ));
            continue;
        }
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            tokio::spawn(turn_away(stream, "too many programs are connected; end some of them"));
            continue;
        };
        let (events, incoming) = (events.clone(), Arc::clone(&incoming));
        tokio::spawn(async move {
            serve(number, stream, largest, &incoming, events).await;
            drop(place);
        });
    }
}

async fn turn_away(mut stream: UnixStream, why: &str) {
    let head = refusal(&Refusal { id: None, message: why.to_owned() });
    let line = Frame { head, octets: Vec::new() }.encode();
    // It may be gone.
    let _ = stream.write_all(&line).await;
}

async fn serve(
    number: u64,
    stream: UnixStream,
    largest: u64,
    incoming: &Arc<AtomicUsize>,
    events: Sender<Event>,
) {
    let (reader, writer) = stream.into_split();
    let (outbox, items) = unbounded_channel();
    let (broken, is_broken) = channel(1);
    let writing = tokio::spawn(write(writer, items, broken));
    if events.send(Event::Program(number, outbox)).await.is_ok() {
        let last = read(number, reader, largest, incoming, &events, is_broken).await;
        // The agent lets the outbox go, and what is in it is written.
        let _ = events.send(last).await;
    }
    let _ = writing.await;
}

async fn write(mut writer: OwnedWriteHalf, mut items: UnboundedReceiver<Item>, _broken: Sender<()>) {
    while let Some((octets, _permit)) = items.recv().await {
        if writer.write_all(&octets).await.is_err() {
            return;
        }
    }
}

/// Reads until the program is gone.
async fn read(
    number: u64,
    mut reader: OwnedReadHalf,
    largest: u64,
    incoming: &Arc<AtomicUsize>,
    events: &Sender<Event>,
    mut is_broken: Receiver<()>,
) -> Event {
    let pending = Arc::new(Semaphore::new(MAX_PENDING));
    let mut frames = Frames::new(largest);
    let mut held = Reservation::new(incoming);
    let mut buffer = vec![0; READ];
    loop {
        let got = tokio::select! {
            got = reader.read(&mut buffer) => got,
            // Nobody writes any more: it does not read, and need not be read from.
            _ = is_broken.recv() => return Event::Gone(number),
        };
        match got {
            Ok(0) | Err(_) => return Event::Gone(number),
            Ok(n) => frames.push(&buffer[..n]),
        }
        if !held.set(frames.held()) {
            let why = "too much is on its way from programs; send it again later".to_owned();
            return Event::Unreadable(number, why);
        }
        loop {
            let frame = match frames.next_frame() {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(e) => return Event::Unreadable(number, e.to_string()),
            };
            let Ok(permit) = Arc::clone(&pending).acquire_owned().await else { return Event::Gone(number) };
            // Its octets count until the agent has taken them.
            let mut own = Reservation::new(incoming);
            own.set(frame.octets.len());
            held.set(frames.held());
            if events.send(Event::Asked(number, frame, permit, own)).await.is_err() {
                return Event::Gone(number);
            }
        }
    }
}
