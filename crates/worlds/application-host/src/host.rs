//! The event loop: events from sockets, streams, programs, the network layer, timers, the mesh, the
//! GPS receiver and the clock go to the application, and its effects are carried out.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::sync::mpsc::Receiver;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use wayhop_control::gpsd;
use wayhop_core::{
    Application, ApplicationCx, ApplicationEffect, ApplicationInput, Ending, NetworkInput, Rng, Span,
    StreamEffect, Time, TimerKey, stream,
};
use wayhop_replay::Logs;

use crate::error::Error;
use crate::mesh;
use crate::network::NetworkLayer;
use crate::programs::Programs;
use crate::record::Record;
use crate::settings::Settings;
use crate::signals::signals;
use crate::sockets::Sockets;
use crate::streams::Streams;

/// How often the figures are written down, and the GPS receiver is asked.
const EVERY: Duration = Duration::from_secs(1);
/// How long what an application writes at its end may take to leave.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// A network layer is told the time of day when the clock was set by more than this.
const CLOCK_STEP: Duration = Duration::from_millis(1);

/// What an application counted, by name.
pub type Figures = BTreeMap<String, f64>;

/// Who watches an application.
pub trait Watcher {
    /// Its first ports are open.
    fn ready(&mut self) {}
    /// Whether the node is down at this time. A timer that was due then does not fire: the application resumes.
    fn is_down(&self, _at: Time) -> bool {
        false
    }
    /// The application sends a datagram or an echo request with this data.
    fn sent(&mut self, _data: &[u8]) {}
    /// A datagram came to this port, or an echo reply with this identifier: from there, with this time to live and this data.
    fn received(&mut self, _port: u16, _from: IpAddr, _ttl: Option<u8>, _data: &[u8]) {}
    /// It tells people something.
    fn remark(&mut self, _text: &str) {}
    /// What it has counted so far, once a second. True ends it.
    fn wants_end(&mut self, _figures: &Figures) -> bool {
        false
    }
}

/// Nobody watches.
impl Watcher for () {}

/// Runs an application until SIGINT or SIGTERM, or until its watcher ends it. Returns what it counted.
///
/// # Errors
/// If a port cannot be opened, the record not be written, or the application gives up.
pub fn run(
    application: Box<dyn Application>,
    settings: &Settings,
    logs: Option<Logs>,
    watcher: &mut dyn Watcher,
) -> Result<Figures, Error> {
    // Before there are other threads, which would hear of them.
    let signals = signals().map_err(Error::new("cannot handle signals"))?;
    run_until(&signals, application, settings, logs, None, watcher)
}

/// Runs an application, over a network layer if it is a part of one, until `end` can be read, or until its watcher ends it. Returns what it
/// counted.
///
/// # Errors
/// If a port cannot be opened, the record not be written, the network layer fails, or the application gives up.
pub fn run_until<'a>(
    end: &impl AsFd,
    application: Box<dyn Application>,
    settings: &Settings,
    logs: Option<Logs>,
    network: Option<&'a mut dyn NetworkLayer>,
    watcher: &'a mut dyn Watcher,
) -> Result<Figures, Error> {
    let mut host = Host::new(application, settings, logs, network, watcher)?;
    host.call(ApplicationInput::Start)?;
    host.take_network(None)?;
    host.watcher.ready();
    let mut next = Instant::now() + EVERY;
    while let Some(ready) = host.wait(end, next)? {
        host.take_network(Some(&ready))?;
        host.take_inputs()?;
        host.fire_timers()?;
        if Instant::now() >= next {
            next += EVERY;
            host.tell_position()?;
            let figures = host.write_figures();
            if host.watcher.wants_end(&figures) {
                break;
            }
        }
        host.record.flush();
    }
    host.end()
}

struct Host<'a> {
    clock: Time,
    since: Instant,
    addr: IpAddr,
    rng: Rng,
    engine: Box<dyn Application>,
    sockets: Sockets,
    streams: Streams,
    programs: Option<Programs>,
    mesh: Option<Receiver<Vec<IpAddr>>>,
    timers: BTreeMap<TimerKey, Time>,
    record: Record,
    receiver: Option<gpsd::Client>,
    effects: Vec<ApplicationEffect>,
    number: u32,
    inputs: Option<Logs>,
    network: Option<&'a mut dyn NetworkLayer>,
    /// How far the time of day is ahead of `since`, as the application knows it.
    ahead: Option<Duration>,
    watcher: &'a mut dyn Watcher,
}

