//! The client's end of the control socket.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::answer::Capture;
use crate::error::ControlError;
use crate::event::Event;
use crate::event_kind::EventKind;
use crate::messages::{Envelope, NodeRef, Request};

/// How long a node may take for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest line that is read, octets: an answer and its frame.
const LONGEST_LINE: u64 = 2 * crate::limits::MAX_ANSWER_BYTES as u64;

/// A connection to a running node or emulation. Calls block, for 10 seconds at most.
#[derive(Debug)]
pub struct Client {
    path: PathBuf,
    stream: UnixStream,
    reader: BufReader<UnixStream>,
    next_id: u64,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens there.
    #[error("no answer at {}: {source}; `wayhop ctl list` shows the running nodes and runs", path.display())]
    Unreachable {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The connection broke, or took too long.
    #[error("no answer from {}: {source}; check whether it is still running: `wayhop ctl list`", path.display())]
    Broken {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something else than an answer came.
    #[error("{} is not a Wayhop control socket: {what}", path.display())]
    Foreign {
        /// The socket.
        path: PathBuf,
        /// What came.
        what: String,
    },
    /// The node refuses.
    #[error("{0}")]
    Refused(ControlError),
}

#[derive(Deserialize)]
struct ServerMessage {
    #[serde(default)]
    id: Option<u64>,
    #[serde(default, deserialize_with = "present")]
    ok: Option<Value>,
    #[serde(default)]
    error: Option<ControlError>,
    #[serde(default)]
    event: Option<Value>,
}

/// A null that is there.
fn present<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(d).map(Some)
}

impl Client {
    /// Connects to the socket at `path`.
    pub fn connect(path: &Path) -> Result<Self, ClientError> {
        let connect = || {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Ok((stream.try_clone()?, stream))
        };
        let (stream, reader) =
            connect().map_err(|source| ClientError::Unreachable { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), stream, reader: BufReader::new(reader), next_id: 1 })
    }

    /// Asks, and waits for the answer. Events that come in between are left out.
    pub fn ask(&mut self, node: Option<NodeRef>, request: Request) -> Result<Value, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        let mut line = Envelope { id: Some(id), node, request }.to_line();
        line.push('\n');
        self.stream.write_all(line.as_bytes()).map_err(|e| self.broken(e))?;
        loop {
            let incoming = self.incoming()?;
            if incoming.event.is_some() {
                continue;
            }
            if let Some(e) = incoming.error {
                return Err(ClientError::Refused(e));
            }
            if incoming.id == Some(id)
                && let Some(value) = incoming.ok
            {
                return Ok(value);
            }
        }
    }

    /// As [`Client::ask`], with an answer of a known type.
    pub fn ask_for<T: for<'de> Deserialize<'de>>(
        &mut self,
        node: Option<NodeRef>,
        request: Request,
    ) -> Result<T, ClientError> {
        let value = self.ask(node, request)?;
        serde_json::from_value(value).map_err(|e| self.foreign(e.to_string()))
    }

    /// Asks for events; then [`Client::event`] gives them.
    pub fn subscribe(&mut self, node: Option<NodeRef>, events: Vec<EventKind>) -> Result<(), ClientError> {
        self.ask(node, Request::Subscribe { events })?;
        Ok(())
    }

    /// Captures the frames of a node, or of its interface of this name: a pcapng stream, which ends when the node does. A lab
    /// names the node's own daemon, which is asked then.
    pub fn capture(
        mut self,
        node: Option<NodeRef>,
        interface: Option<String>,
        snap_length_bytes: Option<u32>,
    ) -> Result<BufReader<UnixStream>, ClientError> {
        let request = Request::Capture { interface, snap_length_bytes };
        let mut answer: Capture = self.ask_for(node, request.clone())?;
        if let Some(daemon) = answer.socket {
            self = Self::connect(&daemon)?;
            answer = self.ask_for(None, request)?;
        }
        if answer.stream.as_deref() != Some("pcapng") {
            return Err(self.foreign("an answer to `capture` without a pcapng stream".to_owned()));
        }
        self.stream.set_read_timeout(None).map_err(|e| self.broken(e))?;
        Ok(self.reader)
    }

    /// The next event; waits for as long as it takes. None when the node has ended.
    pub fn event(&mut self) -> Result<Option<Event>, ClientError> {
        self.reader.get_ref().set_read_timeout(None).map_err(|e| self.broken(e))?;
        // Killed with requests unread, it ends by a reset.
        let is_end =
            |e: &io::Error| matches!(e.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset);
        let event = loop {
            match self.incoming() {
                Err(ClientError::Broken { source, .. }) if is_end(&source) => return Ok(None),
                Err(e) => return Err(e),
                Ok(ServerMessage { event: Some(event), .. }) => break event,
                Ok(_) => {}
            }
        };
        self.reader.get_ref().set_read_timeout(Some(PATIENCE)).map_err(|e| self.broken(e))?;
        serde_json::from_value(event).map(Some).map_err(|e| self.foreign(e.to_string()))
    }

    fn incoming(&mut self) -> Result<ServerMessage, ClientError> {
        let mut line = Vec::new();
        let read = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut line);
        read.map_err(|e| self.broken(e))?;
        if line.last() != Some(&b'\n') {
            return Err(if line.len() as u64 == LONGEST_LINE {
                self.foreign("a line that is too long".to_owned())
            } else {
                self.broken(io::ErrorKind::UnexpectedEof.into())
            });
        }
        // A list would do for the fields in their order, too.
        if line.first() != Some(&b'{') {
            return Err(self.foreign("a line that is not a JSON object".to_owned()));
        }
        serde_json::from_slice(&line).map_err(|e| self.foreign(e.to_string()))
    }

    fn broken(&self, source: io::Error) -> ClientError {
        ClientError::Broken { path: self.path.clone(), source }
    }
    fn foreign(&self, what: String) -> ClientError {
        ClientError::Foreign { path: self.path.clone(), what }
    }
}
