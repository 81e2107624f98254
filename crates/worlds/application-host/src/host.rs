//! The loop: what comes from sockets, timers, the GPS receiver and the clock goes to the application, and what it asks for is done.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use wayhop_control::gpsd;
use wayhop_core::{
    Application, ApplicationCx, ApplicationEffect, ApplicationInput, ConfiguredApplication, Purpose, Rng,
    Time, TimerKey, stream,
};
use wayhop_replay::{ApplicationHeader, Header, Logs, Pace};

use crate::error::Error;
use crate::record::Record;
use crate::sockets::Sockets;

/// How often the figures are written down, and the GPS receiver is asked.
const EVERY: Duration = Duration::from_secs(1);
/// The longest datagram.
const LONGEST: usize = 65_536;

/// What an application counted, by name.
pub type Figures = BTreeMap<String, f64>;

/// How an application runs on this host.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The host's address in the mesh.
    pub addr: IpAddr,
    /// The seed of its random stream.
    pub seed: u64,
    /// Its number among the scenario's applications: two of one seed draw different numbers.
    pub number: u32,
    /// Where its notes and figures go ([`crate::Line`]).
    pub record: Option<PathBuf>,
    /// Where gpsd is, `HOST:PORT`.
    pub gpsd: Option<String>,
    /// Where what goes into it is logged, for `wayhop replay`.
    pub inputs: Option<PathBuf>,
}

/// Runs an application until SIGINT or SIGTERM. `ready` is called when its first ports are open; `wants_end` once a second, and ends it with
/// true. Returns what it counted.
///
/// # Errors
/// If a port cannot be opened, or the record not be written.
pub fn run(
    application: &ConfiguredApplication,
    settings: &Settings,
    ready: impl FnOnce(),
    mut wants_end: impl FnMut(&Figures) -> bool,
) -> Result<Figures, Error> {
    if !application.parameters.links().is_empty() {
        let name = application.description.name;
        return Err(Error::new(name)("a part of the host's network layer: use `wayhop mobile-ip`"));
    }
    let signals = signals()?;
    let mut host = Host::new(application, settings)?;
    host.call(ApplicationInput::Start)?;
    ready();
    let mut next = Instant::now() + EVERY;
    loop {
        if host.wait(&signals, next)? {
            break;
        }
        host.take_datagrams()?;
        host.fire_timers()?;
        if Instant::now() >= next {
            next += EVERY;
            host.tell_position()?;
            let figures = host.write_figures();
            if wants_end(&figures) {
                break;
            }
        }
    }
    let figures = host.write_figures();
    match host.inputs.map(Logs::finish) {
        Some(Err(why)) => Err(Error::new("the log of inputs is not whole")(why)),
        _ => Ok(figures),
    }
}

/// A file that is not there yet: a node that comes back leaves the log of its former life as it is (`a.jsonl`, `a-2.jsonl`).
fn free(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, ending) = name.split_once('.').unwrap_or((&name, ""));
    let later = (2..).map(|life| path.with_file_name(format!("{stem}-{life}.{ending}")));
    std::iter::once(path.to_owned()).chain(later).find(|p| !p.exists()).unwrap_or_else(|| path.to_owned())
}

/// The log of what goes into the application.
fn log(path: &Path, application: &ConfiguredApplication, settings: &Settings) -> Result<Logs, Error> {
    let header = Header::of_application_at(
        settings.addr,
        ApplicationHeader::new(settings.number, application),
        settings.seed,
    );
    let path = free(path);
    let cannot = Error::new(format!("cannot write {}", path.display()));
    let mut logs = Logs::create(vec![(path, header)], Pace::RealTime).map_err(cannot)?;
    logs.begin().map_err(Error::new("cannot start a thread for the log of inputs"))?;
    Ok(logs)
}

struct Host {
    begun: Instant,
    addr: IpAddr,
    rng: Rng,
    engine: Box<dyn Application>,
    sockets: Sockets,
    timers: BTreeMap<TimerKey, Time>,
    record: Record,
    receiver: Option<gpsd::Client>,
    effects: Vec<ApplicationEffect>,
    buffer: Vec<u8>,
    number: u32,
    inputs: Option<Logs>,
}

