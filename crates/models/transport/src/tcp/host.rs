//! The TCP of a host: listening ports, connections, and the streams of applications above them.
//!
//! An end of a flow of the scenario has a TCP of its own ([`HostTcp::of_flow`]), so that flows take no ports of programs.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv6Addr, SocketAddr};
use std::ops::Bound;

use wayhop_core::{
    Addr, Packet, Pool, Rng, STREAM_ROOM, Span, StreamEffect, StreamEnd, StreamId, StreamInput, Time,
};
use wayhop_wire::tcp::{Flags, Repr};
use wayhop_wire::{ip, ipv4, tcp};

use super::config::TcpConfig;
use super::endpoint::{Endpoint, Heard, Io, Sockets, reset};
use super::note::Note;
use crate::{FlowConfig, INITIAL_TTL};

/// The dynamic ports (RFC 6335, section 6). Each connection that is opened gets the next one.
const EPHEMERAL: std::ops::RangeInclusive<u16> = 49_152..=65_535;
/// How long the peer may take to answer a SYN, as on a real host (`wayhop-application-host`).
const CONNECT_TIMEOUT: Span = Span::from_secs(10);
/// A connection breaks when nothing is acknowledged for so long (RFC 9293, section 3.8.3: 100 s at least).
const USER_TIMEOUT: Span = Span::from_secs(100);
/// How long a closed connection stays to acknowledge its peer's FIN (TIME-WAIT), or waits for it (FIN-WAIT-2): as on Linux.
const LINGER: Span = Span::from_secs(60);
/// The most connections that others have opened.
const MAX_ACCEPTED: usize = 256;

/// What a host's TCP is given at each call.
pub struct HostIo<'a> {
    /// The time.
    pub now: Time,
    /// Buffers for segments.
    pub pool: &'a mut Pool,
    /// Numbers the packets of the run.
    pub next_id: &'a mut u64,
    /// The node's IP identification.
    pub ip_id: &'a mut u16,
    /// Takes the notes of senders.
    pub notes: &'a mut Vec<Note>,
    /// Takes what arrives in order at the end of a flow: the position of the first octet in the stream, and the octets.
    pub deliver: &'a mut dyn FnMut(u64, &[u8]),
}

impl HostIo<'_> {
    fn with<'b>(&'b mut self, out: &'b mut Vec<Packet>, deliver: &'b mut dyn FnMut(&[u8])) -> Io<'b> {
        let Self { now, pool, next_id, ip_id, notes, .. } = self;
        Io { now: *now, pool, next_id, ip_id, out, notes, deliver }
    }
}

/// How an end of a flow differs from the connections of programs: it stays until the run ends, however long nobody answers, and
/// its stream is that of the pattern ([`super::stream`]), which is checked and counted ([`StreamInput::Pattern`]) but not copied.
#[derive(Copy, Clone, Debug)]
pub struct FlowEnd {
    /// The local port.
    port: u16,
    /// Type of Service, or traffic class.
    tos: u8,
    /// The initial sequence numbers of this end and of its peer, on which both agree where there is no handshake.
    numbers: (u32, u32),
    /// Of the node's clock within a tick.
    phase: Span,
}

impl FlowEnd {
    /// The client's and the server's.
    pub fn draw(config: &FlowConfig, tcp: &TcpConfig, rng: &mut Rng) -> [Self; 2] {
        let numbers = [rng.bits() as u32, rng.bits() as u32];
        let mut end = |port, own, peer| {
            let phase = rng.jitter(tcp.rto.tick.unwrap_or(Span::from_nanos(1)));
            Self { port, tos: config.tos, numbers: (own, peer), phase }
        };
        [end(config.src_port, numbers[0], numbers[1]), end(config.dst_port, numbers[1], numbers[0])]
    }
}

/// Whose connections they are.
enum User {
    /// Programs, whose initial sequence numbers are drawn.
    Programs(Rng),
    Flow(FlowEnd),
}

