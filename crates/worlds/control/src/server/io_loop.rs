//! The thread of the connections.

use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use super::answer_line::answer_line;
use super::connection::{ClientLine, Connection, ConnectionOutcome};
use super::events::Subscription;
use super::shared::ServerState;
use crate::about::About;
use crate::error::{ControlError, ErrorCode};
use crate::event_kind::EventKind;
use crate::limits::{MAX_CLIENTS, MAX_FED, MAX_REQUEST_BYTES};
use crate::messages::{Envelope, Request};

/// How often clients that do not read are looked for, seconds.
const LOOK_S: i64 = 1;

pub(super) fn run(listener: &UnixListener, wake: &UnixStream, shared: &ServerState, about: &About) {
    let mut loops = Loop { shared, about, connections: BTreeMap::new(), next_client: 0, heard: 0 };
    loop {
        let ready = loops.wait(listener, wake);
        if !loops.bring_answers(wake) {
            return;
        }
        loops.serve(&ready.clients);
        if ready.listener {
            loops.accept(listener);
        }
    }
}

/// What poll found.
#[derive(Default)]
struct SocketEvents {
    listener: bool,
    clients: BTreeMap<u64, PollFlags>,
}

struct Loop<'a> {
    shared: &'a ServerState,
    about: &'a About,
    connections: BTreeMap<u64, Connection>,
    next_client: u64,
    /// How often anybody was heard.
    heard: u64,
}

impl Loop<'_> {
    fn wait(&self, listener: &UnixListener, wake: &UnixStream) -> SocketEvents {
        let mut fds = vec![
            PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN),
        ];
        for c in self.connections.values() {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, c.wants_to_read());
            flags.set(PollFlags::OUT, c.wants_to_write());
            fds.push(PollFd::from_borrowed_fd(c.stream.as_fd(), flags));
        }
        let is_unsent = self.connections.values().any(Connection::wants_to_write);
        let timeout = Timespec { tv_sec: LOOK_S, tv_nsec: 0 };
        if poll(&mut fds, is_unsent.then_some(&timeout)).is_err() {
            // Interrupted, or short of memory: look again at everything.
            return SocketEvents::default();
        }
        SocketEvents {
            listener: !fds[1].revents().is_empty(),
            clients: self.connections.keys().copied().zip(fds[2..].iter().map(PollFd::revents)).collect(),
        }
    }

    /// Takes the owner's answers; false when the server ends.
    fn bring_answers(&mut self, wake: &UnixStream) -> bool {
        let (answers, stopping) = {
            let mut state = self.shared.awake(wake);
            (std::mem::take(&mut state.answers), state.stopping)
        };
        for (client, line) in answers {
            // The client may have gone.
            if let Some(c) = self.connections.get_mut(&client) {
                c.pending -= 1;
                c.wants_stream &= c.pending > 0;
                if c.is_stream {
                    // What was asked before the stream and answered after its beginning would stand in its middle.
                    continue;
                }
                c.send(&line);
                if self.shared.with_stream(client, |_| ()).is_some() {
                    self.shared.unsubscribe(client);
                    c.is_subscriber = false;
                    c.begin_stream();
                }
            }
        }
        if stopping {
            // The answer to `quit` shall arrive, and what a stream has, as far as the socket takes it.
            for (&client, c) in &mut self.connections {
                feed(self.shared, client, c);
            }
        }
        !stopping
    }

    fn accept(&mut self, listener: &UnixListener) {
        // So few in a turn that each has its turn before others take its place. Errors are of the connection that gave up waiting,
        // or pass: too many open files.
        for (stream, _) in (MAX_FED..MAX_CLIENTS).map_while(|_| listener.accept().ok()) {
            if self.connections.len() >= MAX_CLIENTS {
                self.evict();
            }
            self.heard += 1;
            let Ok(connection) = Connection::new(stream, self.heard) else { continue };
            self.connections.insert(self.next_client, connection);
            self.next_client += 1;
        }
    }

    /// Ends the connection of the client that has been idle for the longest time: there is always one, since not all can be fed. One
    /// that waits for an answer is the last to go.
    fn evict(&mut self) {
        let idle = self.connections.iter().filter(|(_, c)| !c.is_fed());
        let Some(client) = idle.min_by_key(|(_, c)| (c.pending > 0, c.heard)).map(|(&client, _)| client)
        else {
            return;
        };
        if let Some(mut c) = self.connections.remove(&client) {
            let e = ControlError::new(
                ErrorCode::Busy,
                format!("disconnected: {MAX_CLIENTS} clients are connected, and a new one needs the place"),
                "connect again",
            );
            c.send(&answer_line(None, Err(e)));
            c.write();
        }
    }

    fn serve(&mut self, ready: &BTreeMap<u64, PollFlags>) {
        let now = Instant::now();
        let mut gone = Vec::new();
        let mut fed = self.connections.values().filter(|c| c.is_fed()).count();
        for (&client, c) in &mut self.connections {
            let flags = ready.get(&client).copied().unwrap_or(PollFlags::empty());
            let is_broken = flags.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL);
            let mut outcome = ConnectionOutcome::Open;
            if flags.contains(PollFlags::IN) && c.wants_to_read() {
                outcome = c.read();
            } else if is_broken {
                // Nobody is at the other end, and nothing more is to be read.
                outcome = ConnectionOutcome::Gone;
            }
            while outcome == ConnectionOutcome::Open
                && let Some(line) = c.line()
            {
                self.heard += 1;
                c.heard = self.heard;
                let was_fed = c.is_fed();
                obey(self.shared, self.about, client, c, line, fed >= MAX_FED);
                fed = fed + usize::from(c.is_fed()) - usize::from(was_fed);
            }
            if outcome == ConnectionOutcome::Open {
                outcome = feed(self.shared, client, c);
            }
            if outcome == ConnectionOutcome::Gone || c.outcome(now) == ConnectionOutcome::Gone {
                gone.push(client);
            }
        }
        for client in gone {
            self.connections.remove(&client);
            self.shared.unsubscribe(client);
            self.shared.forget_stream(client);
        }
    }
}

