//! The context of an application's handlers.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::echo::EchoRequest;
use super::effect::{ApplicationDatagram, ApplicationEffect};
use super::network::NetworkEffect;
use super::program::{ProgramEffect, ProgramMessage};
use super::row::ApplicationRow;
use super::stream::{StreamEffect, StreamId};
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
    spare: Option<&'a mut Vec<u8>>,
}

impl<'a> ApplicationCx<'a> {
    /// For hosts: a context that appends to `effects`. `addr` is the node's address.
    pub const fn new(
        now: Time,
        addr: IpAddr,
        rng: &'a mut Rng,
        effects: &'a mut Vec<ApplicationEffect>,
    ) -> Self {
        Self { now, addr, rng, effects, spare: None }
    }
    /// For hosts: gives the handler a buffer of a datagram that was sent, for its next one.
    #[must_use]
    pub const fn reusing(mut self, spare: &'a mut Vec<u8>) -> Self {
        self.spare = Some(spare);
        self
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
    /// How many effects the handler has asked for so far.
    pub const fn asked(&self) -> usize {
        self.effects.len()
    }
    /// This many zero octets, for the data of a datagram: in a buffer of the host if it has one, so that a simulation does not allocate
    /// for each packet.
    pub fn zeroed(&mut self, len: usize) -> Vec<u8> {
        let mut data = self.spare.as_deref_mut().map(core::mem::take).unwrap_or_default();
        data.clear();
        data.resize(len, 0);
        data
    }
    /// Listens at a UDP port, from now on.
    pub fn listen(&mut self, port: u16) {
        self.effects.push(ApplicationEffect::Listen(port));
    }
    /// Sends a datagram from a port at which the application listens.
    pub fn send(&mut self, port: u16, to: SocketAddr, data: Vec<u8>) {
        self.send_datagram(ApplicationDatagram { port, to, ttl: TTL, tos: 0, data });
    }
    /// Sends a datagram to the same port of all neighbours, and no further.
    pub fn send_to_neighbours(&mut self, port: u16, data: Vec<u8>) {
        let to = SocketAddr::from((Ipv4Addr::BROADCAST, port));
        self.send_datagram(ApplicationDatagram { port, to, ttl: 1, tos: 0, data });
    }
    /// Sends a datagram with a time to live and a Type of Service of its own.
    pub fn send_datagram(&mut self, datagram: ApplicationDatagram) {
        self.effects.push(ApplicationEffect::Send(datagram));
    }
    /// Sends an ICMP echo request.
    pub fn send_echo_request(&mut self, request: EchoRequest) {
        self.effects.push(ApplicationEffect::EchoRequest(request));
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
    /// Writes a row into a table of the run.
    pub fn row(&mut self, row: ApplicationRow) {
        self.effects.push(ApplicationEffect::Row(row));
    }
    /// Tells people who watch this application.
    pub fn remark(&mut self, text: String) {
        self.effects.push(ApplicationEffect::Remark(text));
    }
    /// Gives up: the host ends the application, and tells why.
    pub fn fail(&mut self, why: String) {
        self.effects.push(ApplicationEffect::Fail(why));
    }

    /// Takes streams to a TCP port, from now on.
    pub fn listen_stream(&mut self, port: u16) {
        self.stream(StreamEffect::Listen(port));
    }
    /// Opens a stream, with a number that the application gives it.
    pub fn connect(&mut self, number: u64, to: SocketAddr) {
        self.stream(StreamEffect::Connect { stream: StreamId::Opened(number), to });
    }
    /// Sends bytes by a stream.
    pub fn write(&mut self, stream: StreamId, data: Vec<u8>) {
        self.stream(StreamEffect::Write { stream, data });
    }
    /// Sends bytes of the pattern by a stream ([`StreamEffect::WritePattern`]).
    pub fn write_pattern(&mut self, stream: StreamId, bytes: u64) {
        self.stream(StreamEffect::WritePattern { stream, bytes });
    }
    /// Closes a stream when all was sent.
    pub fn close(&mut self, stream: StreamId) {
        self.stream(StreamEffect::Close(stream));
    }
    fn stream(&mut self, effect: StreamEffect) {
        self.effects.push(ApplicationEffect::Stream(effect));
    }

    /// Answers a command of a program.
    pub fn answer(&mut self, program: u64, message: ProgramMessage) {
        self.effects.push(ApplicationEffect::Program(ProgramEffect::Answer { program, message }));
    }
    /// Tells a program something that it has not asked for just now.
    pub fn tell(&mut self, program: u64, message: ProgramMessage) {
        self.effects.push(ApplicationEffect::Program(ProgramEffect::Tell { program, message }));
    }
}