/// The TCP of a host (RFC 9293), without I/O. Its users are applications, which have numbers.
///
/// The host's world gives it packets, ICMP messages and the time; then it takes what applications hear, from
/// [`HostTcp::event`], does what they ask for, and takes the packets, from [`HostTcp::packet`], until there is neither.
pub struct HostTcp {
    config: TcpConfig,
    user: User,
    /// Who listens at a port.
    listeners: BTreeMap<u16, u32>,
    connections: BTreeMap<Sockets, Box<HostConnection>>,
    /// The streams of applications, which have not closed them, and their connections unless there was no port.
    streams: BTreeMap<(u32, StreamId), Option<Sockets>>,
    /// Connections that may have something to send.
    active: Vec<Sockets>,
    next_port: u16,
    /// The number of the next stream that comes.
    next_stream: u64,
    events: VecDeque<(u32, StreamInput<'static>)>,
    out: VecDeque<(Option<u32>, Packet)>,
    spare: Vec<Packet>,
    /// What arrived in order, for a program.
    data: Vec<u8>,
}

struct HostConnection {
    endpoint: Endpoint,
    owner: u32,
    stream: StreamId,
    /// It is one of programs, and ends some time.
    expires: bool,
    state: StreamState,
    /// Since when nothing was acknowledged, while something is under way.
    stalled: Option<Time>,
    /// The end of what had left when the application heard of room.
    left: u64,
    /// This end closed first.
    closed_first: bool,
    /// When it is forgotten, once its stream is closed and acknowledged.
    forget_at: Option<Time>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum StreamState {
    /// The handshake goes on, until then.
    Opening(Time),
    Open,
    /// The application is done with it.
    Closed,
}

impl HostConnection {
    /// When it ends unless something comes before, and why.
    fn expiry(&self) -> Option<(Time, StreamEnd)> {
        if !self.expires {
            return None;
        }
        if let StreamState::Opening(until) = self.state {
            return Some((until, StreamEnd::Unreachable));
        }
        let stalled = self.stalled.map(|since| (since + USER_TIMEOUT, StreamEnd::Broken));
        stalled.or_else(|| Some((self.forget_at?, StreamEnd::Finished)))
    }

    fn deadline(&self) -> Option<Time> {
        let (endpoint, expiry) = (self.endpoint.deadline(), self.expiry());
        expiry.map_or(endpoint, |(at, _)| Some(endpoint.map_or(at, |due| due.min(at))))
    }

    /// Keeps the times of [`HostConnection::expiry`]; `una`: what was acknowledged before.
    fn watch(&mut self, now: Time, una: u64) {
        let is_under_way = self.endpoint.sender.in_flight() > 0;
        let since = self.stalled.filter(|_| self.endpoint.sender.una == una).unwrap_or(now);
        self.stalled = is_under_way.then_some(since);
        if self.state == StreamState::Closed && self.endpoint.is_done() {
            self.forget_at = Some(now + LINGER);
        }
    }

    /// Both streams have ended, and the peer knows (LAST-ACK is over).
    fn is_over(&self) -> bool {
        self.expires && !self.closed_first && self.endpoint.is_done() && self.endpoint.has_received_all()
    }
}

impl HostTcp {
    /// The TCP of programs, without connections. `rng` is for initial sequence numbers.
    pub const fn new(config: TcpConfig, rng: Rng) -> Self {
        Self::of(config, User::Programs(rng))
    }
    /// The TCP of one end of a flow, whose application listens or connects once.
    pub const fn of_flow(config: TcpConfig, end: FlowEnd) -> Self {
        Self::of(config, User::Flow(end))
    }
    const fn of(config: TcpConfig, user: User) -> Self {
        Self {
            config,
            user,
            listeners: BTreeMap::new(),
            connections: BTreeMap::new(),
            streams: BTreeMap::new(),
            active: Vec::new(),
            next_port: *EPHEMERAL.start(),
            next_stream: 1,
            events: VecDeque::new(),
            out: VecDeque::new(),
            spare: Vec::new(),
            data: Vec::new(),
        }
    }
    const fn is_of_flow(&self) -> bool {
        matches!(self.user, User::Flow(_))
    }
    /// The ends of connections here, of a flow at most one.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.connections.values().map(|c| &c.endpoint)
    }

    /// Does what an application asks for. It opens streams from this address of the host.
    pub fn apply(&mut self, io: &mut HostIo<'_>, owner: u32, from: Addr, effect: StreamEffect) {
        match effect {
            // Nobody else has taken the port before.
            StreamEffect::Listen(port) => drop(self.listeners.entry(port).or_insert(owner)),
            StreamEffect::Connect { stream, to } => self.connect(io, owner, stream, from, to),
            StreamEffect::Write { stream, data } => {
                if let Some(endpoint) = self.written(owner, stream) {
                    endpoint.write_octets(&data);
                }
            }
            StreamEffect::WritePattern { stream, bytes } => {
                if let Some(endpoint) = self.written(owner, stream) {
                    endpoint.write(bytes);
                }
            }
            StreamEffect::Close(stream) => self.close(owner, stream),
        }
    }