impl<'a> Host<'a> {
    fn new(
        engine: Box<dyn Application>,
        settings: &Settings,
        mut inputs: Option<Logs>,
        network: Option<&'a mut dyn NetworkLayer>,
        watcher: &'a mut dyn Watcher,
    ) -> Result<Self, Error> {
        if let Some(logs) = &mut inputs {
            logs.begin().map_err(Error::new("cannot start a thread for the log of inputs"))?;
        }
        let listen = |at: &String| gpsd::Client::start(at).map_err(Error::new("cannot listen to gpsd"));
        let programs = settings.programs.as_ref().map(|socket| {
            let refused = format!(
                "cannot open the socket for programs at {}; choose another name if another application \
                 uses it",
                socket.name
            );
            Programs::open(socket).map_err(Error::new(refused))
        });
        Ok(Self {
            clock: settings.clock,
            since: settings.since,
            addr: settings.addr,
            rng: stream(settings.seed, settings.purpose, settings.number.into()),
            engine,
            sockets: Sockets::new(settings),
            streams: Streams::new(settings.listen),
            programs: programs.transpose()?,
            mesh: settings.mesh.clone().map(mesh::follow).transpose()?,
            timers: BTreeMap::new(),
            record: Record::open(settings.record.as_deref())?,
            receiver: settings.gpsd.as_ref().map(listen).transpose()?,
            effects: Vec::new(),
            number: settings.number,
            inputs,
            network,
            ahead: None,
            watcher,
        })
    }

    fn now(&self) -> Time {
        self.clock + Span::from_nanos(self.since.elapsed().as_nanos() as u64)
    }

    fn call(&mut self, input: ApplicationInput<'_>) -> Result<(), Error> {
        self.call_at(self.now(), input)
    }

    fn call_at(&mut self, now: Time, input: ApplicationInput<'_>) -> Result<(), Error> {
        let mut effects = std::mem::take(&mut self.effects);
        if let Some(logs) = &mut self.inputs {
            logs.application_input(now, self.number, &self.rng, &input);
        }
        let mut cx = ApplicationCx::new(now, self.addr, &mut self.rng, &mut effects);
        self.engine.on_input(&mut cx, input);
        if let Some(logs) = &mut self.inputs {
            logs.effects(&effects);
        }
        effects.drain(..).try_for_each(|effect| self.carry_out(effect))?;
        self.effects = effects;
        Ok(())
    }

    fn carry_out(&mut self, effect: ApplicationEffect) -> Result<(), Error> {
        match effect {
            ApplicationEffect::Listen(port) => {
                self.sockets.listen(port).map_err(cannot_listen("UDP", port))?;
            }
            ApplicationEffect::Send(datagram) => {
                self.watcher.sent(&datagram.data);
                self.sockets.send(&datagram);
            }
            ApplicationEffect::EchoRequest(request) => {
                self.watcher.sent(&request.data);
                let cannot = Error::new("cannot send echo requests; net.ipv4.ping_group_range says who may");
                self.sockets.ask(&request).map_err(cannot)?;
            }
            ApplicationEffect::SetTimer(key, at) => drop(self.timers.insert(key, at)),
            ApplicationEffect::ClearTimer(key) => drop(self.timers.remove(&key)),
            ApplicationEffect::Note(note) => self.record.note(&note),
            ApplicationEffect::Stream(effect) => {
                let port = if let StreamEffect::Listen(port) = effect { port } else { 0 };
                self.streams.carry_out(effect).map_err(cannot_listen("TCP", port))?;
            }
            ApplicationEffect::Program(effect) => {
                if let Some(programs) = &mut self.programs {
                    programs.carry_out(effect);
                }
            }
            ApplicationEffect::Row(row) => self.record.write(&row),
            ApplicationEffect::Remark(text) => self.watcher.remark(&text),
            ApplicationEffect::Network(effect) => {
                if let Some(network) = &mut self.network {
                    network.carry_out(effect);
                }
            }
            ApplicationEffect::Fail(why) => return Err(Error::from(why)),
        }
        Ok(())
    }

