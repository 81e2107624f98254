//! The socket for programs.
//!
//! Memory is bounded: the number of programs, of each program's unanswered commands, and of all
//! bytes received but not yet parsed.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};

use nix::poll::{PollFd, PollFlags};
use serde_json::json;
use wayhop_control::{Frames, SocketName, frame, is_own};
use wayhop_core::{ProgramEffect, ProgramInput, ProgramMessage};

use crate::outbox::Outbox;

/// The most programs at a time.
const MAX_PROGRAMS: usize = 64;
/// Commands of one program that are not answered; it is not read from until one is.
const MAX_UNANSWERED: usize = 16;
/// Bytes of all programs on their way in.
const MAX_INCOMING: usize = 256 << 20;
/// Bytes that are read at a time.
const READ: usize = 64 << 10;
/// Reads from one program before others have their turn.
const BATCH: usize = 16;

/// Where programs find an application.
#[derive(Clone, Debug)]
pub struct ProgramSocket {
    /// The socket.
    pub name: SocketName,
    /// Whether any user of the host may use it; else this one and root.
    pub is_open: bool,
    /// The most bytes of a message's data.
    pub largest: u64,
}

/// The programs that are connected.
pub(crate) struct Programs {
    listener: UnixListener,
    socket: ProgramSocket,
    all: BTreeMap<u64, ConnectedProgram>,
    next: u64,
    buffer: Vec<u8>,
}

struct ConnectedProgram {
    stream: UnixStream,
    frames: Frames,
    outbox: Outbox,
    unanswered: usize,
    /// There may be whole commands that were not taken.
    has_more: bool,
    /// It said what cannot be read: the reason is written, and it is gone.
    is_refused: bool,
}

impl Programs {
    pub(crate) fn open(socket: &ProgramSocket) -> io::Result<Self> {
        let listener = socket.name.bind()?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, socket: socket.clone(), all: BTreeMap::new(), next: 0, buffer: vec![0; READ] })
    }

    /// To wait for.
    pub(crate) fn fds(&self) -> impl Iterator<Item = PollFd<'_>> {
        let programs = self.all.values().map(|p| {
            let reads = if p.takes_commands() { PollFlags::POLLIN } else { PollFlags::empty() };
            let writes = if p.outbox.is_empty() { PollFlags::empty() } else { PollFlags::POLLOUT };
            PollFd::new(p.stream.as_fd(), reads | writes)
        });
        std::iter::once(PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)).chain(programs)
    }

    /// Whether there are commands that came before and can be taken now.
    pub(crate) fn has_news(&self) -> bool {
        self.all.values().any(|p| p.has_more && p.takes_commands())
    }

    /// Gives a program what the application has for it.
    pub(crate) fn carry_out(&mut self, effect: ProgramEffect) {
        let (ProgramEffect::Answer { program, .. } | ProgramEffect::Tell { program, .. }) = effect;
        let Some(p) = self.all.get_mut(&program) else { return };
        match effect {
            ProgramEffect::Answer { message, .. } => {
                p.unanswered = p.unanswered.saturating_sub(1);
                p.outbox.push(frame(message));
            }
            ProgramEffect::Tell { message, .. } => p.outbox.push(frame(message)),
        }
    }

    /// Accepts, reads and writes as far as sockets let it, and returns what the application is to hear.
    pub(crate) fn serve(&mut self) -> Vec<ProgramInput> {
        self.accept();
        let mut news = Vec::new();
        let mut held: usize = self.all.values().map(|p| p.frames.held()).sum();
        let Self { all, buffer, .. } = self;
        all.retain(|number, p| {
            held -= p.frames.held();
            let was_refused = p.is_refused;
            let is_there = p.serve(*number, buffer, MAX_INCOMING.saturating_sub(held), &mut news);
            held += p.frames.held();
            if !was_refused && (p.is_refused || !is_there) {
                news.push(ProgramInput::Gone(*number));
            }
            is_there
        });
        news
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            if !self.socket.is_open && !is_own(&stream) {
                let why = "this socket belongs to another user; start your own application, or ask that \
                           user to open it to all";
                turn_away(&stream, why);
            } else if self.all.len() >= MAX_PROGRAMS {
                turn_away(&stream, "too many programs are connected; stop some of them");
            } else {
                let program = ConnectedProgram {
                    stream,
                    frames: Frames::new(self.socket.largest),
                    outbox: Outbox::default(),
                    unanswered: 0,
                    has_more: false,
                    is_refused: false,
                };
                self.all.insert(self.next, program);
                self.next += 1;
            }
        }
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        if let Some(path) = self.socket.name.path() {
            // It may be gone already.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// What is written to a program that cannot be served.
fn refusal(why: &str) -> Vec<u8> {
    let head = json!({ "id": null, "error": { "message": why } }).as_object().cloned().unwrap_or_default();
    frame(ProgramMessage { head, data: Vec::new() })
}

fn turn_away(mut stream: &UnixStream, why: &str) {
    // It may be gone.
    let _ = stream.write_all(&refusal(why));
}

impl ConnectedProgram {
    const fn takes_commands(&self) -> bool {
        !self.is_refused && self.unanswered < MAX_UNANSWERED
    }

    fn refuse(&mut self, why: &str) {
        self.outbox.push(refusal(why));
        self.is_refused = true;
    }

    /// Writes and reads; it may buffer `room` bytes. Returns whether it is still connected.
    fn serve(&mut self, number: u64, buffer: &mut [u8], room: usize, news: &mut Vec<ProgramInput>) -> bool {
        let is_there = self.read(number, buffer, room, news);
        is_there
            && self.outbox.flush(&mut self.stream).is_ok()
            && !(self.is_refused && self.outbox.is_empty())
    }

    fn read(&mut self, number: u64, buffer: &mut [u8], room: usize, news: &mut Vec<ProgramInput>) -> bool {
        for _ in 0..BATCH {
            self.take_commands(number, news);
            if !self.takes_commands() {
                return true;
            }
            match self.stream.read(buffer) {
                Ok(0) => return false,
                Ok(n) => self.frames.push(&buffer[..n]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return true,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
            if self.frames.held() > room {
                self.refuse("too many commands are waiting; try again later");
            }
        }
        self.take_commands(number, news);
        true
    }

    /// Takes the complete commands.
    fn take_commands(&mut self, program: u64, news: &mut Vec<ProgramInput>) {
        self.has_more = true;
        while self.takes_commands() {
            match self.frames.next_frame() {
                Ok(Some(message)) => {
                    self.unanswered += 1;
                    news.push(ProgramInput::Command { program, message });
                }
                Ok(None) => {
                    self.has_more = false;
                    return;
                }
                Err(e) => self.refuse(&e.to_string()),
            }
        }
    }
}
