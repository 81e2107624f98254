//! The loop: what waits goes to the engine, and what it asks for is done.

use std::os::fd::AsFd as _;
use std::path::Path;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signalfd::SignalFd;
use nix::sys::time::TimeSpec;
use wayhop_application_host::signals;
use wayhop_core::Time;
use wayhop_linux::Error;
use wayhop_linux::host_news::HostNews;
use wayhop_linux::ip_sockets::RawSender;
use wayhop_mobile_ip::{Clock, Event, Input, LinkState, Output};

use super::ports::{self, Change};
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
    let news = HostNews::open().map_err(Error::system("hear of changes of this host"))?;
    let out = RawSender::open(None).map_err(Error::system("open a socket for packets in tunnels"))?;
    if let Some(undo) = &mut ready.undo {
        undo.seal();
    }
    privileges::give_up_but_ports(&ready.user)?;
    if let Some(memory) = &mut ready.memory {
        memory.begin(&ready.log);
    }
    for port in ready.ports.iter().filter(|p| !p.is_there()) {
        ready
            .log
            .tell(Level::Warning, format_args!("there is no interface {} yet: waiting for it", port.name));
    }
    ready.log.tell(Level::Info, format_args!("begins: {}", ready.says));
    let mut agent = Agent { ready, news, out, warnings: Warnings::default(), counts: Counts::default() };
    let ended = agent.serve(&signals);
    let counts = agent.counts;
    let AgentParts { undo, tun, log, mut routes, .. } = agent.ready;
    // Without a link that the host is set back at, nobody else does it.
    let removed = routes.end().map_err(Error::system("remove the rule of the home address"));
    drop(tun);
    let set_back = undo.map_or(Ok(()), |mut undo| undo.finish()).and(removed);
    if ended.is_ok() {
        let Counts { refused, denied, not_believed } = counts;
        log.tell(
            Level::Info,
            format_args!(
                "ends: {refused} requests refused, {denied} denied, {not_believed} messages not believed"
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
    counts: Counts,
}

/// What was wrong, since the beginning.
#[derive(Copy, Clone, Debug, Default)]
struct Counts {
    /// Requests of others that this agent refused.
    refused: u64,
    /// Own requests that an agent refused.
    denied: u64,
    /// Messages and packets in tunnels that were not believed.
    not_believed: u64,
}

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
    fn serve(&mut self, signals: &SignalFd) -> Result<(), Error> {
        self.look_at_links()?;
        self.call(|now, ready, out| ready.engine.input(now, Input::Timer, out));
        loop {
            let ready = self.wait(signals)?;
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
            self.call(|now, ready, out| {
                for (link, port) in (0..).zip(&mut ready.ports) {
                    port.take(link, now, ready.engine.as_mut(), out);
                }
            });
            if ready[TUN] {
                self.take_packets();
            }
            let is_due = self.ready.engine.next().is_some_and(|at| at <= self.ready.clocks.now().at);
            if is_due {
                self.call(|now, ready, out| ready.engine.input(now, Input::Timer, out));
            }
        }
    }

    /// Calls the engine, and does what it asks for.
    fn call(&mut self, f: impl FnOnce(Clock, &mut AgentParts, &mut Vec<Output>)) {
        let now = self.ready.clocks.now();
        let mut out = Vec::new();
        f(now, &mut self.ready, &mut out);
        for output in out {
            self.carry_out(now.at, output);
        }
    }

    fn take_packets(&mut self) {
        for _ in 0..BATCH {
            let Some(packet) = self.ready.tun.as_mut().and_then(|t| t.receive().map(<[u8]>::to_vec)) else {
                return;
            };
            self.call(|now, ready, out| ready.engine.input(now, Input::Outbound(&packet), out));
        }
    }

    /// Follows interfaces that came and went, and tells the engine how the links are.
    fn look_at_links(&mut self) -> Result<(), Error> {
        let AgentParts { ports, routes, home, log, .. } = &mut self.ready;
        let failed = || Error::system("look at the interfaces");
        let links = routes.netlink().links().map_err(failed())?;
        let mut changes = Vec::with_capacity(ports.len());
        for (link, port) in (0..).zip(&mut *ports) {
            let change = port.follow(&links).unwrap_or_else(|e| {
                log.tell(Level::Warning, format_args!("{} cannot be used yet: {e}", port.name));
                Change::Gone
            });
            match change {
                Change::None => {}
                Change::Gone => {
                    log.tell(Level::Warning, format_args!("{} is gone: waiting for it", port.name));
                }
                Change::Taken => log.tell(Level::Info, format_args!("{} is there: taken over", port.name)),
            }
            routes.follow(link, port.index());
            changes.push(change);
        }
        let addresses = routes.netlink().addresses().map_err(failed())?;
        let states: Vec<_> = ports.iter().map(|p| p.state(&links, &addresses, *home)).collect();
        self.call(|now, ready, out| {
            for ((link, state), change) in (0..).zip(states).zip(changes) {
                // Another interface in its place: nothing that was heard by the old one holds.
                if change == Change::Taken {
                    ready.engine.input(now, Input::Link { link, state: LinkState::default() }, out);
                }
                ready.engine.input(now, Input::Link { link, state }, out);
            }
        });
        Ok(())
    }

    fn carry_out(&mut self, now: Time, output: Output) {
        let done = match output {
            Output::Send { link: None, packet } => self.out.send(&packet),
            Output::Send { link: Some(link), packet } => self.port(link, |p| p.send(&packet)),
            Output::Arp { link, to, message } => self.port(link, |p| p.send_arp(to, &message)),
            Output::Deliver(packet) => {
                // A stack that does not take it loses it, as any interface may.
                self.ready.tun.as_ref().map(|t| t.send(&packet));
                Ok(())
            }
            Output::Intercept(home) => self.ready.routes.intercept(home, true),
            Output::Release(home) => self.ready.routes.intercept(home, false),
            Output::Attach(to) => self.ready.routes.attach(to),
            Output::Remember(known) => {
                if let Some(memory) = &mut self.ready.memory {
                    memory.keep(known, &self.ready.log);
                }
                Ok(())
            }
            Output::Event(event) => {
                self.tell(now, &event);
                Ok(())
            }
        };
        if let Err(e) = done {
            // A link that is down loses what it is given; the engine notices by what does not come.
            self.ready.log.tell(Level::Debug, format_args!("the kernel refuses: {e}"));
        }
    }

    fn port(&self, link: u8, f: impl FnOnce(&ports::Port) -> std::io::Result<()>) -> std::io::Result<()> {
        self.ready.ports.get(usize::from(link)).map_or(Ok(()), f)
    }

    fn tell(&mut self, now: Time, event: &Event) {
        let name =
            |link: u8| self.ready.ports.get(usize::from(link)).map_or_else(String::new, |p| p.name.clone());
        let text = event.text(name);
        match event {
            Event::Refused { .. } => self.counts.refused += 1,
            Event::Denied { .. } => self.counts.denied += 1,
            Event::NotBelieved { .. } => self.counts.not_believed += 1,
            _ => return self.ready.log.tell(Level::Info, text),
        }
        let w = &mut self.warnings;
        let second = now.as_nanos() / 1_000_000_000;
        if second != w.second {
            if w.untold > 0 {
                self.ready.log.tell(Level::Warning, format_args!("and {} more lines like these", w.untold));
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
        let now = self.ready.clocks.now().at;
        let due = self.ready.engine.next();
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
        let links = self.ready.ports.iter().flat_map(ports::Port::fds);
        fds.extend(links.map(|fd| PollFd::new(fd, read)));
        match ppoll(&mut fds, wait, None) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(e) => return Err(Error::system("wait for packets")(e.into())),
        }
        Ok(fds.iter().map(|f| f.any().unwrap_or(false)).collect())
    }
}
