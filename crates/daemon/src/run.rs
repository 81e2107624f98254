//! The event loop.

use std::io::ErrorKind;
use std::os::fd::AsFd as _;
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use wayhop_core::{Frame, LinkChange as Link, Payload, Span, Time, TxStatus};
use wayhop_linux::Error;
use wayhop_linux::ebpf::ForwardingPrograms;
use wayhop_linux::netlink::{LinkChange, NeighbourNews};
use wayhop_linux::packet_socket::PacketSockets;
use wayhop_linux::syscalls::BATCH;
use wayhop_trace::{Direction, Summary};

use crate::capture::Capture;
use crate::config::Settings;
use crate::host::Host;
use crate::log::Level;
use crate::reload::reload;
use crate::remade::take_over;
use crate::run_dir::Run;
use crate::setup::{Ready, set_up};
use crate::signals::Signals;

/// Turns of work between two looks at everything else, when there is always more.
const ROUNDS: usize = 4;

/// How a node ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What it counted.
    pub summary: Summary,
}

/// Runs a node until a signal ends it or, if it is `tied`, its standard input does.
pub fn run(settings: &Settings, tied: bool) -> Result<Outcome, Error> {
    let signals = signals()?;
    let mut node = Node {
        begun: Instant::now(),
        settings: settings.clone(),
        up: true,
        is_gone: false,
        tied,
        next_usage: Time::ZERO,
        ready: set_up(settings)?,
    };
    let r = &node.ready;
    for remark in &settings.remarks {
        r.log.tell(Level::Info, remark);
    }
    r.log.tell(
        Level::Info,
        format_args!(
            "{} at {}/{} on {} ({}), programs use {}",
            settings.protocol.name(),
            settings.address,
            settings.prefix_len,
            settings.config.interface,
            r.interface.mac,
            settings.config.tun,
        ),
    );
    let interface = &settings.config.interface;
    if !wayhop_linux::interface::is_up(interface) {
        let wrong = format_args!(
            "{interface} is down: nothing goes by it until it is up: ip link set {interface} up"
        );
        r.log.tell(Level::Warning, wrong);
        node.up = false;
        node.ready.host.link(Link::Down);
    }
    let now = node.now();
    node.ready.host.at(now);
    node.flush();
    while node.turn(&signals)? {}
    node.ready.log.tell(Level::Info, "ends");
    count(&mut node.ready.host, &node.ready.link);
    node.ready.station.end(&node.ready.host);
    if let Some(wrong) = node.ready.capture.take().and_then(Capture::end) {
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
    Ok(Outcome { summary })
}

/// The signals that end a node, as something to wait for.
fn signals() -> Result<SignalFd, Error> {
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
    settings: Settings,
    /// Whether the interface is up.
    up: bool,
    /// Whether there is none any more.
    is_gone: bool,
    tied: bool,
    /// When to ask which routes were used.
    next_usage: Time,
    ready: Ready,
}

/// What ended a wait.
struct Wakers {
    /// From programs of this host.
    packets: bool,
    /// From the interface, or what became of frames.
    frames: bool,
    arp: bool,
    /// News of interfaces.
    interfaces: bool,
    signal: bool,
    /// On the control socket.
    calls: bool,
    /// Whoever started the node closed its standard input.
    parent_gone: bool,
    /// Neighbours that the kernel does not find.
    missing: bool,
}

/// How often to ask which routes were used, while there are any.
const USAGE_EVERY: Span = Span::from_millis(100);

impl Node {
    fn now(&self) -> Time {
        Time::from_nanos(self.begun.elapsed().as_nanos() as u64)
    }

    /// Waits for something to do, and does it. Returns whether to go on.
    fn turn(&mut self, signals: &SignalFd) -> Result<bool, Error> {
        let r = &self.ready;
        let usage = (r.ebpf.is_some() && !r.host.around.routes.is_empty()).then_some(self.next_usage);
        let wakers = self.wait(signals, usage)?;
        if wakers.parent_gone {
            return Ok(false);
        }
        if wakers.signal
            && let Ok(Some(signal)) = signals.read_signal()
        {
            // A terminal that hangs up ends a node that was started without a file.
            if signal.ssi_signo != Signal::SIGHUP as u32 || self.settings.source.is_none() {
                return Ok(false);
            }
            reload(&mut self.ready, &mut self.settings);
        }
        if wakers.interfaces {
            self.interface_news();
        }
        if let Ready { host, control: Some((server, _)), .. } = &mut self.ready {
            host.around.events.ask(server);
        }
        let now = self.now();
        self.ready.host.at(now);
        if wakers.frames {
            self.take_fates();
        }
        if let Some(map) = self.ready.signals.as_mut().and_then(Signals::news) {
            self.ready.host.signals = map;
        }
        if wakers.arp {
            self.take_arp();
        }
        if let Ready { host, missing: Some(news), interface, .. } = &mut self.ready
            && wakers.missing
        {
            news.take(interface.index).into_iter().for_each(|n| host.not_found(n));
        }
        self.carry(&wakers);
        if usage.is_some_and(|at| at <= self.ready.host.now()) {
            self.report_usage();
        }
        self.run_due();
        let go_on = !(wakers.calls && self.take_calls());
        self.flush();
        if let Ready { host, control: Some((server, _)), .. } = &mut self.ready {
            host.around.events.publish(server);
        }
        Ok(go_on)
    }

    /// Waits until something is to be read, or due; `usage` is when to ask which routes were used.
    fn wait(&self, signals: &SignalFd, usage: Option<Time>) -> Result<Wakers, Error> {
        let now = self.now();
        let r = &self.ready;
        let wait = r
            .host
            .next_deadline()
            .into_iter()
            .chain(usage)
            .chain(r.station.next())
            .min()
            .map(|at| TimeSpec::from_duration(std::time::Duration::from_nanos(at.since(now).as_nanos())));
        let read = PollFlags::POLLIN;
        let frames = if r.host.queued() > 0 && self.up { read | PollFlags::POLLOUT } else { read };
        let mut fds = [
            PollFd::new(r.tun.fd(), read),
            PollFd::new(r.link.frames_fd(), frames),
            PollFd::new(r.link.arp_fd(), read),
            PollFd::new(r.news.fd(), read),
            PollFd::new(signals.as_fd(), read),
            // Without a control socket, one more look at the signals does no harm.
            PollFd::new(r.control.as_ref().map_or(signals.as_fd(), |(server, _)| server.fd()), read),
            PollFd::new(signals.as_fd(), PollFlags::empty()),
            PollFd::new(r.missing.as_ref().map_or(signals.as_fd(), NeighbourNews::fd), read),
        ];
        let stdin = std::io::stdin();
        if self.tied {
            // Its place is kept free, so that the others keep theirs.
            fds[6] = PollFd::new(stdin.as_fd(), PollFlags::empty());
        }
        match ppoll(&mut fds, wait, None) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(e) => return Err(Error::system("wait for packets")(e.into())),
        }
        if fds[0].revents().is_some_and(|r| r.contains(PollFlags::POLLERR)) {
            let tun = "somebody removed the TUN interface of this node; start the node again";
            return Err(Error::System(tun.to_owned()));
        }
        let [packets, frames, arp, interfaces, signal, calls, parent_gone, missing] =
            fds.map(|f| f.any().unwrap_or(false));
        Ok(Wakers { packets, frames, arp, interfaces, signal, calls, parent_gone, missing })
    }

    /// Carries frames and packets in and out, in several rounds while there are any.
    fn carry(&mut self, wakers: &Wakers) {
        let mut packets = wakers.packets;
        for round in 0..ROUNDS {
            // Whether frames wait costs nothing to know; whether packets do costs a system call.
            let frames = self.take_frames();
            if round == 0 && wakers.frames && !frames {
                self.ready.link.forget_error();
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
        let Ready { host, station, link, capture, .. } = &mut self.ready;
        host.around.counters.capture_drops += capture.as_ref().map_or(0, Capture::take_lost);
        if station.next().is_some_and(|at| at <= host.now()) {
            count(host, link);
            station.run_due(host);
        }
    }

    /// Tells the protocol which routes of the kernel were used.
    fn report_usage(&mut self) {
        let Ready { host, ebpf, .. } = &mut self.ready;
        self.next_usage = host.now() + USAGE_EVERY;
        for passed in ebpf.iter().flat_map(ForwardingPrograms::take) {
            host.route_used(passed.source, passed.destination, passed.transmitter);
        }
    }

    /// Answers calls. Returns whether one asks the node to end.
    fn take_calls(&mut self) -> bool {
        let Ready { host, control, link, .. } = &mut self.ready;
        count(host, link);
        let Some((server, desk)) = control else { return false };
        let mut quit = false;
        while let Some(call) = server.next() {
            quit |= desk.answer(call, host);
        }
        quit
    }

    /// Takes a batch of frames from the interface. Returns whether there were any.
    fn take_frames(&mut self) -> bool {
        let Ready { host, link, capture, .. } = &mut self.ready;
        let n = link.receive();
        if n == 0 {
            return false;
        }
        if let Some(t) = &mut host.timing {
            t.received(n, link.arrival(0));
        }
        for i in 0..n {
            let frame = link.frame(i);
            if !frame.own {
                let signal_dbm = host.signal_of(frame.bytes);
                note(capture.as_ref(), host, frame.bytes, Direction::Rx, signal_dbm);
                host.frame_in(frame.bytes, frame.for_other, signal_dbm);
            }
            if host.is_nearly_full() {
                push(host, link, capture.as_ref());
            }
        }
        link.received();
        true
    }

    /// Takes packets of programs. Returns whether there may be more.
    fn take_packets(&mut self) -> bool {
        let Ready { host, link, tun, capture, .. } = &mut self.ready;
        for _ in 0..BATCH {
            let Some(packet) = tun.receive() else { return false };
            host.packet_in(packet);
            if host.is_nearly_full() {
                push(host, link, capture.as_ref());
            }
        }
        true
    }

    /// Hears what became of frames.
    fn take_fates(&mut self) {
        let Ready { host, link, log, .. } = &mut self.ready;
        if !host.tx_statuses.is_watching() {
            return;
        }
        while let Some((packet, acked)) = link.tx_status() {
            host.tx_status(packet, acked);
        }
        if let Some(news) = host.tx_statuses.news() {
            log.tell(Level::Info, news);
        }
    }

    fn take_arp(&mut self) {
        let Ready { host, link, .. } = &mut self.ready;
        for _ in 0..BATCH {
            if !link.receive_arp(|addr, mac| host.learn(addr, mac)) {
                break;
            }
        }
    }

    /// Carries out what the host has for the world.
    fn flush(&mut self) {
        // Telling the protocol what went may make it send more.
        for _ in 0..ROUNDS {
            let Ready { host, link, capture, .. } = &mut self.ready;
            push(host, link, capture.as_ref());
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
            self.change_routes();
        }
    }

    fn change_routes(&mut self) {
        let Ready { host, netlink, interface, log, .. } = &mut self.ready;
        for change in host.around.route_changes.drain(..) {
            let outcome = match change {
                Ok(r) => {
                    log.tell(Level::Debug, format_args!("route to {} by {}", r.destination, r.next_hop));
                    let (to, by) = (r.destination.addr.v4_or_unspecified(), r.next_hop.v4_or_unspecified());
                    netlink.install(to, by, interface.index, host.around.addr)
                }
                Err(destination) => {
                    log.tell(Level::Debug, format_args!("no route to {destination} any more"));
                    netlink.remove(destination.addr.v4_or_unspecified(), interface.index)
                }
            };
            if let Err(e) = outcome
                && self.up
                && e.raw_os_error() != Some(nix::libc::ESRCH)
            {
                log.tell(Level::Warning, format_args!("the kernel refuses a change of routes: {e}"));
            }
        }
    }

    /// The interface went down, came up, or is another one now.
    fn interface_news(&mut self) {
        let r = &mut self.ready;
        for change in r.news.take() {
            match change {
                LinkChange::Up(index, name, up)
                    if self.is_gone
                        && index != r.interface.index
                        && name == self.settings.config.interface =>
                {
                    // With trouble: the next change of the interface is a new occasion.
                    match take_over(r, &self.settings) {
                        Ok(()) => {
                            (self.up, self.is_gone) = (up, false);
                            if up {
                                r.host.link(Link::Up);
                            }
                            r.log.tell(Level::Info, "the interface is back");
                        }
                        Err(e) => r.log.tell(Level::Warning, e),
                    }
                }
                LinkChange::Up(index, _, up) if index == r.interface.index && up != self.up => {
                    self.up = up;
                    r.log.tell(Level::Info, if up { "the interface is up" } else { "the interface is down" });
                    if up {
                        // The kernel forgot the routes by it.
                        r.host.around.renew_routes();
                    }
                    r.host.link(if up { Link::Up } else { Link::Down });
                }
                LinkChange::Gone(index) if index == r.interface.index && !self.is_gone => {
                    if self.up {
                        r.host.link(Link::Down);
                    }
                    (self.up, self.is_gone) = (false, true);
                    r.log.tell(Level::Warning, "the interface is gone: waiting for one of its name");
                }
                _ => {}
            }
        }
    }

    fn summary(&self, settings: &Settings) -> Summary {
        let seconds = self.begun.elapsed().as_secs_f64();
        let r = &self.ready;
        Summary {
            wayhop: env!("CARGO_PKG_VERSION").into(),
            scenario: format!("{} on {}", settings.address, settings.config.interface),
            seed: r.seed,
            world: "field".into(),
            protocol: settings.protocol.name().into(),
            simulated_s: seconds,
            wall_s: seconds,
            totals: r.host.around.counters.totals(),
            capture_drops: settings.config.capture.as_ref().map(|_| r.host.around.counters.capture_drops),
            ..Summary::default()
        }
    }
}

/// Takes over what others have counted.
fn count(host: &mut Host, link: &PacketSockets) {
    host.around.counters.missed_frames += link.missed();
    host.around.counters.lost_rows = host.around.run.as_ref().map_or(0, Run::lost);
}

/// Keeps a frame in the capture, if there is one.
fn note(capture: Option<&Capture>, host: &mut Host, frame: &[u8], direction: Direction, signal_dbm: f32) {
    if capture.is_some_and(|c| !c.frame([frame, &[]], direction, signal_dbm)) {
        host.around.counters.capture_drops += 1;
    }
}

/// Sends what waits for the interface. What the node hears of it comes after all of it.
fn push(host: &mut Host, link: &mut PacketSockets, capture: Option<&Capture>) {
    let mut ended: Vec<(Frame, TxStatus)> = Vec::new();
    while host.queued() > 0 {
        if let Some(t) = &mut host.timing {
            t.sending();
        }
        let headers: Vec<_> = host.frames().take(BATCH).map(|(header, _)| header).collect();
        let frames = headers.iter().zip(host.frames()).map(|(h, (_, f))| [&h[..], f.packet.bytes()]);
        match link.send(frames) {
            Ok(n) => {
                if let Some(t) = &mut host.timing {
                    t.sent(n);
                }
                if let Some(c) = capture {
                    let taken = host.frames().take(n).filter(|(_, f)| f.payload == Payload::Ip);
                    let lost =
                        taken.filter(|(h, f)| !c.frame([h, f.packet.bytes()], Direction::Tx, f32::NAN));
                    let lost = lost.count() as u64;
                    host.around.counters.capture_drops += lost;
                }
                ended.extend((0..n).filter_map(|_| host.sent()));
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => break,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            // It has no room for it, or is down.
            Err(_) => ended.extend(host.refused()),
        }
    }
    for (frame, status) in ended {
        host.finished(frame, status);
    }
}
