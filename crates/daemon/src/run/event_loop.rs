//! The event loop.

use std::os::fd::AsFd as _;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use wayhop_control::Request;
use wayhop_core::{DataPlane, IfaceId, LinkChange, Mac, Span, Time};
use wayhop_linux::Error;
use wayhop_linux::ebpf::ForwardingPrograms;
use wayhop_linux::netlink::NeighbourNews;
use wayhop_linux::packet_socket::ETHERNET;
use wayhop_linux::syscalls::BATCH;
use wayhop_trace::Summary;

use crate::config::settings::Settings;
use crate::control::links;
use crate::gateway::probe::Probe;
use crate::interfaces::attached::numbered;
use crate::interfaces::transmit::{count, note, push_all};
use crate::kernel::routes::KernelRoutes;
use crate::kernel::switch::switch;
use crate::log::Level;
use crate::node::number::NODE;
use crate::position::fix_time::FixClock;
use crate::record::capture::Capture;
use crate::record::run_dir::Run;
use crate::run::reload::reload;
use crate::run::setup::{Ready, set_up};
use crate::run::watch::Watch;

/// Turns of work between two looks at everything else, when there is always more.
const ROUNDS: usize = 4;

/// How a node ended.
#[derive(Debug)]
pub struct Outcome {
    /// What it counted.
    pub summary: Summary,
    /// Why it ended by itself, or that the host is not as before.
    pub failure: Option<Error>,
}

/// Runs a node until a signal ends it or, if it is `tied`, its standard input does.
pub fn run(settings: &Settings, tied: bool) -> Result<Outcome, Error> {
    let signals = signals()?;
    let mut node = Node {
        begun: Instant::now(),
        time_zero: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64),
        settings: settings.clone(),
        tied,
        is_up: true,
        next_usage: Time::ZERO,
        kernel_routes: KernelRoutes::default(),
        watch: Watch::default(),
        ready: set_up(settings)?,
    };
    node.ready.host.whereabouts.begin(FixClock::new(node.begun, node.time_zero));
    let r = &node.ready;
    for remark in &settings.remarks {
        r.log.tell(Level::Info, remark);
    }
    if let Some(open) = settings.unauthenticated() {
        r.log.tell(Level::Warning, open);
    }
    let interfaces: Vec<String> =
        r.attached.iter().map(|a| format!("{} ({})", a.name, a.facts.mac)).collect();
    r.log.tell(
        Level::Info,
        format_args!(
            "{} at {}/{} on {}, programs use {}",
            settings.protocol.name(),
            settings.address,
            settings.prefix_len,
            interfaces.join(" and "),
            settings.config.tun,
        ),
    );
    let Ready { host, attached, log, .. } = &mut node.ready;
    for (iface, a) in numbered(attached).filter(|(_, a)| !wayhop_linux::interface::is_up(&a.name)) {
        let name = &a.name;
        let wrong = format_args!("{name} is down: nothing goes by it until it is up: ip link set {name} up");
        log.tell(Level::Warning, wrong);
        a.is_up = false;
        host.link(iface, LinkChange::Down);
    }
    let now = node.now();
    node.ready.host.at(now);
    node.ignore();
    node.flush();
    node.keep_record();
    let ended = loop {
        match node.turn(&signals) {
            Ok(true) => {}
            Ok(false) => break None,
            Err(e) => break Some(e),
        }
    };
    if let Some(e) = &ended {
        node.say_why_it_leaves(e);
    }
    node.ready.log.tell(Level::Info, "ends");
    count(&mut node.ready.host, &node.ready.attached);
    node.ready.station.end(&node.ready.host);
    if let Some(wrong) = node.ready.captures.file.take().and_then(Capture::end) {
        node.ready.log.tell(Level::Warning, wrong);
    }
    if let Some(Err(e)) = node.ready.host.around.inputs.take().map(|logs| logs.finish()) {
        node.ready.log.tell(Level::Warning, format_args!("the log of inputs is not whole: {e}"));
    }
    let mut summary = node.summary(settings);
    if let Some(Err(e)) =
        node.ready.host.around.run.take().map(|run| run.end(&mut summary, &node.ready.host.around.counters))
    {
        node.ready.log.tell(Level::Warning, e);
    }
    let set_back = node.ready.end();
    let failure = match (ended, set_back) {
        (Some(why), Err(e)) => Some(Error::System(format!("{why}; {e}"))),
        (why, set_back) => why.or(set_back.err()),
    };
    Ok(Outcome { summary, failure })
}