impl Host {
    fn new(application: &ConfiguredApplication, settings: &Settings) -> Result<Self, Error> {
        let listen = |at: &String| gpsd::Client::start(at).map_err(Error::new("cannot listen to gpsd"));
        Ok(Self {
            begun: Instant::now(),
            addr: settings.addr,
            rng: stream(settings.seed, Purpose::Applications, settings.number.into()),
            engine: application.parameters.application(),
            sockets: Sockets::new(settings.addr),
            timers: BTreeMap::new(),
            record: Record::open(settings.record.as_deref())?,
            receiver: settings.gpsd.as_ref().map(listen).transpose()?,
            effects: Vec::new(),
            buffer: vec![0; LONGEST],
            number: settings.number,
            inputs: settings.inputs.as_ref().map(|path| log(path, application, settings)).transpose()?,
        })
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.begun.elapsed().as_nanos() as u64)
    }

    fn call(&mut self, input: ApplicationInput<'_>) -> Result<(), Error> {
        let now = self.now();
        let mut effects = std::mem::take(&mut self.effects);
        if let Some(logs) = &mut self.inputs {
            logs.application_input(now, self.number, &self.rng, &input);
        }
        let mut cx = ApplicationCx::new(now, self.addr, &mut self.rng, &mut effects);
        self.engine.on_input(&mut cx, input);
        if let Some(logs) = &mut self.inputs {
            logs.effects(&effects);
        }
        for effect in effects.drain(..) {
            match effect {
                ApplicationEffect::Listen(port) => {
                    let refused = Error::new(format!("cannot listen at UDP port {port}"));
                    self.sockets.listen(port).map_err(refused)?;
                }
                ApplicationEffect::Send(datagram) => self.sockets.send(&datagram),
                ApplicationEffect::SetTimer(key, at) => drop(self.timers.insert(key, at)),
                ApplicationEffect::ClearTimer(key) => drop(self.timers.remove(&key)),
                ApplicationEffect::Note(note) => self.record.note(&note),
                // `run` takes no application that has links.
                ApplicationEffect::Network(_) => {}
            }
        }
        self.effects = effects;
        Ok(())
    }

    fn take_datagrams(&mut self) -> Result<(), Error> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut heard: Vec<(u16, SocketAddr, Vec<u8>)> = Vec::new();
        self.sockets.take(&mut buffer, |port, from, data| heard.push((port, from, data.to_vec())));
        self.buffer = buffer;
        heard.into_iter().try_for_each(|(port, from, data)| {
            self.call(ApplicationInput::Datagram { port, from, data: Cow::Owned(data) })
        })
    }

    /// Timers that are due, the earliest first.
    fn fire_timers(&mut self) -> Result<(), Error> {
        let now = self.now();
        let mut due: Vec<(Time, TimerKey)> =
            self.timers.iter().filter(|(_, at)| **at <= now).map(|(key, at)| (*at, *key)).collect();
        due.sort_unstable();
        for (at, key) in due {
            // One that fired before may have moved or cleared it.
            if self.timers.get(&key) == Some(&at) {
                self.timers.remove(&key);
                self.call(ApplicationInput::Timer(key))?;
            }
        }
        Ok(())
    }

    fn tell_position(&mut self) -> Result<(), Error> {
        match self.receiver.as_ref().and_then(gpsd::Client::latest) {
            Some(received) => self.call(ApplicationInput::Position(received.fix)),
            None => Ok(()),
        }
    }

    fn write_figures(&mut self) -> Figures {
        let mut figures = Figures::new();
        self.engine.figures(&mut |name, value| {
            figures.insert(name.to_owned(), value);
        });
        self.record.figures(&figures);
        figures
    }

    /// Waits for something to do, at most until `next`. True if a signal ends it.
    fn wait(&self, signals: &SignalFd, next: Instant) -> Result<bool, Error> {
        let own = self.timers.values().min().map(|at| at.since(self.now()).as_nanos());
        let pause = next.saturating_duration_since(Instant::now());
        let pause = own.map_or(pause, |ns| pause.min(Duration::from_nanos(ns)));
        let mut fds = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        fds.extend(self.sockets.fds().map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        match ppoll(&mut fds, Some(TimeSpec::from_duration(pause)), None) {
            Ok(_) => Ok(fds[0].any().unwrap_or(false)),
            Err(nix::Error::EINTR) => Ok(false),
            Err(e) => Err(Error::new("cannot wait for datagrams")(e)),
        }
    }
}

/// The signals that end it, as something to wait for.
fn signals() -> Result<SignalFd, Error> {
    let mut set = SigSet::empty();
    for s in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        set.add(s);
    }
    set.thread_block().map_err(Error::new("cannot hear of signals"))?;
    SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
        .map_err(Error::new("cannot hear of signals"))
}
