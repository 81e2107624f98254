//! The loop between the clock, the TUNs and the simulation.

use std::io;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use wayhop_control::gpsd;
use wayhop_core::{DropReason, Packet, Span, Time};
use wayhop_netns::{
    Error, Lateness, Launch, ProgramResults, ProgramRunner, Registry, end_inhabitants, kill_inhabitants,
    priority,
};
use wayhop_sim::{Egress, Exit, PowerChange, Simulation};
use wayhop_wire::ip;

use crate::clock::Clock;
use crate::control::Control;
use crate::mesh::{Mesh, Stack};
use crate::tell::Telling;

/// Tokens of what the loop waits for beside the nodes' TUNs.
const TIMER: u64 = u64::MAX;
const WAKE: u64 = u64::MAX - 1;
const CONTROL: u64 = u64::MAX - 2;
/// Packets taken from one TUN before others have their turn.
const PER_TUN: usize = 16;
/// Events run before the TUNs have their turn.
const PER_TURN: u32 = 256;
/// An event as near as this is waited for awake: it takes the kernel as long to wake a process.
const SPIN: Span = Span::from_micros(60);
/// How often `watch` is asked.
const WATCH_EVERY: Span = Span::from_millis(50);
/// A GPS receiver's rate.
const FIX_EVERY: Span = Span::from_secs(1);

/// What an emulation is to do.
pub struct Drive<'a> {
    /// When the run ends, if nothing ends it before.
    pub end: Time,
    /// Programs, each with its time.
    pub plan: Vec<(Time, Launch)>,
    /// Whether the nodes' network stacks send and receive Ethernet frames ([`wayhop_scenario::Resolved::has_taps`]).
    pub has_taps: bool,
    /// The number in `plan` of the program with which the run ends.
    pub main: Option<usize>,
    /// Where the run is known, and what programs are started with.
    pub registry: &'a Registry,
    /// What is reported about the nodes while they run.
    pub telling: &'a mut Telling,
    /// The control socket.
    pub control: &'a mut Control,
    /// Called now and then with the run's time; it may break the run off.
    pub watch: &'a mut dyn FnMut(Time) -> ControlFlow<()>,
}

/// How an emulation ended.
#[derive(Debug)]
pub struct EmulationOutcome {
    /// When its time was zero.
    pub begun: Instant,
    /// Nobody broke it off.
    pub complete: bool,
    /// How late its events were.
    pub lateness: Lateness,
    /// What came of the plan's programs.
    pub programs: ProgramResults,
    /// Packets of programs that were not IP, or not from their node's address.
    pub ignored: u64,
}

/// Drives a simulation on the real clock until its end.
pub fn drive<'a>(
    simulation: &'a mut Simulation,
    mesh: &'a Mesh,
    plan: Drive<'a>,
) -> Result<EmulationOutcome, Error> {
    Driver::new(simulation, mesh, plan)
        .and_then(Driver::run)
        .map_err(|e| Error::system("the emulation stopped", e))
}

struct Driver<'a> {
    simulation: &'a mut Simulation,
    stacks: &'a [Stack],
    drive: Drive<'a>,
    clock: Clock,
    epoll: Epoll,
    timer: TimerFd,
    wake: Arc<EventFd>,
    programs: ProgramRunner<'a>,
    receivers: gpsd::Server,
    next_fix: Time,
    outcome: EmulationOutcome,
    is_over: bool,
}

impl<'a> Driver<'a> {
    fn new(simulation: &'a mut Simulation, mesh: &'a Mesh, mut drive: Drive<'a>) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        let wake = Arc::new(EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?);
        let readable = |token| EpollEvent::new(EpollFlags::EPOLLIN, token);
        epoll.add(&timer, readable(TIMER))?;
        epoll.add(&*wake, readable(WAKE))?;
        epoll.add(drive.control.server.fd(), readable(CONTROL))?;
        for (i, s) in mesh.stacks.iter().enumerate() {
            epoll.add(&s.tun, readable(i as u64))?;
        }
        let wakes = Arc::clone(&wake);
        let programs =
            ProgramRunner::new(std::mem::take(&mut drive.plan), drive.main, drive.registry, move || {
                // A counter that is full wakes just as well.
                let _ = wakes.write(1);
            });
        if drive.has_taps {
            simulation.open_to_frames();
        } else {
            simulation.open();
        }
        let (clock, begun) = (Clock::start(), Instant::now());
        Ok(Self {
            simulation,
            stacks: &mesh.stacks,
            drive,
            clock,
            epoll,
            timer,
            wake,
            programs,
            receivers: mesh.receivers()?,
            next_fix: Time::ZERO,
            outcome: EmulationOutcome {
                begun,
                complete: true,
                lateness: Lateness::default(),
                programs: ProgramResults::default(),
                ignored: 0,
            },
            is_over: false,
        })
    }