    fn connect(&mut self, io: &mut HostIo<'_>, owner: u32, stream: StreamId, from: Addr, to: SocketAddr) {
        if self.streams.contains_key(&(owner, stream)) {
            return;
        }
        let free = self.free(from, to);
        self.streams.insert((owner, stream), free);
        let Some(sockets) = free else {
            let cause = StreamEnd::Unreachable;
            return self.events.push_back((owner, StreamInput::Closed { stream, cause }));
        };
        self.insert(io.now, sockets, owner, stream);
        self.call(io, sockets, Endpoint::connect);
        self.hear(sockets, Heard::default());
    }

    /// Sockets with the next local port that is free.
    fn free(&mut self, addr: Addr, to: SocketAddr) -> Option<Sockets> {
        let (peer, peer_port) = (Addr::from(to.ip()), to.port());
        if let User::Flow(FlowEnd { port, .. }) = self.user {
            return Some(Sockets { addr, port, peer, peer_port });
        }
        EPHEMERAL.into_iter().find_map(|_| {
            let port = self.next_port;
            self.next_port = port.checked_add(1).unwrap_or(*EPHEMERAL.start());
            let sockets = Sockets { addr, port, peer, peer_port };
            let is_free = !self.listeners.contains_key(&port) && !self.connections.contains_key(&sockets);
            is_free.then_some(sockets)
        })
    }

    /// A new connection of an application.
    fn insert(&mut self, now: Time, sockets: Sockets, owner: u32, stream: StreamId) {
        let (tos, numbers, phase) = match &mut self.user {
            User::Programs(rng) => {
                let number = rng.bits() as u32;
                (0, (number, 0), rng.jitter(self.config.rto.tick.unwrap_or(Span::from_nanos(1))))
            }
            User::Flow(end) => (end.tos, end.numbers, end.phase),
        };
        let opens = matches!(stream, StreamId::Opened(_));
        let connection = HostConnection {
            endpoint: Endpoint::new(self.config, sockets, tos, opens, numbers, phase),
            owner,
            stream,
            expires: !self.is_of_flow(),
            state: StreamState::Opening(now + CONNECT_TIMEOUT),
            stalled: None,
            left: 0,
            closed_first: false,
            forget_at: None,
        };
        self.connections.insert(sockets, Box::new(connection));
    }

    /// The end to which an application writes, which then may have something to send.
    fn written(&mut self, owner: u32, stream: StreamId) -> Option<&mut Endpoint> {
        let sockets = (*self.streams.get(&(owner, stream))?)?;
        let c = self.connections.get_mut(&sockets)?;
        self.active.push(sockets);
        Some(&mut c.endpoint)
    }

    /// An application closes a stream: what it has written is still sent, and it hears no more of it.
    fn close(&mut self, owner: u32, stream: StreamId) {
        let Some(Some(sockets)) = self.streams.remove(&(owner, stream)) else { return };
        let Some(c) = self.connections.get_mut(&sockets) else { return };
        if c.expires && matches!(c.state, StreamState::Opening(_)) {
            // RFC 9293 section 3.10.4: a connection that is not established is forgotten.
            self.connections.remove(&sockets);
            return;
        }
        c.closed_first = !c.endpoint.has_received_all();
        c.state = StreamState::Closed;
        c.endpoint.close();
        self.active.push(sockets);
    }

    /// An application is gone: its ports are free, and its streams are closed.
    pub fn release(&mut self, owner: u32) {
        self.listeners.retain(|_, o| *o != owner);
        let own: Vec<StreamId> = self.streams.keys().filter(|(o, _)| *o == owner).map(|(_, s)| *s).collect();
        for stream in own {
            self.close(owner, stream);
        }
    }

    /// The host lost its memory: its connections are gone, and what still comes for them is answered by resets. Ports and
    /// numbers go on, so that nobody takes a new connection for an old one. The end of a flow stays, but only answers.
    pub fn lose(&mut self) {
        if self.is_of_flow() {
            for c in self.connections.values_mut() {
                c.endpoint.abort();
                let (stream, cause) = (c.stream, StreamEnd::Broken);
                self.events.push_back((c.owner, StreamInput::Closed { stream, cause }));
            }
            return;
        }
        self.listeners.clear();
        self.connections.clear();
        self.streams.clear();
        self.active.clear();
        self.events.clear();
    }

