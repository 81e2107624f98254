//! The TCP connections of an application.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};
use socket2::{Domain, Protocol, Socket, Type};
use wayhop_core::{STREAM_ROOM, StreamEffect, StreamEnd, StreamId, StreamInput};

use crate::outbox::Outbox;

/// Bytes that are read at a time.
const READ: usize = 64 << 10;
/// Reads from one stream before others have their turn.
const BATCH: usize = 4;
/// How long the other end may take to answer a call, or to take what was written before a stream was closed.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most streams that others have opened.
const MAX_ACCEPTED: usize = 256;
/// Streams that wait for being accepted.
const BACKLOG: i32 = 128;

/// The streams, and the ports at which the application takes them.
pub(crate) struct Streams {
    at: IpAddr,
    listeners: BTreeMap<u16, TcpListener>,
    all: BTreeMap<StreamId, HostStream>,
    /// The number of the next one that comes.
    next: u64,
    /// Calls that failed at once.
    failed: Vec<StreamId>,
    buffer: Vec<u8>,
}

struct HostStream {
    socket: TcpStream,
    state: HostStreamState,
    outbox: Outbox,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum HostStreamState {
    /// The other end was called, until then.
    Called(SocketAddr, Instant),
    Open,
    /// The application is done with it; what it had written leaves, until then.
    Closing(Instant),
}

impl Streams {
    pub(crate) fn new(at: IpAddr) -> Self {
        Self {
            at,
            listeners: BTreeMap::new(),
            all: BTreeMap::new(),
            next: 1,
            failed: Vec::new(),
            buffer: vec![0; READ],
        }
    }

    /// Does what the application asks for. An error is about a port.
    pub(crate) fn carry_out(&mut self, effect: StreamEffect) -> io::Result<()> {
        match effect {
            StreamEffect::Listen(port) => return self.listen(port),
            StreamEffect::Connect { stream, to } => match call(to) {
                Ok(socket) => {
                    let state = HostStreamState::Called(to, Instant::now() + PATIENCE);
                    self.all.insert(stream, HostStream { socket, state, outbox: Outbox::default() });
                }
                Err(_) => self.failed.push(stream),
            },
            StreamEffect::Write { stream, data } => {
                if let Some(open) = self.all.get_mut(&stream) {
                    open.outbox.push(data);
                }
            }
            // No flow of a simulation runs here.
            StreamEffect::WritePattern { .. } => {}
            StreamEffect::Close(stream) => {
                if let Some(open) = self.all.get_mut(&stream) {
                    open.state = HostStreamState::Closing(Instant::now() + PATIENCE);
                }
            }
        }
        Ok(())
    }

    fn listen(&mut self, port: u16) -> io::Result<()> {
        if self.listeners.contains_key(&port) {
            return Ok(());
        }
        let at = SocketAddr::new(self.at, port);
        let socket = Socket::new(Domain::for_address(at), Type::STREAM, Some(Protocol::TCP))?;
        // Connections of an earlier life do not keep the port.
        socket.set_reuse_address(true)?;
        if at.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.set_nonblocking(true)?;
        socket.bind(&at.into())?;
        socket.listen(BACKLOG)?;
        self.listeners.insert(port, socket.into());
        Ok(())
    }

    /// To wait for.
    pub(crate) fn fds(&self) -> impl Iterator<Item = PollFd<'_>> {
        let has_place = self.has_place();
        let listeners = self.listeners.values().filter(move |_| has_place);
        let streams = self.all.values().map(|s| {
            let reads = if s.state == HostStreamState::Open { PollFlags::POLLIN } else { PollFlags::empty() };
            let is_called = matches!(s.state, HostStreamState::Called(..));
            let writes =
                if is_called || !s.outbox.is_empty() { PollFlags::POLLOUT } else { PollFlags::empty() };
            PollFd::new(s.socket.as_fd(), reads | writes)
        });
        listeners.map(|l| PollFd::new(l.as_fd(), PollFlags::POLLIN)).chain(streams)
    }

    /// Whether something is to be told at once.
    pub(crate) fn has_news(&self) -> bool {
        let is_done = |s: &HostStream| matches!(s.state, HostStreamState::Closing(_)) && s.outbox.is_empty();
        !self.failed.is_empty() || self.all.values().any(is_done)
    }

