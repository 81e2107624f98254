//! The thread of the connections.

use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use super::answer_line::answer_line;
use super::connection::{Connection, Line, Outcome};
use super::events::Subscription;
use super::shared::Shared;
use crate::about::About;
use crate::error::{ControlError, ErrorCode};
use crate::event_kind::EventKind;
use crate::limits::{MAX_CLIENTS, MAX_REQUEST_BYTES};
use crate::messages::{Envelope, Request};

/// How often clients that do not read are looked for, seconds.
const LOOK_S: i64 = 1;

pub(super) fn run(listener: &UnixListener, wake: &UnixStream, shared: &Shared, about: &About) {
    let mut loops = Loop { shared, about, connections: BTreeMap::new(), next_client: 0 };
    loop {
        let ready = loops.wait(listener, wake);
        if !loops.bring_answers(wake) {
            return;
        }
        if ready.listener {
            loops.accept(listener);
        }
        loops.serve(&ready.clients);
    }
}

/// What poll found.
#[derive(Default)]
struct Ready {
    listener: bool,
    clients: BTreeMap<u64, PollFlags>,
}

struct Loop<'a> {
    shared: &'a Shared,
    about: &'a About,
    connections: BTreeMap<u64, Connection>,
    next_client: u64,
}

impl Loop<'_> {
    fn wait(&self, listener: &UnixListener, wake: &UnixStream) -> Ready {
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
            return Ready::default();
        }
        Ready {
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
        // Errors are of the connection that gave up waiting, or pass: too many open files.
        while let Ok((stream, _)) = listener.accept() {
            let Ok(mut connection) = Connection::new(stream) else { continue };
            if self.connections.len() >= MAX_CLIENTS {
                let e = ControlError::new(
                    ErrorCode::Busy,
                    format!("{MAX_CLIENTS} clients are connected already"),
                    "end one of them",
                );
                connection.send(&answer_line(None, Err(e)));
                connection.write();
                continue;
            }
            self.connections.insert(self.next_client, connection);
            self.next_client += 1;
        }
        self.shared.set_clients(self.connections.len());
    }

    fn serve(&mut self, ready: &BTreeMap<u64, PollFlags>) {
        let now = Instant::now();
        let mut gone = Vec::new();
        for (&client, c) in &mut self.connections {
            let flags = ready.get(&client).copied().unwrap_or(PollFlags::empty());
            let is_broken = flags.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL);
            let mut outcome = Outcome::Open;
            if flags.contains(PollFlags::IN) && c.wants_to_read() {
                outcome = c.read();
            } else if is_broken {
                // Nobody is at the other end, and nothing more is to be read.
                outcome = Outcome::Gone;
            }
            while outcome == Outcome::Open
                && let Some(line) = c.line()
            {
                obey(self.shared, self.about, client, c, line);
            }
            if outcome == Outcome::Open {
                outcome = feed(self.shared, client, c);
            }
            if outcome == Outcome::Gone || c.outcome(now) == Outcome::Gone {
                gone.push(client);
            }
        }
        for client in gone {
            self.connections.remove(&client);
            self.shared.unsubscribe(client);
            self.shared.forget_stream(client);
            self.shared.set_clients(self.connections.len());
        }
    }
}

/// Writes what waits for a client, as far as its socket takes it.
fn feed(shared: &Shared, client: u64, c: &mut Connection) -> Outcome {
    loop {
        if c.is_subscriber {
            shared.with_subscription(client, |s| c.send_events(s));
        }
        if c.is_stream {
            shared.with_stream(client, |s| c.send_stream(s));
        }
        if !c.wants_to_write() {
            return Outcome::Open;
        }
        let outcome = c.write();
        // What the socket does not take now waits for poll to tell that it does.
        if outcome == Outcome::Gone || c.wants_to_write() {
            return outcome;
        }
    }
}

/// Does what a line asks for, or hands it to the owner.
fn obey(shared: &Shared, about: &About, client: u64, c: &mut Connection, line: Line) {
    let text = match line {
        Line::Text(text) if text.trim().is_empty() => return,
        Line::Text(text) => text,
        Line::NotText => {
            let e = ControlError::new(
                ErrorCode::BadRequest,
                "the line is not UTF-8",
                "send JSON, one object a line",
            );
            return c.send(&answer_line(None, Err(e)));
        }
        Line::TooLong => {
            let most = MAX_REQUEST_BYTES;
            let e = ControlError::new(
                ErrorCode::BadRequest,
                format!("the line is longer than {most} octets"),
                "send one object a line, each with its end of line",
            );
            c.send(&answer_line(None, Err(e)));
            return c.close_after_sending();
        }
    };
    let (id, outcome) = match Envelope::parse(&text) {
        Err((id, e)) => (id, Err(e)),
        Ok(envelope) => (envelope.id, carry_out(shared, about, client, c, envelope)),
    };
    match outcome {
        Ok(None) => {}
        Ok(Some(value)) => c.send(&answer_line(id, Ok(value))),
        Err(e) => c.send(&answer_line(id, Err(e))),
    }
}

/// The answer, or none if the owner will give it.
fn carry_out(
    shared: &Shared,
    about: &About,
    client: u64,
    c: &mut Connection,
    envelope: Envelope,
) -> Result<Option<Value>, ControlError> {
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
            c.pending += 1;
            shared.put_call((client, envelope.id, node, request));
            Ok(None)
        }
    }
}