/// The signals that end a node, as something to wait for.
pub(crate) fn signals() -> Result<SignalFd, Error> {
    let mut set = SigSet::empty();
    for s in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        set.add(s);
    }
    let refused = |e: nix::Error| Error::system("wait for signals")(e.into());
    set.thread_block().map_err(refused)?;
    SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).map_err(refused)
}

struct Node {
    begun: Instant,
    /// The time of the day then, nanoseconds since 1970.
    time_zero: u64,
    settings: Settings,
    tied: bool,
    /// Whether the kernel has the node up.
    is_up: bool,
    /// When to ask which routes were used.
    next_usage: Time,
    kernel_routes: KernelRoutes,
    watch: Watch,
    ready: Ready,
}

/// How often to ask which routes were used, while there are any.
const USAGE_EVERY: Span = Span::from_millis(100);

/// What the loop waits for besides the interfaces: their places in what it polls.
const TUN: usize = 0;
const NEWS: usize = 1;
const SIGNALS: usize = 2;
const CONTROL: usize = 3;
const STDIN: usize = 4;
const MISSING: usize = 5;
const UNDO: usize = 6;
const PROBE: usize = 7;
const INTERFACES: usize = 8;

impl Node {
    fn now(&self) -> Time {
        Time::from_nanos(self.begun.elapsed().as_nanos() as u64)
    }

    /// Ignores whom the macfilter says from now on.
    fn ignore(&mut self) {
        let Ready { host, attached, macfilter, log, .. } = &mut self.ready;
        let Some(ignored) = macfilter.run_due(host.now()) else { return };
        for program in attached.iter().filter_map(|a| a.ignoring.as_ref()) {
            program.ignore(ignored);
        }
        let names: Vec<String> = ignored.iter().map(Mac::to_string).collect();
        let whom = if names.is_empty() { "nobody".to_owned() } else { names.join(" ") };
        log.tell(Level::Info, format_args!("ignores {whom}"));
    }

    /// When to ask which routes were used.
    fn usage(&self) -> Option<Time> {
        let r = &self.ready;
        let is_watched = r.attached.iter().any(|a| a.ebpf.is_some());
        (is_watched && !r.host.around.routes.is_empty()).then_some(self.next_usage)
    }