    fn run(mut self) -> io::Result<EmulationOutcome> {
        priority::raise();
        let mut events = vec![EpollEvent::empty(); self.stacks.len().min(64) + 2];
        let mut buffer = vec![0; usize::from(u16::MAX)];
        let mut watch_at = Time::ZERO;
        let mut busy = true;
        while !self.is_over {
            let timeout = if busy { EpollTimeout::ZERO } else { self.sleep_until(watch_at)? };
            let n = self.epoll.wait(&mut events, timeout).or_else(ignore_interrupt)?;
            for e in &events[..n] {
                match e.data() {
                    TIMER => drop(self.timer.wait()),
                    WAKE => drop(self.wake.read()),
                    CONTROL => {
                        self.simulation.pass(self.clock.now());
                        self.is_over |= self.drive.control.serve(self.simulation);
                    }
                    node => self.read(node as u32, &mut buffer),
                }
            }
            let (simulation, stacks) = (&self.simulation, self.stacks);
            self.programs.start_due(
                self.clock.now(),
                |node| simulation.is_up(node),
                |node| &stacks[node as usize].namespace,
            );
            let (clock, lateness) = (self.clock, &mut self.outcome.lateness);
            busy = self.simulation.run_due(PER_TURN, || clock.now(), |late| lateness.record(late));
            while let Some(power) = self.simulation.powered() {
                self.power(power)?;
            }
            while let Some(egress) = self.simulation.leave() {
                self.hand_out(egress);
            }
            self.programs.hear_of_ends(self.clock.now());
            self.is_over |= self.programs.results.is_over;
            self.drive.control.publish(self.simulation);
            let now = self.clock.now();
            busy |= self.simulation.next_event().is_some_and(|at| at <= now + SPIN);
            if now >= watch_at {
                watch_at = now + WATCH_EVERY;
                self.tell_positions(now);
                self.drive.telling.at(now, self.simulation);
                self.simulation.keep_up();
                if (self.drive.watch)(now.min(self.drive.end)).is_break() {
                    self.outcome.complete = false;
                    self.is_over = true;
                }
            }
            self.is_over |= now >= self.drive.end;
        }
        priority::lower();
        // The run came as far as its clock, though nothing may have happened for long.
        self.simulation.pass(self.clock.now().min(self.drive.end));
        // The plan's programs, what they started, and what others started there.
        end_inhabitants(&self.stacks.iter().map(|s| &s.namespace).collect::<Vec<_>>());
        self.outcome.programs = self.programs.results;
        Ok(self.outcome)
    }

