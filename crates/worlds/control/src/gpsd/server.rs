//! Acts as a gpsd with one receiver.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::SystemTime;

use rustix::event::{PollFd, PollFlags, poll};
use serde_json::Value;
use wayhop_core::Fix;

use super::messages::{self, GpsdCommand};
use super::utc::iso8601;
use crate::is_for_later;

/// The most clients of one receiver at a time; one more is closed.
const MAX_CLIENTS: usize = 16;
/// The longest line of commands, octets. gpsd takes 80.
const LONGEST_LINE: usize = 4096;
/// How much may wait to be read by a client, octets; then it misses reports, and answers cut it off.
const MAX_UNREAD: usize = 64 * 1024;

/// GPS receivers for clients of gpsd, one behind each of its sockets. Dropped, it closes them.
#[derive(Debug)]
pub struct Server {
    addresses: Vec<SocketAddr>,
    shared: Arc<GpsdState>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct GpsdState {
    state: Mutex<GpsdServerState>,
    wake: UnixStream,
}

#[derive(Debug)]
struct GpsdServerState {
    reports: Reports,
    stopping: bool,
}

/// What the receivers know. A copy costs the same for a thousand of them as for one.
#[derive(Clone, Debug)]
struct Reports {
    /// By receiver.
    fixes: Arc<[Option<Fix>]>,
    time: Arc<str>,
    /// Whether the clients have not been told.
    are_news: bool,
}

impl Reports {
    fn fix(&self, receiver: usize) -> Option<&Fix> {
        self.fixes.get(receiver)?.as_ref()
    }
}

impl GpsdState {
    fn lock(&self) -> MutexGuard<'_, GpsdServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn wake(&self) {
        // When the pair is full, the thread will wake anyway.
        let _ = (&self.wake).write(&[1]);
    }
}

