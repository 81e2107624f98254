//! The event loop.

use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use wayhop_control::Request;
use wayhop_core::{DataPlane, Span, Time};
use wayhop_linux::Error;
use wayhop_linux::syscalls::BATCH;
use wayhop_trace::Summary;

use crate::config::number::NODE;
use crate::config::settings::Settings;
use crate::control::{desk, links};
use crate::gateway::probe::Probe;
use crate::gateway::router::Router;
use crate::node::clock::NodeClock;
use crate::record::capture::Capture;
use crate::record::run_dir::RunRecord;
use crate::run::poll::{Readiness, wait};
use crate::run::reload::reload;
use crate::run::rooms::Rooms;
use crate::run::watch::HostWatch;

/// Turns of work between two looks at everything else, when there is always more.
const ROUNDS: usize = 4;
/// How often to ask which routes were used, while there are any.
const USAGE_EVERY: Span = Span::from_millis(100);

/// A node at work.
pub(crate) struct EventLoop {
    settings: Settings,
    seed: u64,
    clock: NodeClock,
    /// The time of the day when it began, nanoseconds since 1970.
    time_zero: u64,
    tied: bool,
    /// Whether the kernel has the node up.
    is_up: bool,
    /// When to ask which routes were used.
    next_usage: Time,
    watch: HostWatch,
    pub(crate) rooms: Rooms,
}

impl EventLoop {
    /// The clock began with the node, at that time of the day, nanoseconds since 1970.
    pub(crate) fn new(
        settings: Settings,
        seed: u64,
        (clock, time_zero): (NodeClock, u64),
        tied: bool,
        rooms: Rooms,
        watch: HostWatch,
    ) -> Self {
        let (is_up, next_usage) = (true, Time::ZERO);
        Self { settings, seed, clock, time_zero, tied, is_up, next_usage, watch, rooms }
    }