/// Writes what waits for a client, as far as its socket takes it.
fn feed(shared: &ServerState, client: u64, c: &mut Connection) -> ConnectionOutcome {
    loop {
        if c.is_subscriber {
            shared.with_subscription(client, |s| c.send_events(s));
        }
        if c.is_stream {
            shared.with_stream(client, |s| c.send_stream(s));
        }
        if !c.wants_to_write() {
            return ConnectionOutcome::Open;
        }
        let outcome = c.write();
        // What the socket does not take now waits for poll to tell that it does.
        if outcome == ConnectionOutcome::Gone || c.wants_to_write() {
            return outcome;
        }
    }
}

/// Does what a line asks for, or hands it to the owner.
fn obey(
    shared: &ServerState,
    about: &About,
    client: u64,
    c: &mut Connection,
    line: ClientLine,
    is_full: bool,
) {
    let text = match line {
        ClientLine::Text(text) if text.trim().is_empty() => return,
        ClientLine::Text(text) => text,
        ClientLine::NotText => {
            let what = "the line is not UTF-8";
            let e = ControlError::new(ErrorCode::BadRequest, what, "send one JSON object per line");
            return c.send(&answer_line(None, Err(e)));
        }
        ClientLine::TooLong => {
            let most = MAX_REQUEST_BYTES;
            let what = format!("the line is longer than {most} bytes");
            let remedy = "send one object per line, each with a line feed";
            let e = ControlError::new(ErrorCode::BadRequest, what, remedy);
            c.send(&answer_line(None, Err(e)));
            return c.close_after_sending();
        }
    };
    let (id, outcome) = match Envelope::parse(&text) {
        Err((id, e)) => (id, Err(e)),
        Ok(envelope) => (envelope.id, carry_out(shared, about, client, c, envelope, is_full)),
    };
    match outcome {
        Ok(None) => {}
        Ok(Some(value)) => c.send(&answer_line(id, Ok(value))),
        Err(e) => c.send(&answer_line(id, Err(e))),
    }
}

/// The answer, or none if the owner will give it. If it `is_full`, no more clients are fed.
fn carry_out(
    shared: &ServerState,
    about: &About,
    client: u64,
    c: &mut Connection,
    envelope: Envelope,
    is_full: bool,
) -> Result<Option<Value>, ControlError> {
    let feeds = matches!(envelope.request, Request::Subscribe { .. } | Request::Capture { .. });
    if feeds && is_full && !c.is_fed() {
        let what = format!("{MAX_FED} clients are already following events or captures");
        return Err(ControlError::new(ErrorCode::Busy, what, "stop one of them"));
    }
    let node = envelope.node.map(|n| about.resolve(&n)).transpose()?;
    match envelope.request {
        Request::Hello {} => Ok(Some(serde_json::to_value(shared.now(about)).unwrap_or_default())),
        Request::Subscribe { events } => {
            shared.subscribe(client, Subscription::new(envelope.id, node, &events));
            c.is_subscriber = true;
            let told = if events.is_empty() { EventKind::ALL.to_vec() } else { events };
            let names: Vec<&str> = told.into_iter().map(EventKind::name).collect();
            Ok(Some(serde_json::json!({ "events": names })))
        }
        Request::Unsubscribe {} => {
            shared.unsubscribe(client);
            c.is_subscriber = false;
            Ok(Some(Value::Null))
        }
        request => {
            c.wants_stream |= feeds;
            c.pending += 1;
            shared.put_call((client, envelope.id, node, request));
            Ok(None)
        }
    }
}
