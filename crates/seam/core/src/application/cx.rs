//! What a handler of an application sees of its node.

use core::net::{IpAddr, SocketAddr};

use super::effect::{ApplicationDatagram, ApplicationEffect};
use super::network::NetworkEffect;
use crate::{Addr, Rng, Time, TimerKey, TraceNote};

/// The time to live of datagrams that ask for none.
const TTL: u8 = 64;

/// The node's side of one handler call: the time, the node's addresses, a random stream, and a list to which the handler appends its
/// [`ApplicationEffect`]s.
pub struct ApplicationCx<'a> {
    now: Time,
    addr: IpAddr,
    rng: &'a mut Rng,
    effects: &'a mut Vec<ApplicationEffect>,
}

impl<'a> ApplicationCx<'a> {
    /// For hosts: a context that appends to `effects`. `addr` is the node's address.
    pub const fn new(
        now: Time,
        addr: IpAddr,
        rng: &'a mut Rng,
        effects: &'a mut Vec<ApplicationEffect>,
    ) -> Self {
        Self { now, addr, rng, effects }
    }

    /// The time, from the start of the run.
    pub const fn now(&self) -> Time {
        self.now
    }
    /// The node's address.
    pub const fn addr(&self) -> IpAddr {
        self.addr
    }
    /// This application's random stream.
    pub const fn rng(&mut self) -> &mut Rng {
        self.rng
    }
    /// Listens at a UDP port, from now on.
    pub fn listen(&mut self, port: u16) {
        self.effects.push(ApplicationEffect::Listen(port));
    }
    /// Sends a datagram from a port at which the application listens.
    pub fn send(&mut self, port: u16, to: SocketAddr, data: Vec<u8>) {
        self.effects.push(ApplicationEffect::Send(ApplicationDatagram { port, to, ttl: TTL, data }));
    }
    /// Sets or moves a timer. A time in the past means now.
    pub fn set_timer(&mut self, key: TimerKey, at: Time) {
        self.effects.push(ApplicationEffect::SetTimer(key, at));
    }
    /// Forgets a timer.
    pub fn clear_timer(&mut self, key: TimerKey) {
        self.effects.push(ApplicationEffect::ClearTimer(key));
    }
    /// Writes a remark into the run's table `events`.
    pub fn note(&mut self, what: &'static str, about: impl Into<Addr>, value: u64) {
        self.effects.push(ApplicationEffect::Note(TraceNote { what, about: about.into(), value }));
    }
    /// Has the host's network layer do something.
    pub fn network(&mut self, effect: NetworkEffect) {
        self.effects.push(ApplicationEffect::Network(effect));
    }
}
