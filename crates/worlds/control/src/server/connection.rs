//! One client's connection: lines in, lines out, both bounded.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::events::Subscription;
use super::stream_buffer::StreamBuffer;
use crate::is_for_later;
use crate::limits::{MAX_PENDING, MAX_REQUEST_BYTES};

/// How much may wait to be read by the client before it is not listened to any more, octets.
const MAX_UNREAD: usize = 256 * 1024;
/// How long a client may leave answers unread before it is cut off.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much is read at a time.
const CHUNK: usize = 16 * 1024;

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: UnixStream,
    input: Vec<u8>,
    /// How much of `input` is known to have no end of line.
    searched: usize,
    out: VecDeque<u8>,
    /// Requests that the owner has not answered.
    pub(super) pending: usize,
    /// When it last asked for something, or came: a count of such moments.
    pub(super) heard: u64,
    pub(super) is_subscriber: bool,
    /// It asked for a stream that has not begun.
    pub(super) wants_stream: bool,
    /// No more lines, either way: a stream goes out.
    pub(super) is_stream: bool,
    /// The client sends nothing more.
    ended: bool,
    /// It is closed as soon as `out` is sent.
    closing: bool,
    progress: Instant,
}

/// What became of a connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum ConnectionOutcome {
    Open,
    Gone,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ClientLine {
    Text(String),
    /// Longer than allowed: nothing more is read.
    TooLong,
    /// Not UTF-8.
    NotText,
}

impl Connection {
    pub(super) fn new(stream: UnixStream, heard: u64) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            input: Vec::new(),
            searched: 0,
            out: VecDeque::new(),
            pending: 0,
            heard,
            is_subscriber: false,
            wants_stream: false,
            is_stream: false,
            ended: false,
            closing: false,
            progress: Instant::now(),
        })
    }

    /// Whether it is told more than it asks: silence of such a client does not mean that it has gone idle.
    pub(super) fn is_fed(&self) -> bool {
        self.is_subscriber || self.is_stream || self.wants_stream
    }

    pub(super) fn wants_to_read(&self) -> bool {
        let has_room = self.takes_requests() && self.input.len() <= MAX_REQUEST_BYTES;
        !self.ended && !self.closing && (has_room || self.is_stream)
    }
    pub(super) fn wants_to_write(&self) -> bool {
        !self.out.is_empty()
    }
    fn takes_requests(&self) -> bool {
        self.pending < MAX_PENDING && self.out.len() < MAX_UNREAD
    }

    /// Reads what is there, at most one chunk.
    pub(super) fn read(&mut self) -> ConnectionOutcome {
        let mut chunk = [0; CHUNK];
        match self.stream.read(&mut chunk) {
            Ok(0) => self.ended = true,
            Ok(_) if self.is_stream => {}
            Ok(n) => self.input.extend_from_slice(&chunk[..n]),
            Err(e) if is_for_later(&e) => {}
            Err(_) => return ConnectionOutcome::Gone,
        }
        ConnectionOutcome::Open
    }

    /// The next line that the client sent, if it may send one now.
    pub(super) fn line(&mut self) -> Option<ClientLine> {
        if self.closing || self.is_stream || !self.takes_requests() {
            return None;
        }
        let Some(end) = self.input[self.searched..].iter().position(|b| *b == b'\n') else {
            self.searched = self.input.len();
            return (self.searched > MAX_REQUEST_BYTES).then(|| self.refuse());
        };
        let end = self.searched + end;
        if end > MAX_REQUEST_BYTES {
            return Some(self.refuse());
        }
        let line: Vec<u8> = self.input.drain(..=end).take(end).collect();
        self.searched = 0;
        Some(String::from_utf8(line).map_or(ClientLine::NotText, ClientLine::Text))
    }

    fn refuse(&mut self) -> ClientLine {
        self.input = Vec::new();
        self.searched = 0;
        ClientLine::TooLong
    }

    /// Puts a line into the way out.
    pub(super) fn send(&mut self, line: &[u8]) {
        if self.out.is_empty() {
            self.progress = Instant::now();
        }
        self.out.extend(line);
    }

    /// Takes events into the way out, as many as are worth one write: the others wait in their own bounded queue.
    pub(super) fn send_events(&mut self, waiting: &mut Subscription) {
        if self.out.is_empty() {
            self.progress = Instant::now();
        }
        waiting.write(&mut self.out, CHUNK);
    }

    /// From now on a stream goes out, and what comes in is forgotten.
    pub(super) fn begin_stream(&mut self) {
        self.is_stream = true;
        self.input = Vec::new();
    }

    /// Takes octets of a stream into the way out, as many as are worth one write.
    pub(super) fn send_stream(&mut self, waiting: &mut StreamBuffer) {
        waiting.write(&mut self.out, CHUNK);
        self.closing = waiting.ended && waiting.is_empty();
    }

    /// Sends what is there and closes.
    pub(super) fn close_after_sending(&mut self) {
        self.closing = true;
    }

    /// Writes what the socket takes.
    pub(super) fn write(&mut self) -> ConnectionOutcome {
        while !self.out.is_empty() {
            let (front, _) = self.out.as_slices();
            match self.stream.write(front) {
                Ok(0) => return ConnectionOutcome::Gone,
                Ok(n) => {
                    self.out.drain(..n);
                    self.progress = Instant::now();
                }
                Err(e) if is_for_later(&e) => return ConnectionOutcome::Open,
                Err(_) => return ConnectionOutcome::Gone,
            }
        }
        if self.out.capacity() > MAX_UNREAD {
            self.out = VecDeque::new();
        }
        ConnectionOutcome::Open
    }

    /// Whether there is no more to do, or no hope.
    pub(super) fn outcome(&self, now: Instant) -> ConnectionOutcome {
        let is_fed = self.is_fed();
        let is_stuck = !self.out.is_empty() && !is_fed && now.duration_since(self.progress) > PATIENCE;
        let is_done = self.out.is_empty()
            && (self.closing || (self.ended && self.pending == 0 && !is_fed && self.has_no_line()));
        if is_stuck || is_done { ConnectionOutcome::Gone } else { ConnectionOutcome::Open }
    }

    fn has_no_line(&self) -> bool {
        !self.input.contains(&b'\n')
    }
}