    /// Whether something is to be written that could leave.
    pub(crate) fn is_writing(&self) -> bool {
        self.all.values().any(|s| !s.outbox.is_empty() && !matches!(s.state, HostStreamState::Called(..)))
    }

    fn has_place(&self) -> bool {
        self.all.keys().filter(|id| matches!(id, StreamId::Accepted(_))).count() < MAX_ACCEPTED
    }

    /// Reads, writes, accepts and closes as far as sockets let it, and returns what the application is to hear.
    pub(crate) fn serve(&mut self) -> Vec<StreamInput<'static>> {
        let cause = StreamEnd::Unreachable;
        let mut news: Vec<_> =
            self.failed.drain(..).map(|stream| StreamInput::Closed { stream, cause }).collect();
        self.accept(&mut news);
        let Self { all, buffer, .. } = self;
        all.retain(|id, stream| {
            let end = stream.serve(*id, buffer, &mut news);
            let is_told = !matches!(stream.state, HostStreamState::Closing(_));
            news.extend(end.filter(|_| is_told).map(|cause| StreamInput::Closed { stream: *id, cause }));
            end.is_none()
        });
        news
    }

    fn accept(&mut self, news: &mut Vec<StreamInput<'static>>) {
        let ports: Vec<u16> = self.listeners.keys().copied().collect();
        for port in ports {
            while self.has_place()
                && let Some(Ok((socket, from))) = self.listeners.get(&port).map(TcpListener::accept)
            {
                if set_up(&socket).is_err() {
                    continue;
                }
                let stream = StreamId::Accepted(self.next);
                self.next += 1;
                let (state, outbox) = (HostStreamState::Open, Outbox::default());
                self.all.insert(stream, HostStream { socket, state, outbox });
                news.push(StreamInput::Accepted { stream, port, from });
            }
        }
    }
}

/// Small messages do not wait for each other.
fn set_up(socket: &TcpStream) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    socket.set_nodelay(true)
}

/// Calls the other end, without waiting for it.
fn call(to: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    match socket.connect(&to.into()) {
        Err(e) if e.raw_os_error() != Some(nix::libc::EINPROGRESS) => Err(e),
        _ => {
            let socket = TcpStream::from(socket);
            set_up(&socket)?;
            Ok(socket)
        }
    }
}

impl HostStream {
    /// Does what its socket lets it. Returns why it is gone, if it is.
    fn serve(
        &mut self,
        id: StreamId,
        buffer: &mut [u8],
        news: &mut Vec<StreamInput<'static>>,
    ) -> Option<StreamEnd> {
        if let HostStreamState::Called(to, until) = self.state {
            match self.socket.take_error() {
                Ok(None) if self.socket.peer_addr().is_ok() => self.state = HostStreamState::Open,
                Ok(None) if Instant::now() < until => return None,
                _ => return Some(StreamEnd::Unreachable),
            }
            news.push(StreamInput::Connected { stream: id, to });
        }
        match self.outbox.flush(&mut self.socket) {
            Ok(true) => {
                let bytes = STREAM_ROOM.saturating_sub(self.outbox.len());
                news.push(StreamInput::Room { stream: id, bytes });
            }
            Ok(false) => {}
            Err(_) => return Some(StreamEnd::Broken),
        }
        if let HostStreamState::Closing(until) = self.state {
            let is_done = self.outbox.is_empty();
            if is_done {
                // The other end may have closed it, too.
                let _ = self.socket.shutdown(Shutdown::Write);
            }
            return (is_done || Instant::now() >= until).then_some(StreamEnd::Finished);
        }
        self.read(id, buffer, news)
    }

    fn read(
        &mut self,
        id: StreamId,
        buffer: &mut [u8],
        news: &mut Vec<StreamInput<'static>>,
    ) -> Option<StreamEnd> {
        for _ in 0..BATCH {
            match self.socket.read(buffer) {
                Ok(0) => return Some(StreamEnd::Finished),
                Ok(n) => {
                    let data = Cow::Owned(buffer[..n].to_vec());
                    news.push(StreamInput::Data { stream: id, data });
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Some(StreamEnd::Broken),
            }
        }
        None
    }
}
