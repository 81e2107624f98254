//! A flow's connection: its two ends.

use std::net::Ipv6Addr;

use wayhop_core::{Addr, Rng, Span, Time};

use super::config::TcpConfig;
use super::endpoint::{Endpoint, Identity, Io};
use crate::FlowConfig;

/// Which end of a connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum End {
    /// The flow's source, which opens the connection.
    Client,
    /// The flow's destination.
    Server,
}

impl End {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Client, Self::Server];
}

/// Both ends of a TCP flow. Each knows what segments tell it and nothing else of the other; they are together because a
/// flow's packets are numbered together, and its initial sequence numbers agreed where there is no handshake.
///
/// Every call may make segments, which the host takes from [`Io::out`] and gives to the end's node, and may move the
/// end's [`Connection::deadline`], at which the host calls [`Connection::on_timer`].
pub struct Connection {
    ends: [Endpoint; 2],
    /// The number of the next packet of the flow.
    number: u32,
}

impl Connection {
    /// The connection of the flow with this index, between these addresses.
    pub fn new(
        flow: u32,
        config: &FlowConfig,
        tcp: TcpConfig,
        addrs: (impl Into<Addr>, impl Into<Addr>),
        rng: &mut Rng,
    ) -> Self {
        let tick = tcp.rto.tick.unwrap_or(Span::from_nanos(1));
        let numbers = (rng.bits() as u32, rng.bits() as u32);
        let addrs = (addrs.0.into(), addrs.1.into());
        let mut end = |client: bool| {
            let (from, to) = if client { addrs } else { (addrs.1, addrs.0) };
            let (port, peer_port) =
                if client { (config.src_port, config.dst_port) } else { (config.dst_port, config.src_port) };
            let id = Identity { flow, addr: from, peer: to, port, peer_port, tos: config.tos, client };
            let own = if client { numbers } else { (numbers.1, numbers.0) };
            Endpoint::new(tcp, id, own, rng.jitter(tick), config.stop)
        };
        Self { ends: [end(true), end(false)], number: 0 }
    }

    /// The client begins.
    pub fn start(&mut self, io: &mut Io<'_>) {
        self.ends[0].start(io, &mut self.number);
    }
    /// A packet was delivered to the node of this end. False if it is no segment of this connection, or broken.
    pub fn on_packet(&mut self, end: End, io: &mut Io<'_>, packet: &[u8]) -> bool {
        self.ends[end as usize].on_packet(io, &mut self.number, packet)
    }
    /// An ICMP message was delivered to the node of this end. True if it is an error about this connection.
    pub fn on_icmp(&mut self, end: End, io: &mut Io<'_>, message: &[u8]) -> bool {
        self.ends[end as usize].on_icmp(io, message)
    }
    /// The same of an ICMPv6 message from `from`.
    pub fn on_icmp6(&mut self, end: End, io: &mut Io<'_>, message: &[u8], from: Ipv6Addr) -> bool {
        self.ends[end as usize].on_icmp6(io, message, from)
    }
    /// The node of this end lost all that it knew: if the connection had begun there, it is over, and what still comes is
    /// answered by a reset.
    pub fn lose(&mut self, end: End) {
        self.ends[end as usize].abort();
    }
    /// When an end wants [`Connection::on_timer`]; never if `None`.
    pub fn deadline(&self, end: End) -> Option<Time> {
        self.ends[end as usize].deadline()
    }
    /// An end's time has come.
    pub fn on_timer(&mut self, end: End, io: &mut Io<'_>) {
        self.ends[end as usize].on_timer(io, &mut self.number);
    }
    /// An end, to be looked at.
    pub fn end(&self, end: End) -> &Endpoint {
        &self.ends[end as usize]
    }
}