    /// Sets the timer to whatever comes first.
    fn sleep_until(&mut self, watch_at: Time) -> io::Result<EpollTimeout> {
        let event = self
            .simulation
            .next_event()
            .map(|at| Time::from_nanos(at.as_nanos().saturating_sub(SPIN.as_nanos())));
        let next = [Some(self.drive.end), Some(watch_at), self.programs.next_due(), event]
            .into_iter()
            .flatten()
            .min();
        let at = self.clock.absolute(next.unwrap_or(watch_at));
        self.timer.set(Expiration::OneShot(at), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
        Ok(EpollTimeout::NONE)
    }

    /// Takes packets out of a node's TUN into the simulation, at the moment at which they are read.
    fn read(&mut self, node: u32, buffer: &mut [u8]) {
        let Some(stack) = self.stacks.get(node as usize) else { return };
        for _ in 0..PER_TUN {
            let Ok(n) = stack.tun.recv(buffer) else { break };
            let (now, bytes) = (self.clock.now(), &buffer[..n]);
            let enters = if self.drive.has_taps {
                self.simulation.enter_frame(now, node, bytes)
            } else {
                self.simulation.enter(now, node, bytes)
            };
            self.outcome.ignored += u64::from(!enters);
        }
    }

    /// What left the simulation goes to the network stack of its node.
    fn hand_out(&mut self, egress: Egress) {
        let Egress { node, exit, ref packet, .. } = egress;
        let stack = &self.stacks[node as usize];
        // A full queue or an interface that somebody took down loses packets, as it would anywhere.
        let went = match exit {
            Exit::Deliver | Exit::Frame => stack.tun.send(packet.bytes()).map(drop),
            Exit::Send => send(stack, packet),
            Exit::Refuse(_) => refuse(stack, packet),
        };
        match went {
            Err(e) if exit == Exit::Send && self.drive.has_taps => {
                self.simulation.refuse(egress, reason(&e));
            }
            _ => self.simulation.recycle(egress.packet),
        }
    }

    /// Once a second, each node's GPS receiver tells where it is.
    fn tell_positions(&mut self, now: Time) {
        if now < self.next_fix {
            return;
        }
        self.next_fix = now + FIX_EVERY;
        let time = SystemTime::now();
        let fixes: Vec<_> = (0..self.simulation.nodes()).map(|node| self.simulation.fix(node)).collect();
        self.receivers.set(&fixes, time);
    }

    /// A node went down, or is up again. A reboot ends its programs; those whose time comes meanwhile wait for it.
    fn power(&mut self, power: PowerChange) -> io::Result<()> {
        let PowerChange { node, on, lost } = power;
        let stack = &self.stacks[node as usize];
        stack.set_up(on)?;
        self.drive.control.power(power);
        if !on && lost {
            self.programs.node_down(node);
            kill_inhabitants(&stack.namespace, None)?;
        }
        if on {
            self.programs.node_up(node, &stack.namespace);
        }
        Ok(())
    }
}

/// The program that sent a packet hears that it found no way (RFC 3561 section 6.3).
fn refuse(stack: &Stack, packet: &Packet) -> io::Result<()> {
    let ip = ip::Packet::new_checked(packet.bytes()).map_err(io::Error::other)?;
    let answer = match ip.src.ip() {
        IpAddr::V4(own) => wayhop_wire::unreachable_for(packet.bytes(), own),
        IpAddr::V6(own) => wayhop_wire::unreachable6_for(packet.bytes(), own),
    };
    match answer {
        Some(answer) => stack.tun.send(&answer).map(drop),
        None => Ok(()),
    }
}

/// A flow's packet goes the way of a program's.
fn send(stack: &Stack, packet: &Packet) -> io::Result<()> {
    let ip = ip::Packet::new_checked(packet.bytes()).map_err(io::Error::other)?;
    stack.send(packet.bytes(), ip.dst.ip())
}

/// Why a network stack did not send a packet, by its answer to `sendto` (ip(7), packet(7)).
fn reason(e: &io::Error) -> DropReason {
    match e.raw_os_error().map(nix::Error::from_raw) {
        Some(nix::Error::ENOBUFS | nix::Error::ENOMEM | nix::Error::EAGAIN) => DropReason::QueueFull,
        Some(nix::Error::EMSGSIZE) => DropReason::TooLong,
        Some(nix::Error::EPERM | nix::Error::EACCES) => DropReason::Policy,
        Some(nix::Error::ENETDOWN) => DropReason::NodeDown,
        Some(nix::Error::EINVAL) => DropReason::Malformed,
        // ENETUNREACH, EHOSTUNREACH, and whatever else keeps a packet from a way.
        _ => DropReason::NoRoute,
    }
}

fn ignore_interrupt(e: nix::Error) -> nix::Result<usize> {
    if e == nix::Error::EINTR { Ok(0) } else { Err(e) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_a_network_stack_refuses_has_its_reason() {
        for (error, expected) in [
            (nix::Error::ENETUNREACH, DropReason::NoRoute),
            (nix::Error::EHOSTUNREACH, DropReason::NoRoute),
            (nix::Error::ENOBUFS, DropReason::QueueFull),
            (nix::Error::EAGAIN, DropReason::QueueFull),
            (nix::Error::EMSGSIZE, DropReason::TooLong),
            (nix::Error::EPERM, DropReason::Policy),
            (nix::Error::ENETDOWN, DropReason::NodeDown),
        ] {
            assert_eq!(reason(&io::Error::from(error)), expected, "{error}");
        }
        assert_eq!(reason(&io::Error::other("not IP")), DropReason::NoRoute);
    }
}