    /// Tells the application what its network layer has for it, after the time of day if that is not the one that it believes.
    /// `ready`: what waits at it; nothing at the beginning.
    fn take_network(&mut self, ready: Option<&[bool]>) -> Result<(), Error> {
        let Some(network) = &mut self.network else { return Ok(()) };
        let mut inputs = match ready {
            Some(ready) => network.serve(ready),
            None => network.begin(),
        }?;
        let day = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ahead = day.saturating_sub(self.since.elapsed());
        if self.ahead.is_none_or(|a| a.abs_diff(ahead) > CLOCK_STEP) {
            self.ahead = Some(ahead);
            inputs.insert(0, NetworkInput::TimeOfDay(day.as_nanos() as u64));
        }
        inputs.into_iter().try_for_each(|input| self.call(ApplicationInput::Network(input)))
    }

    /// Takes what waits at sockets, of each not more than its turn.
    fn take_inputs(&mut self) -> Result<(), Error> {
        let watcher = &mut *self.watcher;
        for input in self.sockets.take(|port, from, ttl, data| watcher.received(port, from, ttl, data)) {
            self.call(input)?;
        }
        for input in self.streams.serve() {
            self.call(ApplicationInput::Stream(input))?;
        }
        for input in self.programs.as_mut().map_or_else(Vec::new, Programs::serve) {
            self.call(ApplicationInput::Program(input))?;
        }
        while let Some(neighbours) = self.mesh.as_ref().and_then(|m| m.try_recv().ok()) {
            self.call(ApplicationInput::Neighbours(neighbours))?;
        }
        Ok(())
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
                if self.watcher.is_down(at) {
                    self.call_at(at, ApplicationInput::Resume)?;
                } else {
                    self.call(ApplicationInput::Timer(key))?;
                }
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

    /// Waits for something to do, at most until `next`. Returns what is ready of the network layer, or nothing if it is the end.
    fn wait(&self, end: &impl AsFd, next: Instant) -> Result<Option<Vec<bool>>, Error> {
        let own = self.timers.values().min().map(|at| at.since(self.now()).as_nanos());
        let pause = next.saturating_duration_since(Instant::now());
        let mut pause = own.map_or(pause, |ns| pause.min(Duration::from_nanos(ns)));
        if self.streams.has_news() || self.programs.as_ref().is_some_and(Programs::has_news) {
            pause = Duration::ZERO;
        }
        let mut fds = vec![PollFd::new(end.as_fd(), PollFlags::POLLIN)];
        fds.extend(self.network.as_ref().map_or_else(Vec::new, |n| n.fds()));
        let others = fds.len();
        fds.extend(self.sockets.fds().map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        fds.extend(self.streams.fds());
        fds.extend(self.programs.iter().flat_map(Programs::fds));
        match ppoll(&mut fds, Some(TimeSpec::from_duration(pause)), None) {
            Ok(_) | Err(nix::Error::EINTR) => {
                let mut ready = fds[..others].iter().map(|fd| fd.any().unwrap_or(false));
                Ok(if ready.next() == Some(true) { None } else { Some(ready.collect()) })
            }
            Err(e) => Err(Error::new("cannot wait for datagrams")(e)),
        }
    }

    /// Ends the application in order: what it still writes to streams has a moment to leave.
    fn end(mut self) -> Result<Figures, Error> {
        let ended = self.call(ApplicationInput::End(Ending::InOrder));
        let until = Instant::now() + LAST_WORDS;
        while self.streams.is_writing() && Instant::now() < until {
            self.streams.serve();
            sleep(Duration::from_millis(5));
        }
        let figures = self.write_figures();
        self.record.flush();
        ended?;
        match self.inputs.map(Logs::finish) {
            Some(Err(why)) => Err(Error::new("the log of inputs is incomplete")(why)),
            _ => Ok(figures),
        }
    }
}

fn cannot_listen(kind: &str, port: u16) -> impl FnOnce(std::io::Error) -> Error {
    let remedy = if port < 1024 {
        "; ports below 1024 need root or CAP_NET_BIND_SERVICE"
    } else {
        "; it may be in use, or the address may not be of this host"
    };
    Error::new(format!("cannot listen on {kind} port {port}{remedy}"))
}