impl Server {
    /// One receiver, at this address; gpsd's own is 127.0.0.1:2947.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::serve(vec![TcpListener::bind(address)?])
    }

    /// One receiver behind each of these sockets, perhaps in other network namespaces. One thread serves all.
    pub fn serve(listeners: Vec<TcpListener>) -> io::Result<Self> {
        let addresses = listeners.iter().map(TcpListener::local_addr).collect::<io::Result<_>>()?;
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        for l in &listeners {
            l.set_nonblocking(true)?;
        }
        let time = iso8601(SystemTime::now()).into();
        let reports = Reports { fixes: Arc::default(), time, are_news: false };
        let shared =
            Arc::new(GpsdState { state: Mutex::new(GpsdServerState { reports, stopping: false }), wake });
        let thread = {
            let (shared, since) = (Arc::clone(&shared), iso8601(SystemTime::now()));
            let work = Loop { listeners, woken, shared, clients: Vec::new(), since };
            std::thread::Builder::new().name("wh-gpsd".to_owned()).spawn(move || work.run())?
        };
        Ok(Self { addresses, shared, thread: Some(thread) })
    }

    /// Where the receivers listen.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Tells the clients of each receiver where it is; none for a receiver that has lost its satellites. Call it at the rate of
    /// the reports: once a second is a receiver's. Never waits for a client.
    pub fn set(&self, fixes: &[Option<Fix>], time: SystemTime) {
        let reports = Reports { fixes: fixes.into(), time: iso8601(time).into(), are_news: true };
        self.shared.lock().reports = reports;
        self.shared.wake();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.lock().stopping = true;
        self.shared.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Client {
    stream: TcpStream,
    receiver: usize,
    input: Vec<u8>,
    out: VecDeque<u8>,
    enable: bool,
    json: bool,
    is_gone: bool,
}

struct Loop {
    listeners: Vec<TcpListener>,
    woken: UnixStream,
    shared: Arc<GpsdState>,
    clients: Vec<Client>,
    since: String,
}

impl Loop {
    fn run(mut self) {
        loop {
            let Some(Woken { reports, called }) = self.wait() else { return };
            for receiver in called {
                self.accept(receiver);
            }
            for c in &mut self.clients {
                c.read(&reports, &self.since);
                if reports.are_news && c.enable && c.json && c.out.len() < MAX_UNREAD / 2 {
                    c.say(&messages::tpv(reports.fix(c.receiver), &reports.time));
                }
                c.write();
            }
            self.clients.retain(|c| !c.is_gone);
        }
    }

    /// Waits for something to do; none at the end.
    fn wait(&mut self) -> Option<Woken> {
        let mut fds = vec![PollFd::from_borrowed_fd(self.woken.as_fd(), PollFlags::IN)];
        fds.extend(self.listeners.iter().map(|l| PollFd::from_borrowed_fd(l.as_fd(), PollFlags::IN)));
        for c in &self.clients {
            let mut flags = PollFlags::IN;
            flags.set(PollFlags::OUT, !c.out.is_empty());
            fds.push(PollFd::from_borrowed_fd(c.stream.as_fd(), flags));
        }
        // Interrupted: all clients are looked at all the same.
        let _ = poll(&mut fds, None);
        let called = fds[1..=self.listeners.len()].iter().enumerate();
        let called = called.filter(|(_, fd)| !fd.revents().is_empty()).map(|(i, _)| i).collect();
        let _ = self.woken.read(&mut [0; 64]);
        let mut state = self.shared.lock();
        if state.stopping {
            return None;
        }
        let reports = state.reports.clone();
        state.reports.are_news = false;
        Some(Woken { reports, called })
    }

    /// Takes in the clients that wait at a receiver's socket.
    fn accept(&mut self, receiver: usize) {
        while let Ok((stream, _)) = self.listeners[receiver].accept() {
            let is_full = self.clients.iter().filter(|c| c.receiver == receiver).count() >= MAX_CLIENTS;
            if is_full || stream.set_nonblocking(true).is_err() {
                continue;
            }
            let mut c = Client {
                stream,
                receiver,
                input: Vec::new(),
                out: VecDeque::new(),
                enable: false,
                json: false,
                is_gone: false,
            };
            c.say(&messages::version());
            self.clients.push(c);
        }
    }
}

/// Why the thread goes on.
struct Woken {
    reports: Reports,
    /// The receivers at whose sockets somebody waits.
    called: Vec<usize>,
}

impl Client {
    fn say(&mut self, message: &Value) {
        self.out.extend(message.to_string().into_bytes());
        self.out.extend(b"\r\n");
    }

    fn read(&mut self, reports: &Reports, since: &str) {
        let mut chunk = [0; 1024];
        match self.stream.read(&mut chunk) {
            Ok(0) => self.is_gone = true,
            Ok(n) => self.input.extend_from_slice(&chunk[..n]),
            Err(e) if is_for_later(&e) => {}
            Err(_) => self.is_gone = true,
        }
        // A command ends with its line or, without one, with a semicolon.
        while let Some(end) = self.input.iter().position(|b| *b == b'\n' || *b == b';') {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            for c in messages::commands(&String::from_utf8_lossy(&line)) {
                self.obey(c, reports, since);
            }
        }
        if self.input.len() > LONGEST_LINE || self.out.len() > MAX_UNREAD {
            self.is_gone = true;
        }
    }

    fn obey(&mut self, command: Result<GpsdCommand, Value>, reports: &Reports, since: &str) {
        let fix = reports.fix(self.receiver);
        match command {
            Err(answer) => self.say(&answer),
            Ok(GpsdCommand::Version) => self.say(&messages::version()),
            Ok(GpsdCommand::Devices) => self.say(&messages::devices(since)),
            Ok(GpsdCommand::Device) => self.say(&messages::device(since)),
            Ok(GpsdCommand::Poll) => self.say(&messages::poll(fix, &reports.time)),
            Ok(GpsdCommand::Watch(change)) => {
                if let Some(w) = change {
                    // As gpsd does: a bare {} enables, and "json" alone says in which form.
                    self.enable = w.enable.unwrap_or(true);
                    self.json = w.json.unwrap_or(self.json);
                }
                self.say(&messages::devices(since));
                self.say(&messages::watch(self.enable, self.json));
                if self.enable && self.json && !reports.are_news {
                    self.say(&messages::tpv(fix, &reports.time));
                }
            }
        }
    }

    fn write(&mut self) {
        while !self.out.is_empty() && !self.is_gone {
            let (front, _) = self.out.as_slices();
            match self.stream.write(front) {
                Ok(0) => self.is_gone = true,
                Ok(n) => drop(self.out.drain(..n)),
                Err(e) if is_for_later(&e) => return,
                Err(_) => self.is_gone = true,
            }
        }
    }
}