    /// Waits for something to do. Returns what is ready: the places above, and then for each interface its frames and its ARP.
    fn wait(&self, signals: &SignalFd) -> Result<Vec<bool>, Error> {
        let now = self.now();
        let r = &self.ready;
        let wait = r
            .host
            .next_deadline()
            .into_iter()
            .chain(self.usage())
            .chain(self.kernel_routes.next(r))
            .chain(r.station.next())
            .chain(r.macfilter.next())
            .chain(r.probe.as_ref().map(Probe::next))
            .chain([self.watch.next()])
            .min()
            .map(|at| TimeSpec::from_duration(std::time::Duration::from_nanos(at.since(now).as_nanos())));
        let read = PollFlags::POLLIN;
        let stdin = std::io::stdin();
        let mut fds = Vec::with_capacity(INTERFACES + 2 * r.attached.len());
        fds.extend([
            PollFd::new(r.tun.fd(), read),
            PollFd::new(r.news.fd(), read),
            PollFd::new(signals.as_fd(), read),
            // Without a control socket, one more look at the signals does no harm.
            PollFd::new(r.control.as_ref().map_or(signals.as_fd(), |(server, _)| server.fd()), read),
            // Its place is kept, so that the others keep theirs.
            PollFd::new(if self.tied { stdin.as_fd() } else { signals.as_fd() }, PollFlags::empty()),
            PollFd::new(r.missing.as_ref().map_or(signals.as_fd(), NeighbourNews::fd), read),
            // Nothing is read from it: what comes is its end.
            PollFd::new(r.undo.fd().unwrap_or(signals.as_fd()), PollFlags::empty()),
            PollFd::new(r.probe.as_ref().map_or(signals.as_fd(), Probe::fd), read),
        ]);
        for (iface, a) in (0..).map(IfaceId).zip(&r.attached) {
            let waits = a.is_up && r.host.node.queued(iface) > 0;
            let frames = if waits { read | PollFlags::POLLOUT } else { read };
            fds.extend([PollFd::new(a.sockets.frames_fd(), frames), PollFd::new(a.sockets.arp_fd(), read)]);
        }
        match ppoll(&mut fds, wait, None) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(e) => return Err(Error::system("wait for packets")(e.into())),
        }
        if fds[TUN].revents().is_some_and(|r| r.contains(PollFlags::POLLERR)) {
            let tun = "somebody removed the TUN interface of this node; start the node again";
            return Err(Error::System(tun.to_owned()));
        }
        Ok(fds.iter().map(|f| f.any().unwrap_or(false)).collect())
    }

    /// Waits for something to do, and does it. Returns whether to go on.
    fn turn(&mut self, signals: &SignalFd) -> Result<bool, Error> {
        let (usage, choice) = (self.usage(), self.kernel_routes.next(&self.ready));
        let ready = self.wait(signals)?;
        let (ready, interfaces) = ready.split_at(INTERFACES);
        if ready[UNDO] {
            return Err(self.ready.undo.is_gone());
        }
        if ready[STDIN] {
            return Ok(false);
        }
        if ready[SIGNALS]
            && let Ok(Some(signal)) = signals.read_signal()
        {
            // A terminal that hangs up ends a node that was started without a file.
            if signal.ssi_signo != Signal::SIGHUP as u32 || self.settings.source.is_none() {
                return Ok(false);
            }
            reload(&mut self.ready, &mut self.settings);
        }
        if ready[NEWS] {
            self.watch.hear(&mut self.ready, &self.settings, &self.kernel_routes)?;
        }
        if let Ready { host, control: Some((server, _)), .. } = &mut self.ready {
            host.around.events.ask(server);
        }
        let now = self.now();
        self.ready.host.at(now);
        self.ignore();
        for (i, interface) in interfaces.chunks(2).enumerate() {
            if interface[0] {
                self.take_fates(i);
            }
            if interface[1] {
                self.take_arp(i);
            }
        }
        let Ready { host, signals: sources, .. } = &mut self.ready;
        for (map, source) in host.signals.iter_mut().zip(sources) {
            if let Some(news) = source.news() {
                *map = news;
            }
        }
        if let Ready { host, missing: Some(news), attached, .. } = &mut self.ready
            && ready[MISSING]
        {
            for (index, neighbour) in news.take() {
                if let Some((iface, _)) = numbered(attached).find(|(_, a)| a.facts.index == index) {
                    host.not_found(iface, neighbour);
                }
            }
        }
        self.carry(ready[TUN], interfaces);
        if usage.is_some_and(|at| at <= self.ready.host.now()) {
            self.report_usage();
        }
        if choice.is_some_and(|at| at <= self.ready.host.now()) {
            self.kernel_routes.choose_again(&mut self.ready);
        }
        self.run_due();
        self.follow_power();
        let go_on = !(ready[CONTROL] && self.take_calls());
        self.flush();
        let now = self.ready.host.now();
        if self.ready.probe.as_mut().is_some_and(|p| (ready[PROBE] || p.next() <= now) && p.turn(now)) {
            self.watch.look_now(now);
        }
        if self.watch.next() <= now {
            let outcome = self.watch.look(&mut self.ready, &self.settings, &self.kernel_routes);
            self.flush();
            outcome?;
        }
        self.keep_record();
        if let Ready { host, control: Some((server, _)), .. } = &mut self.ready {
            host.around.events.publish(server);
        }
        Ok(go_on)
    }

    /// Has what was recorded get into files, now and then.
    fn keep_record(&mut self) {
        if !self.ready.host.around.run.as_ref().is_some_and(Run::is_due) {
            return;
        }
        count(&mut self.ready.host, &self.ready.attached);
        let summary = self.summary(&self.settings);
        let now = self.ready.host.now();
        if let Some(run) = &mut self.ready.host.around.run {
            run.keep_up(now, summary);
        }
    }

    /// Carries frames and packets in and out, in several rounds while there are any.
    fn carry(&mut self, mut packets: bool, interfaces: &[bool]) {
        for round in 0..ROUNDS {
            // Whether frames wait costs nothing to know; whether packets do costs a system call.
            let mut frames = false;
            for (i, interface) in interfaces.chunks(2).enumerate() {
                let some = self.take_frames(i);
                if round == 0 && interface[0] && !some {
                    self.ready.attached[i].sockets.forget_error();
                }
                frames |= some;
            }
            packets = packets && self.take_packets();
            self.flush();
            if !frames && !packets {
                break;
            }
            let now = self.now();
            self.ready.host.at(now);
        }
    }

    /// What is due by the clock.
    fn run_due(&mut self) {
        self.ready.host.run_due();
        if let Some(why) = self.ready.host.around.inputs.as_mut().and_then(|logs| logs.news()) {
            let wrong = format_args!("the log of inputs ends here, the node goes on: {why}");
            self.ready.log.tell(Level::Warning, wrong);
        }
        let Ready { host, station, attached, captures, .. } = &mut self.ready;
        host.around.counters.capture_drops += captures.file.as_ref().map_or(0, Capture::take_lost);
        if station.next().is_some_and(|at| at <= host.now()) {
            count(host, attached);
            station.run_due(host);
        }
    }

    /// Tells the protocol which routes of the kernel were used.
    fn report_usage(&mut self) {
        let Ready { host, attached, .. } = &mut self.ready;
        self.next_usage = host.now() + USAGE_EVERY;
        for passed in attached.iter().filter_map(|a| a.ebpf.as_ref()).flat_map(ForwardingPrograms::take) {
            host.route_used(passed.source, passed.destination, passed.transmitter);
        }
    }

    /// Answers calls. Returns whether one asks the node to end.
    fn take_calls(&mut self) -> bool {
        count(&mut self.ready.host, &self.ready.attached);
        let mut quit = false;
        while let Ready { host, control: Some((server, desk)), captures, attached, macfilter, .. } =
            &mut self.ready
            && let Some(call) = server.next()
        {
            if matches!(call.request, Request::Capture { .. }) {
                captures.begin(call, attached.iter().map(|a| a.name.as_str()));
                continue;
            }
            if let Some(outcome) = links::outcome(&call.request, &self.settings, host, macfilter) {
                self.ignore();
                call.answer(outcome);
                continue;
            }
            quit |= matches!(call.request, Request::Quit {});
            let outcome = desk.outcome(&call.request, host);
            // An outage that was ordered is one when the order is answered.
            self.follow_power();
            call.answer(outcome);
        }
        quit
    }

    /// Has the kernel follow when the node went down or came back.
    fn follow_power(&mut self) {
        let up = self.ready.host.node.is_up();
        if self.is_up == up {
            return;
        }
        self.is_up = up;
        if !up {
            // The routes go before the address that they name.
            self.flush();
        }
        if let Err(e) = switch(&mut self.ready, &self.settings, up) {
            self.ready.log.tell(Level::Warning, e);
        }
        let state = if up { "is back" } else { "is down" };
        self.ready.log.tell(Level::Info, format_args!("the node {state}"));
        if let Some((server, _)) = &self.ready.control {
            server.set_up(NODE, up);
        }
    }

    /// Takes a batch of frames from an interface. Returns whether there were any.
    fn take_frames(&mut self, i: usize) -> bool {
        let Ready { host, attached, captures, macfilter, .. } = &mut self.ready;
        let iface = IfaceId(i as u8);
        let n = attached[i].sockets.receive();
        if n == 0 {
            return false;
        }
        if !host.node.is_up() {
            // The radio is off.
            attached[i].sockets.received();
            return true;
        }
        if let Some(t) = &mut host.timing {
            t.received(n, attached[i].sockets.arrival(0));
        }
        for k in 0..n {
            let frame = attached[i].sockets.frame(k);
            if !frame.own && !macfilter.ignores(frame.bytes) {
                let signal_dbm = host.signal_of(frame.bytes);
                note(captures, host, iface, frame.bytes, signal_dbm);
                host.frame_in(iface, frame.bytes, frame.for_other, signal_dbm);
            }
            if host.is_nearly_full() {
                push_all(host, attached, captures);
            }
        }
        attached[i].sockets.received();
        true
    }

    /// Takes packets of programs. Returns whether there may be more.
    fn take_packets(&mut self) -> bool {
        let Ready { host, attached, tun, captures, .. } = &mut self.ready;
        for _ in 0..BATCH {
            let Some(packet) = tun.receive() else { return false };
            host.packet_in(packet);
            if host.is_nearly_full() {
                push_all(host, attached, captures);
            }
        }
        true
    }

    /// Hears what became of an interface's frames.
    fn take_fates(&mut self, i: usize) {
        let Ready { host, attached, log, .. } = &mut self.ready;
        let iface = IfaceId(i as u8);
        if !host.line(iface).tx_statuses.is_watching() {
            return;
        }
        while let Some((packet, acked)) = attached[i].sockets.tx_status() {
            host.tx_status(iface, packet, acked);
        }
        if let Some(news) = host.line(iface).tx_statuses.news() {
            log.tell(Level::Info, news);
        }
    }

    fn take_arp(&mut self, i: usize) {
        let Ready { host, attached, macfilter, .. } = &mut self.ready;
        let iface = IfaceId(i as u8);
        let kernel_answers = attached[i].closed.is_none();
        let mut take = |frame: &[u8]| {
            if !macfilter.ignores(frame) {
                host.arp_in(iface, frame.get(ETHERNET..).unwrap_or_default(), kernel_answers);
            }
        };
        for _ in 0..BATCH {
            if !attached[i].sockets.receive_arp(&mut take) {
                break;
            }
        }
    }

    /// Carries out what the host has for the world.
    fn flush(&mut self) {
        // Telling the protocol what went may make it send more.
        for _ in 0..ROUNDS {
            let Ready { host, attached, captures, .. } = &mut self.ready;
            push_all(host, attached, captures);
            if host.queued() == 0 {
                break;
            }
        }
        let Ready { host, tun, .. } = &mut self.ready;
        if let Some(t) = &mut host.timing {
            t.end();
        }
        while let Some(p) = host.around.deliveries.pop_front() {
            tun.send(p.bytes());
            host.around.work.pool.recycle(p);
        }
        if !self.ready.host.around.route_changes.is_empty() {
            self.kernel_routes.change(&mut self.ready);
        }
    }

    fn say_why_it_leaves(&mut self, why: &Error) {
        let Ready { host, log, control, .. } = &mut self.ready;
        log.tell(Level::Error, why);
        let now = host.now();
        host.around.events.host(now, "the node", &why.to_string());
        if let Some((server, _)) = control {
            host.around.events.publish(server);
        }
    }

    fn summary(&self, settings: &Settings) -> Summary {
        let seconds = self.begun.elapsed().as_secs_f64();
        let r = &self.ready;
        Summary {
            wayhop: env!("CARGO_PKG_VERSION").into(),
            scenario: format!(
                "{} on {}",
                settings.address,
                settings.config.names().collect::<Vec<_>>().join(", ")
            ),
            seed: r.seed,
            world: "field".into(),
            protocol: settings.protocol.name().into(),
            simulated_s: seconds,
            wall_s: seconds,
            kernel_forwards: r.host.plane == DataPlane::Forwarding,
            outages: r.host.power.summary(r.host.now()),
            totals: r.host.around.counters.totals(),
            time_zero_unix_ns: Some(self.time_zero),
            capture_drops: settings.config.capture.as_ref().map(|_| r.host.around.counters.capture_drops),
            ..Summary::default()
        }
    }
}
