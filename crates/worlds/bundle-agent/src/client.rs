//! A program's end of the socket.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

use wayhop_control::{Frames, SocketName, frame};
use wayhop_core::ProgramMessage;

use crate::messages::{Ask, DeliveryHeader, write};

/// How long an agent may take for an answer: a large payload goes to its disk first.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest payload that a client takes.
const LARGEST: u64 = 1 << 30;

/// Something that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The bundle's header.
    pub about: DeliveryHeader,
    /// What was sent.
    pub payload: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens there.
    #[error(
        "no bundle agent answers at {socket}: {source}; start one with `wayhop bundle agent`, or give its \
         socket with --socket"
    )]
    Unreachable {
        /// The socket.
        socket: String,
        /// What the system said.
        source: io::Error,
    },
    /// The connection broke.
    #[error("the bundle agent has stopped: {0}; see its log")]
    Broken(io::Error),
    /// Something else than an answer came.
    #[error("{0}; is it the socket of a bundle agent?")]
    Foreign(String),
    /// It refuses.
    #[error("{0}")]
    Refused(String),
}

/// A connection to an agent.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    frames: Frames,
    arrived: VecDeque<Delivery>,
    next_id: u64,
}

impl Client {
    /// Connects to the agent at this socket.
    pub fn connect(socket: &SocketName) -> Result<Self, ClientError> {
        let told = |source| ClientError::Unreachable { socket: socket.to_string(), source };
        let stream = socket.connect().map_err(told)?;
        Ok(Self { stream, frames: Frames::new(LARGEST), arrived: VecDeque::new(), next_id: 1 })
    }

    /// Asks, and waits for the answer. What arrives meanwhile waits for [`Client::delivery`].
    pub fn ask<T: DeserializeOwned>(&mut self, ask: &Ask, payload: Vec<u8>) -> Result<T, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        let asked = frame(ProgramMessage { head: write(id, ask), data: payload });
        self.stream.write_all(&asked).map_err(ClientError::Broken)?;
        self.stream.set_read_timeout(Some(PATIENCE)).map_err(ClientError::Broken)?;
        loop {
            let Some(mut message) = self.message()? else {
                return Err(ClientError::Broken(io::ErrorKind::TimedOut.into()));
            };
            if let Some(error) = message.head.get("error") {
                let why = error.get("message").and_then(Value::as_str).unwrap_or("refused without a reason");
                return Err(ClientError::Refused(why.to_owned()));
            }
            if message.head.get("id").and_then(Value::as_u64) == Some(id) {
                let ok = message.head.remove("ok").unwrap_or_default();
                return serde_json::from_value(ok).map_err(|e| ClientError::Foreign(e.to_string()));
            }
            self.take(message)?;
        }
    }

    /// The next thing that arrives; `None` if nothing comes within `patience`.
    pub fn delivery(&mut self, patience: Option<Duration>) -> Result<Option<Delivery>, ClientError> {
        self.stream
            .set_read_timeout(patience.map(|p| p.max(Duration::from_millis(1))))
            .map_err(ClientError::Broken)?;
        loop {
            if let Some(delivery) = self.arrived.pop_front() {
                return Ok(Some(delivery));
            }
            match self.message()? {
                Some(message) => self.take(message)?,
                None => return Ok(None),
            }
        }
    }

    fn take(&mut self, mut message: ProgramMessage) -> Result<(), ClientError> {
        let Some(about) = message.head.remove("delivery") else { return Ok(()) };
        let about = serde_json::from_value(about).map_err(|e| ClientError::Foreign(e.to_string()))?;
        self.arrived.push_back(Delivery { about, payload: message.data });
        Ok(())
    }

    /// The next message; `None` if the time is over.
    fn message(&mut self) -> Result<Option<ProgramMessage>, ClientError> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            if let Some(message) =
                self.frames.next_frame().map_err(|e| ClientError::Foreign(e.to_string()))?
            {
                return Ok(Some(message));
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ClientError::Broken(io::ErrorKind::UnexpectedEof.into())),
                Ok(n) => self.frames.push(&buffer[..n]),
                Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Ok(None);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(ClientError::Broken(e)),
            }
        }
    }
}
