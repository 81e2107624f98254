//! The event loop: events go to the application, and its effects are carried out.

use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signalfd::SignalFd;
use nix::sys::time::TimeSpec;
use wayhop_application_host::signals;
use wayhop_core::{
    ApplicationCx, ApplicationEffect, ApplicationInput, LinkState, NetworkEffect, NetworkInput, Time,
    TimerKey,
};
use wayhop_linux::Error;
use wayhop_linux::host_news::HostNews;
use wayhop_linux::ip_sockets::RawSender;
use wayhop_wire::arp;

use super::memory::Memory;
use super::ports::{Port, PortChange};
use super::setup::{AgentParts, Role, set_up};
use crate::kernel::privileges;
use crate::log::Level;
use crate::undo::Undo;

/// Packets of programs that are taken in one turn.
const BATCH: usize = 64;
/// Lines about what is not believed or refused, a second; strangers could fill the disk.
const WARNINGS: u32 = 10;

/// Runs until a signal ends it, and sets the host back.
///
/// # Errors
/// If it cannot begin or go on, or the host is not as before.
pub fn run(role: Role, path: &Path) -> Result<(), Error> {
    let signals = signals().map_err(Error::system("wait for signals"))?;
    let mut ready = set_up(role, path)?;
    let news = HostNews::open().map_err(Error::system("subscribe to changes of this host"))?;
    let out = RawSender::open(None).map_err(Error::system("open a socket for tunnelled packets"))?;
    if let Some(undo) = &mut ready.undo {
        undo.seal();
    }
    privileges::give_up_but_ports(&ready.user)?;
    if let Some(memory) = &mut ready.memory {
        memory.begin(&ready.log);
    }
    for port in ready.ports.iter().filter(|p| !p.is_there()) {
        ready.log.tell(
            Level::Warning,
            format_args!("interface {} does not exist yet; waiting for it", port.name()),
        );
    }
    ready.log.tell(Level::Info, format_args!("begins: {}", ready.says));
    let mut agent = Agent::new(ready, news, out);
    let ended = agent.serve(&signals);
    let [refused, denied, not_believed] = agent.counts();
    let AgentParts { undo, tun, log, mut routes, .. } = agent.ready;
    // Without an undo process for a link, nobody else does it.
    let removed = routes.end().map_err(Error::system("remove the rule of the home address"));
    drop(tun);
    let set_back = undo.map_or(Ok(()), |mut undo| undo.finish()).and(removed);
    if ended.is_ok() {
        log.tell(
            Level::Info,
            format_args!(
                "stopped: {refused} requests refused, {denied} denied, {not_believed} unauthenticated \
                 messages"
            ),
        );
    }
    match (ended, set_back) {
        (Err(why), Err(e)) => Err(Error::System(format!("{why}; {e}"))),
        (ended, set_back) => ended.and(set_back),
    }
}

struct Agent {
    ready: AgentParts,
    news: HostNews,
    out: RawSender,
    warnings: Warnings,
    begun: Instant,
    timers: BTreeMap<TimerKey, Time>,
    /// How far the time of day is ahead of the clock that began with the program, as the application knows it.
    ahead: Option<Duration>,
}

/// The application is notified when the time of day differs from its own by more than this.
const CLOCK_STEP: Duration = Duration::from_millis(1);

/// Lines about strangers in this second.
#[derive(Default)]
struct Warnings {
    second: u64,
    told: u32,
    untold: u32,
}

/// What the loop waits for besides the links: their places in what it polls.
const SIGNALS: usize = 0;
const NEWS: usize = 1;
const UNDO: usize = 2;
const TUN: usize = 3;
const LINKS: usize = 4;

impl Agent {
    fn new(ready: AgentParts, news: HostNews, out: RawSender) -> Self {
        let (warnings, begun, timers) = (Warnings::default(), Instant::now(), BTreeMap::new());
        Self { ready, news, out, warnings, begun, timers, ahead: None }
    }