    /// A packet for the host came, which is ignored unless it is a segment. True if it was of a connection.
    pub fn on_packet(&mut self, io: &mut HostIo<'_>, packet: &[u8]) -> bool {
        let Ok(ip) = ip::Packet::new_checked(packet) else { return false };
        if ip.protocol != ipv4::protocol::TCP {
            return false;
        }
        let (Ok(repr), Ok(segment)) =
            (Repr::parse(ip.payload, ip.src, ip.dst), tcp::Packet::new_checked(ip.payload))
        else {
            return false;
        };
        let (addr, peer) = (ip.dst, ip.src);
        let sockets = Sockets { addr, port: repr.dst_port, peer, peer_port: repr.src_port };
        if !self.connections.contains_key(&sockets) && !self.accept(io, sockets, repr.flags) {
            if !repr.flags.contains(Flags::RST) {
                let header = Repr { src_port: sockets.port, dst_port: sockets.peer_port, ..Repr::default() };
                let (ignore, len) = (&mut |_: &[u8]| (), segment.payload().len());
                reset(&mut io.with(&mut self.spare, ignore), &sockets, 0, header, &repr, len);
                self.out.extend(self.spare.drain(..).map(|p| (None, p)));
            }
            return false;
        }
        let hops = INITIAL_TTL.saturating_sub(ip.ttl) + 1;
        let heard = self.call(io, sockets, |e, io| e.on_segment(io, &repr, segment.payload(), hops));
        heard.map(|(heard, _)| heard).map(|heard| self.hear(sockets, heard)).is_some()
    }

    /// Makes a connection of a SYN, or of any segment where there is no handshake. False if nobody listens there, or if it is no
    /// SYN.
    fn accept(&mut self, io: &mut HostIo<'_>, sockets: Sockets, flags: Flags) -> bool {
        let is_syn = flags.contains(Flags::SYN) && !flags.contains(Flags::ACK);
        let opens = (is_syn || !self.config.handshake) && !flags.contains(Flags::RST);
        let Some(owner) = self.listeners.get(&sockets.port).copied().filter(|_| opens) else { return false };
        let accepted = self.connections.values().filter(|c| matches!(c.stream, StreamId::Accepted(_)));
        if accepted.count() < MAX_ACCEPTED {
            let stream = StreamId::Accepted(self.next_stream);
            self.next_stream += 1;
            self.insert(io.now, sockets, owner, stream);
        }
        true
    }