    /// Works until somebody ends the node, or it leaves the mesh by itself: then it says why.
    pub(crate) fn run(&mut self, signals: &SignalFd) -> Option<Error> {
        let now = self.clock.now();
        self.rooms.host.at(now);
        self.ignore();
        self.flush();
        self.keep_record();
        loop {
            match self.turn(signals) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(e) => return Some(e),
            }
        }
    }

    /// Ignores whom the macfilter says from now on.
    fn ignore(&mut self) {
        let Rooms { host, interfaces, log, .. } = &mut self.rooms;
        interfaces.ignore(host, log);
    }

    /// When to ask which routes were used.
    fn usage(&self) -> Option<Time> {
        let Rooms { host, interfaces, .. } = &self.rooms;
        (interfaces.are_watched() && !host.around.routes.is_empty()).then_some(self.next_usage)
    }

    /// When something is due.
    fn next_deadline(&self) -> Option<Time> {
        let Rooms { host, kernel, interfaces, router, record, .. } = &self.rooms;
        host.next_deadline()
            .into_iter()
            .chain(self.usage())
            .chain(kernel.routes.next(host))
            .chain(record.telemetry.next())
            .chain(interfaces.macfilter.next())
            .chain(router.as_ref().and_then(Router::next))
            .chain([self.watch.next])
            .min()
    }

    /// Waits for something to do, and does it. Returns whether to go on.
    fn turn(&mut self, signals: &SignalFd) -> Result<bool, Error> {
        let (usage, choice) = (self.usage(), self.rooms.kernel.routes.next(&self.rooms.host));
        let now = self.clock.now();
        let limit = self.next_deadline().map(|at| at.since(now));
        let ready = wait(&self.rooms, &self.watch, signals, self.tied, limit)?;
        if ready.stdin {
            return Ok(false);
        }
        if ready.undo {
            return Err(self.rooms.undo.is_gone());
        }
        if ready.signals
            && let Ok(Some(signal)) = signals.read_signal()
        {
            // A terminal that hangs up ends a node that was started without a file.
            if signal.ssi_signo != Signal::SIGHUP as u32 || self.settings.source.is_none() {
                return Ok(false);
            }
            reload(&mut self.rooms, &mut self.settings);
        }
        if ready.news {
            self.watch.hear(&mut self.rooms)?;
        }
        if let Rooms { host, control: Some((server, _)), .. } = &mut self.rooms {
            host.around.events.ask(server);
        }
        let now = self.clock.now();
        self.rooms.host.at(now);
        self.ignore();
        self.take_news(&ready);
        self.carry(ready.tun, &ready.interfaces);
        if usage.is_some_and(|at| at <= self.rooms.host.now()) {
            let Rooms { host, interfaces, .. } = &mut self.rooms;
            self.next_usage = host.now() + USAGE_EVERY;
            interfaces.report_usage(host);
        }
        if choice.is_some_and(|at| at <= self.rooms.host.now()) {
            let Rooms { host, kernel, interfaces, .. } = &mut self.rooms;
            kernel.routes.choose_again(host, &interfaces.all);
        }
        self.run_due();
        self.follow_power();
        let go_on = !(ready.control && self.take_calls());
        self.flush();
        self.watch(&ready)?;
        self.keep_record();
        if let Rooms { host, control: Some((server, _)), .. } = &mut self.rooms {
            host.around.events.publish(server);
        }
        Ok(go_on)
    }

    /// What the interfaces tell besides frames.
    fn take_news(&mut self, ready: &Readiness) {
        let Rooms { host, interfaces, log, .. } = &mut self.rooms;
        for (i, [has_frames, has_arp]) in ready.interfaces.iter().enumerate() {
            if *has_frames {
                interfaces.take_fates(i, host, log);
            }
            if *has_arp {
                interfaces.take_arp(i, host);
            }
        }
        interfaces.take_signals(host);
        if ready.missing {
            interfaces.take_missing(host);
        }
    }

    /// Looks whether the host is as the node made it, if that is due.
    fn watch(&mut self, ready: &Readiness) -> Result<(), Error> {
        let now = self.rooms.host.now();
        let probe = self.rooms.router.as_mut().and_then(|r| r.probe.as_mut());
        if probe.is_some_and(|p: &mut Probe| (ready.probe || p.next() <= now) && p.turn(now)) {
            self.watch.look_now(now);
        }
        if self.watch.next > now {
            return Ok(());
        }
        let outcome = self.watch.look(&mut self.rooms);
        self.flush();
        outcome
    }

    /// Has what was recorded get into files, now and then.
    fn keep_record(&mut self) {
        let Rooms { host, interfaces, .. } = &mut self.rooms;
        if !host.around.run.as_ref().is_some_and(RunRecord::is_due) {
            return;
        }
        interfaces.count(host);
        let summary = self.summary(&self.settings);
        let host = &mut self.rooms.host;
        let now = host.now();
        if let Some(run) = &mut host.around.run {
            run.keep_up(now, summary);
        }
    }

    /// Carries frames and packets in and out, in several rounds while there are any.
    fn carry(&mut self, mut packets: bool, interfaces: &[[bool; 2]]) {
        for round in 0..ROUNDS {
            // Whether frames wait costs nothing to know; whether packets do costs a system call.
            let mut frames = false;
            for (i, [has_frames, _]) in interfaces.iter().enumerate() {
                let Rooms { host, interfaces, record, .. } = &mut self.rooms;
                let some = interfaces.take_frames(i, host, &mut record.captures, self.clock);
                if round == 0 && *has_frames && !some {
                    interfaces.all[i].sockets.forget_error();
                }
                frames |= some;
            }
            packets = packets && self.take_packets();
            self.flush();
            if !frames && !packets {
                break;
            }
        }
    }

    /// What is due by the clock.
    fn run_due(&mut self) {
        let Rooms { host, interfaces, record, log, .. } = &mut self.rooms;
        host.run_due();
        if let Some(why) = host.around.inputs.as_mut().and_then(|logs| logs.news()) {
            log.warning(format_args!("the log of inputs ends here; the node continues: {why}"));
        }
        host.around.counters.capture_drops += record.captures.file.as_ref().map_or(0, Capture::take_lost);
        if record.telemetry.next().is_some_and(|at| at <= host.now()) {
            interfaces.count(host);
            record.telemetry.run_due(host);
        }
    }

    /// Answers calls. Returns whether one asks the node to end.
    fn take_calls(&mut self) -> bool {
        let Rooms { host, interfaces, .. } = &mut self.rooms;
        interfaces.count(host);
        let mut quit = false;
        while let Rooms { host, control: Some((server, name)), record, interfaces, log, .. } = &mut self.rooms
            && let Some(call) = server.next()
        {
            if matches!(call.request, Request::Capture { .. }) {
                record.captures.begin(call, interfaces.all.iter().map(|a| a.name.as_str()));
                continue;
            }
            if let Some(outcome) = links::outcome(&call.request, host, &mut interfaces.macfilter) {
                interfaces.ignore(host, log);
                call.answer(outcome);
                continue;
            }
            quit |= matches!(call.request, Request::Quit {});
            let outcome = desk::outcome(name, &call.request, host);
            // An outage that was ordered is one when the order is answered.
            self.follow_power();
            call.answer(outcome);
        }
        quit
    }

    /// Has the kernel follow when the node went down or came back.
    fn follow_power(&mut self) {
        let up = self.rooms.host.node.is_up();
        if self.is_up == up {
            return;
        }
        self.is_up = up;
        if !up {
            // The routes go before the address that they name.
            self.flush();
        }
        let Rooms { kernel, interfaces, control, log, .. } = &mut self.rooms;
        if let Err(e) = kernel.switch(&interfaces.all, up) {
            log.warning(e);
        }
        let state = if up { "is back" } else { "is down" };
        log.info(format_args!("the node {state}"));
        if let Some((server, _)) = control {
            server.set_up(NODE, up);
        }
    }

    /// Takes packets of programs. Returns whether there may be more.
    fn take_packets(&mut self) -> bool {
        let Rooms { host, kernel, interfaces, record, .. } = &mut self.rooms;
        for _ in 0..BATCH {
            let Some(packet) = kernel.tun.receive() else { return false };
            // A program may have sent it since the turn began.
            host.at(self.clock.now());
            host.packet_in(packet);
            if host.is_nearly_full() {
                interfaces.push_all(host, &mut record.captures);
            }
        }
        true
    }

    /// Carries out what the host has for the world.
    fn flush(&mut self) {
        let Rooms { host, kernel, interfaces, record, log, .. } = &mut self.rooms;
        // Telling the protocol what went may make it send more.
        for _ in 0..ROUNDS {
            interfaces.push_all(host, &mut record.captures);
            if host.queued() == 0 {
                break;
            }
        }
        if let Some(t) = &mut host.timing {
            t.end();
        }
        while let Some(p) = host.around.deliveries.pop_front() {
            kernel.tun.send(p.bytes());
            host.around.work.pool.recycle(p);
        }
        if !host.around.route_changes.is_empty() {
            kernel.routes.change(host, (&mut kernel.netlink, kernel.outside), &interfaces.all, log);
        }
    }

    pub(crate) fn say_why_it_leaves(&mut self, why: &Error) {
        let Rooms { host, log, control, .. } = &mut self.rooms;
        log.error(why);
        let now = host.now();
        host.around.events.host(now, "the node", &why.to_string());
        if let Some((server, _)) = control {
            host.around.events.publish(server);
        }
    }

    pub(crate) fn summary(&self, settings: &Settings) -> Summary {
        let seconds = self.clock.now().as_secs_f64();
        let host = &self.rooms.host;
        Summary {
            wayhop: wayhop_core::version::full().into(),
            scenario: format!(
                "{} on {}",
                settings.address,
                settings.config.names().collect::<Vec<_>>().join(", ")
            ),
            seed: self.seed,
            world: "field".into(),
            protocol: settings.protocol.name().into(),
            simulated_s: seconds,
            wall_s: seconds,
            kernel_forwards: host.plane == DataPlane::Forwarding,
            outages: host.power.summary(host.now()),
            totals: host.around.counters.totals(),
            time_zero_unix_ns: Some(self.time_zero),
            capture_drops: settings.config.capture.as_ref().map(|_| host.around.counters.capture_drops),
            ..Summary::default()
        }
    }
}