    fn serve(&mut self, signals: &SignalFd) -> Result<(), Error> {
        self.call(ApplicationInput::Start);
        self.tell_time();
        let known = self.ready.memory.as_ref().map_or_else(Vec::new, Memory::known);
        for known in known {
            self.tell(NetworkInput::Recall(known));
        }
        self.look_at_links()?;
        loop {
            self.fire_timers();
            let ready = self.wait(signals)?;
            self.tell_time();
            if ready[UNDO]
                && let Some(undo) = &self.ready.undo
            {
                return Err(undo.is_gone());
            }
            if ready[SIGNALS] && matches!(signals.read_signal(), Ok(Some(_))) {
                return Ok(());
            }
            if ready[NEWS] {
                self.news.take();
                self.look_at_links()?;
            }
            self.take_from_links();
            if ready[TUN] {
                self.take_packets();
            }
        }
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.begun.elapsed().as_nanos() as u64)
    }

    /// What went wrong since the beginning: requests refused, own ones denied, and messages that were not believed.
    fn counts(&self) -> [u64; 3] {
        let mut counts = [0; 3];
        self.ready.application.figures(&mut |name, value| {
            if let Some(i) = ["refused", "denied", "not_believed"].iter().position(|n| *n == name) {
                counts[i] = value as u64;
            }
        });
        counts
    }

    /// Calls the application, and does what it asks for.
    fn call(&mut self, input: ApplicationInput<'_>) {
        let (now, mut effects) = (self.now(), Vec::new());
        let mut cx = ApplicationCx::new(now, self.ready.home.into(), &mut self.ready.rng, &mut effects);
        self.ready.application.on_input(&mut cx, input);
        for effect in effects {
            match effect {
                ApplicationEffect::SetTimer(key, at) => drop(self.timers.insert(key, at)),
                ApplicationEffect::ClearTimer(key) => drop(self.timers.remove(&key)),
                ApplicationEffect::Network(effect) => self.carry_out(now, effect),
                // The lines of the log say it in words; ports are the links', and Mobile IP uses nothing else.
                _ => {}
            }
        }
    }

    fn tell(&mut self, input: NetworkInput<'_>) {
        self.call(ApplicationInput::Network(input));
    }

    /// Tells the time of day, if it is not the one that the application believes.
    fn tell_time(&mut self) {
        let day = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ahead = day.saturating_sub(self.begun.elapsed());
        if self.ahead.is_none_or(|a| a.abs_diff(ahead) > CLOCK_STEP) {
            self.ahead = Some(ahead);
            self.tell(NetworkInput::TimeOfDay(day.as_nanos() as u64));
        }
    }

    fn fire_timers(&mut self) {
        let now = self.now();
        let due: Vec<TimerKey> =
            self.timers.iter().filter(|(_, at)| **at <= now).map(|(key, _)| *key).collect();
        for key in due {
            self.timers.remove(&key);
            self.call(ApplicationInput::Timer(key));
        }
    }

    fn take_from_links(&mut self) {
        let mut heard = Vec::new();
        for (link, port) in (0..).zip(&mut self.ready.ports) {
            port.take(link, &mut |input| heard.push(input));
        }
        for input in heard {
            self.tell(input);
        }
    }

    fn take_packets(&mut self) {
        for _ in 0..BATCH {
            let Some(packet) = self.ready.tun.as_mut().and_then(|t| t.receive().map(<[u8]>::to_vec)) else {
                return;
            };
            self.tell(NetworkInput::Outbound(packet.into()));
        }
    }

    /// Follows interfaces that came and went, and tells the application how the links are.
    fn look_at_links(&mut self) -> Result<(), Error> {
        let AgentParts { ports, routes, home, log, .. } = &mut self.ready;
        let failed = || Error::system("list the interfaces");
        let links = routes.netlink().links().map_err(failed())?;
        let mut changes = Vec::with_capacity(ports.len());
        for (link, port) in (0..).zip(&mut *ports) {
            let change = port.follow(&links).unwrap_or_else(|e| {
                log.tell(Level::Warning, format_args!("{} cannot be used yet: {e}", port.name()));
                PortChange::Gone
            });
            match change {
                PortChange::None => {}
                PortChange::Gone => {
                    log.tell(Level::Warning, format_args!("{} is gone; waiting for it", port.name()));
                }
                PortChange::Taken => log.tell(Level::Info, format_args!("{} is back", port.name())),
            }
            routes.follow(link, port.index());
            changes.push(change);
        }
        let addresses = routes.netlink().addresses().map_err(failed())?;
        let state = |p: &Port| {
            let has_route = p.has_route(&links, routes.netlink())?;
            Ok(p.state(&links, has_route, &addresses, *home))
        };
        let states = ports.iter().map(state).collect::<Result<Vec<_>, _>>();
        let states = states.map_err(Error::system("list the routes"))?;
        for ((link, state), change) in (0..).zip(states).zip(changes) {
            // Another interface in its place: nothing that was heard by the old one holds.
            if change == PortChange::Taken {
                self.tell(NetworkInput::Link { link, state: LinkState::default() });
            }
            self.tell(NetworkInput::Link { link, state });
        }
        Ok(())
    }

    fn carry_out(&mut self, now: Time, effect: NetworkEffect) {
        let done = match effect {
            NetworkEffect::Send { link: None, packet } => self.out.send(&packet),
            NetworkEffect::Send { link: Some(link), packet } => self.port(link, |p| p.send(&packet)),
            NetworkEffect::Arp { link, to, message } => {
                arp::Repr::parse(&message).map_or(Ok(()), |m| self.port(link, |p| p.send_arp(to, &m)))
            }
            NetworkEffect::Deliver(packet) => {
                // A stack that does not take it loses it, as any interface may.
                self.ready.tun.as_ref().map(|t| t.send(&packet));
                Ok(())
            }
            NetworkEffect::Intercept(home) => self.ready.routes.intercept(home, true),
            NetworkEffect::Release(home) => self.ready.routes.intercept(home, false),
            NetworkEffect::Attach(to) => self.ready.routes.attach(&to),
            NetworkEffect::Remember(_, known) => {
                if let Some(memory) = &mut self.ready.memory {
                    memory.keep(known, &self.ready.log);
                }
                Ok(())
            }
            NetworkEffect::Log { is_warning, text } => {
                self.log(now, is_warning, text);
                Ok(())
            }
        };
        if let Err(e) = done {
            // A link that is down loses what it is given; the engine notices by what does not come.
            self.ready.log.tell(Level::Debug, format_args!("the kernel rejected a change: {e}"));
        }
    }

    fn port(&self, link: u8, f: impl FnOnce(&Port) -> std::io::Result<()>) -> std::io::Result<()> {
        self.ready.ports.get(usize::from(link)).map_or(Ok(()), f)
    }

    fn log(&mut self, now: Time, is_warning: bool, text: String) {
        if !is_warning {
            return self.ready.log.tell(Level::Info, text);
        }
        let w = &mut self.warnings;
        let second = now.as_nanos() / 1_000_000_000;
        if second != w.second {
            if w.untold > 0 {
                self.ready.log.tell(Level::Warning, format_args!("{} similar messages suppressed", w.untold));
            }
            *w = Warnings { second, told: 0, untold: 0 };
        }
        if w.told < WARNINGS {
            w.told += 1;
            self.ready.log.tell(Level::Warning, text);
        } else {
            w.untold = w.untold.saturating_add(1);
        }
    }

    /// Waits for something to do. Returns what is ready.
    fn wait(&self, signals: &SignalFd) -> Result<Vec<bool>, Error> {
        let now = self.now();
        let due = self.timers.values().min();
        let wait = due.map(|at| TimeSpec::from_duration(Duration::from_nanos(at.since(now).as_nanos())));
        let read = PollFlags::POLLIN;
        let undo = self.ready.undo.as_ref().and_then(Undo::fd);
        let tun = self.ready.tun.as_ref().map(|t| t.fd());
        // Places are kept, so that the others keep theirs.
        let mut fds = Vec::with_capacity(LINKS + 7 * self.ready.ports.len());
        fds.extend([
            PollFd::new(signals.as_fd(), read),
            PollFd::new(self.news.fd(), read),
            PollFd::new(undo.unwrap_or(signals.as_fd()), PollFlags::empty()),
            PollFd::new(
                tun.unwrap_or(signals.as_fd()),
                if tun.is_some() { read } else { PollFlags::empty() },
            ),
        ]);
        let links = self.ready.ports.iter().flat_map(Port::fds);
        fds.extend(links.map(|fd| PollFd::new(fd, read)));
        match ppoll(&mut fds, wait, None) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(e) => return Err(Error::system("wait for packets")(e.into())),
        }
        Ok(fds.iter().map(|f| f.any().unwrap_or(false)).collect())
    }
}
