//! The HTTP endpoint: all clients on one thread.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::connection::Connection;
use super::snapshot::Snapshot;

/// The most clients at a time. One more replaces the oldest of the address with the most.
pub const MAX_CLIENTS: usize = 32;
/// How many are accepted in one turn: less than there is room for, so that each has its turn before others take its place.
const PER_TURN: usize = MAX_CLIENTS / 2;

/// The HTTP endpoint. Dropped, it closes.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
    snapshot: Arc<Mutex<Option<Snapshot>>>,
    /// Its end is heard by the thread.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Endpoint {
    /// Listens at this address, such as 127.0.0.1:9464.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::serve(TcpListener::bind(address)?)
    }

    /// Serves a socket that is bound already, perhaps in another network namespace.
    pub fn serve(listener: TcpListener) -> io::Result<Self> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let snapshot: Arc<Mutex<Option<Snapshot>>> = Arc::default();
        let (stop, stopped) = UnixStream::pair()?;
        let thread = {
            let snapshot = Arc::clone(&snapshot);
            std::thread::Builder::new()
                .name("wh-metrics".to_owned())
                .spawn(move || Clients { listener, stopped, snapshot, connections: Vec::new() }.serve())?
        };
        Ok(Self { address, snapshot, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it tells from now on.
    pub fn set(&self, snapshot: Snapshot) {
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = Some(snapshot);
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of that thread was reported when it happened.
            let _ = thread.join();
        }
    }
}

struct Clients {
    listener: TcpListener,
    stopped: UnixStream,
    snapshot: Arc<Mutex<Option<Snapshot>>>,
    /// The oldest first.
    connections: Vec<Connection>,
}

impl Clients {
    fn serve(mut self) {
        loop {
            let (is_stopped, is_called, ready) = self.wait();
            if is_stopped {
                return;
            }
            let now = Instant::now();
            let snapshot = || self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let mut ready = ready.into_iter();
            self.connections.retain_mut(|c| {
                let is_ready = ready.next().unwrap_or(false);
                let is_open = !(is_ready || now >= c.end) || c.go_on(now, &snapshot);
                // Its time may be over before it has taken what it asked for.
                is_open && now < c.end
            });
            if is_called {
                self.accept(now);
            }
        }
    }

    /// Waits for something to do: whether this is the end, whether somebody calls, and which connections go on.
    fn wait(&self) -> (bool, bool, Vec<bool>) {
        let mut fds = vec![
            PollFd::from_borrowed_fd(self.stopped.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.listener.as_fd(), PollFlags::IN),
        ];
        for c in &self.connections {
            let flags = if c.is_answered() { PollFlags::OUT } else { PollFlags::IN };
            fds.push(PollFd::from_borrowed_fd(c.stream.as_fd(), flags));
        }
        let left = self.connections.iter().map(|c| c.end).min();
        let left = left.map(|end| timespec(end.saturating_duration_since(Instant::now())));
        if poll(&mut fds, left.as_ref()).is_err() {
            // Interrupted, or short of memory: look again at everything.
            return (false, false, Vec::new());
        }
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        (is_ready(&fds[0]), is_ready(&fds[1]), fds[2..].iter().map(is_ready).collect())
    }

    fn accept(&mut self, now: Instant) {
        for _ in 0..PER_TURN {
            match self.listener.accept() {
                Ok((stream, from)) => {
                    if self.connections.len() >= MAX_CLIENTS {
                        self.evict();
                    }
                    self.connections.extend(Connection::new(stream, from.ip(), now));
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                // One that gave up waiting.
                Err(e)
                    if matches!(e.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted) => {}
                // Too many open files, for one: no use in trying at once.
                Err(_) => return std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    /// Ends the oldest connection of the address that has the most, one without a request before one that is being answered.
    fn evict(&mut self) {
        let mut count: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for c in &self.connections {
            *count.entry(c.from).or_default() += 1;
        }
        let rank = |c: &Connection| (std::cmp::Reverse(count[&c.from]), c.is_answered());
        // The first of equals is the oldest.
        let worst = (0..self.connections.len()).min_by_key(|&i| rank(&self.connections[i]));
        if let Some(i) = worst {
            self.connections.remove(i);
        }
    }
}

/// Rounded up: a wait that ends early would be one more turn.
fn timespec(d: Duration) -> Timespec {
    let d = d + Duration::from_millis(1);
    Timespec { tv_sec: d.as_secs() as i64, tv_nsec: d.subsec_nanos().into() }
}
