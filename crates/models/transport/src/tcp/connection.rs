//! A flow's connection: its two ends, with what generates its traffic above them.

use std::net::Ipv6Addr;

use wayhop_core::{Addr, FlowTag, Rng, Span, Time};

use super::app::{Running, Wish};
use super::config::TcpConfig;
use super::endpoint::{Endpoint, Heard, Io, Sockets};
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
    flow: u32,
    ends: [FlowEnd; 2],
    /// The number of the next packet of the flow.
    number: u32,
}

/// An end and its application.
struct FlowEnd {
    endpoint: Endpoint,
    app: Running,
    is_client: bool,
    stop_at: Option<Time>,
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
        let mut end = |is_client: bool| {
            let client =
                Sockets { addr: addrs.0, port: config.src_port, peer: addrs.1, peer_port: config.dst_port };
            let (sockets, numbers) =
                if is_client { (client, numbers) } else { (client.swapped(), (numbers.1, numbers.0)) };
            FlowEnd {
                endpoint: Endpoint::new(tcp, sockets, config.tos, is_client, numbers, rng.jitter(tick)),
                app: Running::new(tcp.app, is_client),
                is_client,
                stop_at: config.stop.filter(|_| is_client),
            }
        };
        Self { flow, ends: [end(true), end(false)], number: 0 }
    }

    /// Calls an end, and numbers the packets that it makes.
    fn call<R>(&mut self, end: End, io: &mut Io<'_>, f: impl FnOnce(&mut FlowEnd, &mut Io<'_>) -> R) -> R {
        let before = io.out.len();
        let answer = f(&mut self.ends[end as usize], io);
        for p in &mut io.out[before..] {
            p.meta.flow = Some(FlowTag { flow: self.flow, seq: self.number });
            self.number += 1;
        }
        answer
    }

    /// The client begins.
    pub fn start(&mut self, io: &mut Io<'_>) {
        self.call(End::Client, io, FlowEnd::start);
    }
    /// A packet was delivered to the node of this end. False if it is no segment of this connection, or broken.
    pub fn on_packet(&mut self, end: End, io: &mut Io<'_>, packet: &[u8]) -> bool {
        self.call(end, io, |e, io| {
            let heard = e.endpoint.on_packet(io, packet);
            heard.map(|heard| e.heard(io, heard)).is_some()
        })
    }
    /// An ICMP message was delivered to the node of this end. True if it is an error about this connection.
    pub fn on_icmp(&mut self, end: End, io: &mut Io<'_>, message: &[u8]) -> bool {
        self.ends[end as usize].endpoint.on_icmp(io, message)
    }
    /// The same of an ICMPv6 message from `from`.
    pub fn on_icmp6(&mut self, end: End, io: &mut Io<'_>, message: &[u8], from: Ipv6Addr) -> bool {
        self.ends[end as usize].endpoint.on_icmp6(io, message, from)
    }
    /// The node of this end lost all that it knew: if the connection had begun there, it is over, and what still comes is
    /// answered by a reset.
    pub fn lose(&mut self, end: End) {
        self.ends[end as usize].endpoint.abort();
    }
    /// When an end wants [`Connection::on_timer`]; never if `None`.
    pub fn deadline(&self, end: End) -> Option<Time> {
        self.ends[end as usize].deadline()
    }
    /// An end's time has come.
    pub fn on_timer(&mut self, end: End, io: &mut Io<'_>) {
        self.call(end, io, FlowEnd::on_timer);
    }
    /// An end, to be looked at.
    pub fn end(&self, end: End) -> &Endpoint {
        &self.ends[end as usize].endpoint
    }
    /// Whole requests (at the server) or answers (at the client) received.
    pub fn messages(&self, end: End) -> u64 {
        self.ends[end as usize].app.messages
    }
}

impl FlowEnd {
    fn start(&mut self, io: &mut Io<'_>) {
        if self.endpoint.connect(io) {
            self.connected(io);
        }
        self.endpoint.flush(io);
    }

    fn connected(&mut self, io: &mut Io<'_>) {
        // A flow whose time was over before has nothing to say.
        if !self.endpoint.is_closed() {
            let wish = self.app.start(io.now, io.rng);
            self.grant(wish, io);
        }
    }

    fn grant(&mut self, wish: Wish, io: &mut Io<'_>) {
        if wish.write > 0 {
            self.endpoint.write(wish.write);
        }
        if wish.close {
            self.endpoint.close();
        }
        self.endpoint.push(io);
    }

    fn heard(&mut self, io: &mut Io<'_>, heard: Heard) {
        if heard.connected {
            self.connected(io);
        }
        if heard.delivered > 0 {
            let wish = self.app.received(io.now, heard.delivered);
            self.grant(wish, io);
            if self.endpoint.is_closed() {
                // Nobody asks again after the flow's time.
                self.app.stop();
            }
        }
        if heard.finished && !self.is_client && !self.endpoint.is_closed() {
            // The server ends its own stream when the client has.
            self.endpoint.close();
        }
        self.endpoint.flush(io);
    }

    fn deadline(&self) -> Option<Time> {
        let timers = [self.endpoint.deadline(), self.app.deadline(), self.stop_at];
        timers.into_iter().flatten().min().filter(|_| self.endpoint.is_alive())
    }

    fn on_timer(&mut self, io: &mut Io<'_>) {
        self.endpoint.on_timer(io);
        let now = io.now;
        let due = |t: Option<Time>| t.is_some_and(|t| t <= now);
        if due(self.stop_at) {
            self.stop_at = None;
            let wish = self.app.stop();
            if !self.endpoint.is_closed() {
                self.grant(wish, io);
            }
        }
        if due(self.app.deadline()) {
            let wish = self.app.on_timer(now, io.rng);
            self.grant(wish, io);
        }
        self.endpoint.flush(io);
    }
}
