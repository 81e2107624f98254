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
    receivers: Vec<Receiver>,
    stopping: bool,
}

#[derive(Clone, Debug, Default)]
struct Receiver {
    fix: Option<Fix>,
    time: String,
    /// Whether the clients have not been told.
    is_news: bool,
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
        let receivers =
            vec![Receiver { time: iso8601(SystemTime::now()), ..Receiver::default() }; listeners.len()];
        let shared =
            Arc::new(GpsdState { state: Mutex::new(GpsdServerState { receivers, stopping: false }), wake });
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

    /// Tells the clients of a receiver where it is; none for a receiver that has lost its satellites. Call it at the rate of
    /// the reports: once a second is a receiver's. Never blocks.
    pub fn set(&self, receiver: usize, fix: Option<&Fix>, time: SystemTime) {
        let mut state = self.shared.lock();
        if let Some(r) = state.receivers.get_mut(receiver) {
            *r = Receiver { fix: fix.copied(), time: iso8601(time), is_news: true };
            drop(state);
            self.shared.wake();
        }
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
            let Some(receivers) = self.wait() else { return };
            self.accept();
            for c in &mut self.clients {
                c.read(&receivers, &self.since);
                let r = &receivers[c.receiver];
                if r.is_news && c.enable && c.json && c.out.len() < MAX_UNREAD / 2 {
                    c.say(&messages::tpv(r.fix.as_ref(), &r.time));
                }
                c.write();
            }
            self.clients.retain(|c| !c.is_gone);
        }
    }

    /// Waits for something to do; gives what the receivers know, or none at the end.
    fn wait(&mut self) -> Option<Vec<Receiver>> {
        let mut fds = vec![PollFd::from_borrowed_fd(self.woken.as_fd(), PollFlags::IN)];
        fds.extend(self.listeners.iter().map(|l| PollFd::from_borrowed_fd(l.as_fd(), PollFlags::IN)));
        for c in &self.clients {
            let mut flags = PollFlags::IN;
            flags.set(PollFlags::OUT, !c.out.is_empty());
            fds.push(PollFd::from_borrowed_fd(c.stream.as_fd(), flags));
        }
        // Interrupted: everything is looked at all the same.
        let _ = poll(&mut fds, None);
        let _ = self.woken.read(&mut [0; 64]);
        let mut state = self.shared.lock();
        if state.stopping {
            return None;
        }
        let receivers = state.receivers.clone();
        state.receivers.iter_mut().for_each(|r| r.is_news = false);
        Some(receivers)
    }

    fn accept(&mut self) {
        for (receiver, l) in self.listeners.iter().enumerate() {
            while let Ok((stream, _)) = l.accept() {
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
}

impl Client {
    fn say(&mut self, message: &Value) {
        self.out.extend(message.to_string().into_bytes());
        self.out.extend(b"\r\n");
    }

    fn read(&mut self, receivers: &[Receiver], since: &str) {
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
                self.obey(c, &receivers[self.receiver], since);
            }
        }
        if self.input.len() > LONGEST_LINE || self.out.len() > MAX_UNREAD {
            self.is_gone = true;
        }
    }

    fn obey(&mut self, command: Result<GpsdCommand, Value>, r: &Receiver, since: &str) {
        match command {
            Err(answer) => self.say(&answer),
            Ok(GpsdCommand::Version) => self.say(&messages::version()),
            Ok(GpsdCommand::Devices) => self.say(&messages::devices(since)),
            Ok(GpsdCommand::Device) => self.say(&messages::device(since)),
            Ok(GpsdCommand::Poll) => self.say(&messages::poll(r.fix.as_ref(), &r.time)),
            Ok(GpsdCommand::Watch(change)) => {
                if let Some(w) = change {
                    // As gpsd does: a bare {} enables, and "json" alone says in which form.
                    self.enable = w.enable.unwrap_or(true);
                    self.json = w.json.unwrap_or(self.json);
                }
                self.say(&messages::devices(since));
                self.say(&messages::watch(self.enable, self.json));
                if self.enable && self.json && !r.is_news {
                    self.say(&messages::tpv(r.fix.as_ref(), &r.time));
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
