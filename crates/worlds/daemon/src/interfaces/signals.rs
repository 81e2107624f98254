//! Signal strengths of neighbours, collected by a thread beside the packets' path.

use std::io::{self, Read as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::net::if_::if_nametoindex;
use rustc_hash::FxHashMap;
use socket2::{Domain, Socket, Type};
use wayhop_core::Mac;

use wayhop_linux::wifi::monitor::heard;
use wayhop_linux::{syscalls, wifi};

use crate::config::signal::SignalSource;
use crate::log::{Log, Trouble};

/// Power by link address, dBm.
pub(crate) type Map = FxHashMap<Mac, f32>;

/// How often the driver's table is read.
const POLL: Duration = Duration::from_secs(1);
/// How often what a monitor interface shows is handed on.
const HAND_ON: Duration = Duration::from_millis(100);
/// How long somebody may be silent.
const FORGET: Duration = Duration::from_secs(30);
/// Bounds the transmitters that are remembered: addresses can be forged.
const MAX_TRANSMITTERS: usize = 4096;
/// Enough of a frame for its headers, octets.
const HEADERS: usize = 512;

/// Signals, renewed by a thread.
pub(crate) struct Signals {
    shared: Arc<SignalTable>,
    thread: Option<JoinHandle<()>>,
    seen: u64,
}

#[derive(Default)]
struct SignalTable {
    /// The interface whose table of stations is read: it may be renamed.
    interface: Mutex<String>,
    latest: Mutex<Arc<Map>>,
    version: AtomicU64,
    stopping: AtomicBool,
}

impl SignalTable {
    fn interface(&self) -> String {
        self.interface.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    fn set(&self, map: Map) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(map);
        self.version.fetch_add(1, Ordering::Release);
    }
    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

impl Signals {
    /// Begins to gather.
    pub(crate) fn begin(source: SignalSource, log: &Log) -> io::Result<Self> {
        let (SignalSource::Stations(name) | SignalSource::Monitor(name)) = &source;
        let shared = Arc::new(SignalTable { interface: Mutex::new(name.clone()), ..SignalTable::default() });
        let (ours, trouble) = (Arc::clone(&shared), Trouble::new(log));
        let thread =
            std::thread::Builder::new().name("wh-signal".to_owned()).spawn(move || match source {
                SignalSource::Stations(_) => poll(&ours, trouble),
                SignalSource::Monitor(interface) => listen(&interface, &ours, trouble),
            })?;
        Ok(Self { shared, thread: Some(thread), seen: 0 })
    }

    /// An interface has another name.
    pub(crate) fn rename(&self, from: &str, to: &str) {
        let mut name = self.shared.interface.lock().unwrap_or_else(PoisonError::into_inner);
        if *name == from {
            to.clone_into(&mut name);
        }
    }

    /// The signals, if they are others than at the last look.
    pub(crate) fn news(&mut self) -> Option<Arc<Map>> {
        let version = self.shared.version.load(Ordering::Acquire);
        if version == self.seen {
            return None;
        }
        self.seen = version;
        Some(Arc::clone(&self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Tells whether signals can be read from an interface.
fn report<T>(trouble: &mut Trouble, interface: &str, outcome: &io::Result<T>) {
    let why = outcome.as_ref().err().map(ToString::to_string);
    let wrong = format_args!("cannot read signals from {interface}: ");
    trouble.is(why, wrong, format_args!("reading signals from {interface} again"));
}

fn poll(shared: &SignalTable, mut trouble: Trouble) {
    while !shared.is_stopping() {
        // Queried each time: the interface may have been plugged in again.
        let interface = shared.interface();
        let outcome = stations(&interface);
        report(&mut trouble, &interface, &outcome);
        shared.set(outcome.unwrap_or_default());
        std::thread::park_timeout(POLL);
    }
}

fn stations(interface: &str) -> io::Result<Map> {
    let mut map = Map::default();
    wifi::stations(if_nametoindex(interface)?, |mac, dbm| {
        if map.len() < MAX_TRANSMITTERS {
            map.insert(mac, dbm);
        }
    })?;
    Ok(map)
}

fn listen(interface: &str, shared: &SignalTable, mut trouble: Trouble) {
    while !shared.is_stopping() {
        let outcome = hear(interface, shared, &mut trouble);
        report(&mut trouble, interface, &outcome);
        if outcome.is_err() {
            shared.set(Map::default());
            std::thread::park_timeout(POLL);
        }
    }
}

/// Listens until the end, or until the interface fails.
fn hear(interface: &str, shared: &SignalTable, trouble: &mut Trouble) -> io::Result<()> {
    let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
    socket.set_read_timeout(Some(HAND_ON))?;
    syscalls::bind_packet(
        std::os::fd::AsFd::as_fd(&socket),
        if_nametoindex(interface)?,
        nix::libc::ETH_P_ALL as u16,
    )?;
    let mut buffer = [0; HEADERS];
    let mut all: FxHashMap<Mac, (f32, Instant)> = FxHashMap::default();
    let (mut is_news, mut handed_on) = (false, Instant::now());
    while !shared.is_stopping() {
        match (&socket).read(&mut buffer) {
            Ok(n) => {
                if let Some((mac, dbm)) =
                    heard(&buffer[..n]).filter(|(m, _)| all.len() < MAX_TRANSMITTERS || all.contains_key(m))
                {
                    all.insert(mac, (dbm, Instant::now()));
                    is_news = true;
                    report(trouble, interface, &Ok(()));
                }
            }
            Err(e) => match e.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => {}
                _ => return Err(e),
            },
        }
        if is_news && handed_on.elapsed() >= HAND_ON {
            (is_news, handed_on) = (false, Instant::now());
            all.retain(|_, (_, at)| at.elapsed() < FORGET);
            shared.set(all.iter().map(|(m, (dbm, _))| (*m, *dbm)).collect());
        }
    }
    Ok(())
}