    /// Calls a connection's end, which then may have something to send, and takes the packets that it makes.
    fn call<R>(
        &mut self,
        io: &mut HostIo<'_>,
        sockets: Sockets,
        f: impl FnOnce(&mut Endpoint, &mut Io<'_>) -> R,
    ) -> Option<(R, &mut HostConnection)> {
        let c = self.connections.get_mut(&sockets)?;
        let (una, mut at) = (c.endpoint.sender.una, c.endpoint.delivered());
        let HostIo { now, pool, next_id, ip_id, notes, deliver } = io;
        let (data, out, is_of_program) = (&mut self.data, &mut self.spare, c.expires);
        let deliver = &mut |octets: &[u8]| {
            if is_of_program {
                return data.extend_from_slice(octets);
            }
            deliver(at, octets);
            at += octets.len() as u64;
        };
        let answer = f(&mut c.endpoint, &mut Io { now: *now, pool, next_id, ip_id, out, notes, deliver });
        c.watch(*now, una);
        for p in self.spare.drain(..) {
            self.out.push_back((Some(c.owner), p));
        }
        self.active.push(sockets);
        Some((answer, &mut **c))
    }

    /// What a segment means for the connection's application.
    fn hear(&mut self, sockets: Sockets, heard: Heard) {
        let data = std::mem::take(&mut self.data);
        let Some(c) = self.connections.get_mut(&sockets) else { return };
        let (owner, stream) = (c.owner, c.stream);
        if !c.endpoint.is_alive() {
            let was_open = c.state == StreamState::Open;
            return self.end(sockets, if was_open { StreamEnd::Broken } else { StreamEnd::Unreachable });
        }
        if c.endpoint.is_established() && matches!(c.state, StreamState::Opening(_)) {
            c.state = StreamState::Open;
            let peer = SocketAddr::new(sockets.peer.ip(), sockets.peer_port);
            self.streams.insert((owner, stream), Some(sockets));
            self.events.push_back(match stream {
                StreamId::Opened(_) => (owner, StreamInput::Connected { stream, to: peer }),
                StreamId::Accepted(_) => {
                    (owner, StreamInput::Accepted { stream, port: sockets.port, from: peer })
                }
            });
        }
        if !data.is_empty() {
            self.events.push_back((owner, StreamInput::Data { stream, data: data.into() }));
        } else if heard.delivered > 0 {
            self.events.push_back((owner, StreamInput::Pattern { stream, bytes: heard.delivered }));
        }
        if heard.finished {
            self.events.push_back((owner, StreamInput::Closed { stream, cause: StreamEnd::Finished }));
        }
    }

    /// A connection is no more.
    fn end(&mut self, sockets: Sockets, cause: StreamEnd) {
        let Some(c) = self.connections.get(&sockets) else { return };
        self.events.push_back((c.owner, StreamInput::Closed { stream: c.stream, cause }));
        if c.expires {
            self.connections.remove(&sockets);
        }
    }

    /// An ICMP error came: the message, from its own header on, of ICMPv6 with its source. True if it is about a connection of
    /// this host.
    pub fn on_icmp(&mut self, io: &mut HostIo<'_>, message: &[u8], from6: Option<Ipv6Addr>) -> bool {
        let ignore = &mut |_: &[u8]| ();
        let io = &mut io.with(&mut self.spare, ignore);
        self.connections.values_mut().any(|c| match from6 {
            Some(from) => c.endpoint.on_icmp6(io, message, from),
            None => c.endpoint.on_icmp(io, message),
        })
    }

    /// Whether an application may have something to hear.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// What an application hears next, with its number. If there is nothing more, sends what applications have written and what
    /// answers segments, as far as windows let it out.
    pub fn event(&mut self, io: &mut HostIo<'_>) -> Option<(u32, StreamInput<'static>)> {
        loop {
            let Some((owner, input)) = self.events.pop_front() else {
                self.flush(io);
                return None;
            };
            let (stream, is_closed, is_finished) = match input {
                StreamInput::Accepted { stream, .. }
                | StreamInput::Connected { stream, .. }
                | StreamInput::Data { stream, .. }
                | StreamInput::Pattern { stream, .. }
                | StreamInput::Room { stream, .. } => (stream, false, false),
                StreamInput::Closed { stream, cause } => (stream, true, cause == StreamEnd::Finished),
            };
            // Of a stream that its application has closed it hears no more.
            if !self.streams.contains_key(&(owner, stream)) {
                continue;
            }
            if is_finished {
                // A flow's last answer and the end of its stream are segments of their own.
                let sockets = self.streams.get(&(owner, stream)).copied().flatten();
                if let Some(sockets) = sockets.filter(|_| self.is_of_flow()) {
                    self.call(io, sockets, Endpoint::push);
                }
                self.close(owner, stream);
            } else if is_closed {
                self.streams.remove(&(owner, stream));
            }
            return Some((owner, input));
        }
    }

    fn flush(&mut self, io: &mut HostIo<'_>) {
        self.active.sort_unstable();
        self.active.dedup();
        for i in 0..self.active.len() {
            let sockets = self.active[i];
            let Some(((), c)) = self.call(io, sockets, Endpoint::flush) else { continue };
            let sent = c.endpoint.sender.max;
            let unsent = c.endpoint.sender.written.saturating_sub(sent) as usize;
            let (is_over, mut room) = (c.is_over(), None);
            if c.expires && c.state == StreamState::Open && sent > c.left {
                c.left = sent;
                let (stream, bytes) = (c.stream, STREAM_ROOM.saturating_sub(unsent));
                room = Some((c.owner, StreamInput::Room { stream, bytes }));
            }
            self.events.extend(room);
            if is_over {
                self.connections.remove(&sockets);
            }
        }
        self.active.clear();
    }

    /// The next packet that the host sends, and whose it is; resets of connections that nobody has are nobody's.
    pub fn packet(&mut self) -> Option<(Option<u32>, Packet)> {
        self.out.pop_front()
    }

    /// When [`HostTcp::on_timer`] is to be called; never if `None`.
    pub fn deadline(&self) -> Option<Time> {
        self.connections.values().filter_map(|c| c.deadline()).min()
    }

    /// Time has come to the deadline.
    pub fn on_timer(&mut self, io: &mut HostIo<'_>) {
        let now = io.now;
        let mut next = self.connections.keys().next().copied();
        while let Some(sockets) = next {
            next =
                self.connections.range((Bound::Excluded(sockets), Bound::Unbounded)).next().map(|(s, _)| *s);
            let Some(c) = self.connections.get(&sockets) else { continue };
            if let Some((_, cause)) = c.expiry().filter(|(at, _)| *at <= now) {
                self.end(sockets, cause);
            } else if c.endpoint.deadline().is_some_and(|at| at <= now) {
                self.call(io, sockets, Endpoint::on_timer);
            }
        }
    }
}
