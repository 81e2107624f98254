//! The TCP of a host: listening ports, connections, and the streams of applications above them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{Ipv6Addr, SocketAddr};

use wayhop_core::{Addr, Packet, Pool, Rng, STREAM_ROOM, Span, StreamEnd, StreamId, StreamInput, Time};
use wayhop_wire::tcp::{Flags, Repr};
use wayhop_wire::{ip, ipv4, tcp};

use super::config::TcpConfig;
use super::endpoint::{Endpoint, Heard, Io, Sockets, reset};
use super::note::Note;

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
    /// For initial sequence numbers.
    pub rng: &'a mut Rng,
}

impl HostIo<'_> {
    fn with<'b>(
        &'b mut self,
        out: &'b mut Vec<Packet>,
        notes: &'b mut Vec<Note>,
        deliver: &'b mut dyn FnMut(&[u8]),
    ) -> Io<'b> {
        let Self { now, pool, next_id, ip_id, rng } = self;
        Io { now: *now, pool, next_id, ip_id, rng, out, notes, deliver }
    }
}

/// The TCP of a host (RFC 9293), without I/O. Its users are applications, which have numbers.
///
/// The host's world gives it packets, ICMP messages and the time; then it takes what applications hear, from
/// [`HostTcp::event`], does what they ask for, and takes the packets, from [`HostTcp::flush`], until there is neither.
pub struct HostTcp {
    config: TcpConfig,
    /// Who listens at a port.
    listeners: BTreeMap<u16, u32>,
    connections: BTreeMap<Sockets, HostConnection>,
    /// The streams of applications, which have not closed them, and their connections unless there was no port.
    streams: BTreeMap<(u32, StreamId), Option<Sockets>>,
    /// Connections that may have something to send.
    active: BTreeSet<Sockets>,
    next_port: u16,
    /// The number of the next stream that comes.
    next_stream: u64,
    events: VecDeque<(u32, StreamInput<'static>)>,
    out: VecDeque<(Option<u32>, Packet)>,
    spare: Vec<Packet>,
}

struct HostConnection {
    endpoint: Endpoint,
    owner: u32,
    stream: StreamId,
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
    fn new(endpoint: Endpoint, owner: u32, stream: StreamId, now: Time) -> Self {
        let state = StreamState::Opening(now + CONNECT_TIMEOUT);
        Self { endpoint, owner, stream, state, stalled: None, left: 0, closed_first: false, forget_at: None }
    }

    /// When it ends unless something comes before, and why.
    fn expiry(&self) -> Option<(Time, StreamEnd)> {
        if let StreamState::Opening(until) = self.state {
            return Some((until, StreamEnd::Unreachable));
        }
        let stalled = self.stalled.map(|since| (since + USER_TIMEOUT, StreamEnd::Broken));
        stalled.or_else(|| Some((self.forget_at?, StreamEnd::Finished)))
    }

    /// Keeps the times of [`HostConnection::expiry`]; `una`: what was acknowledged before.
    fn watch(&mut self, now: Time, una: u64) {
        let is_under_way = self.endpoint.in_flight() > 0;
        let since = self.stalled.filter(|_| self.endpoint.una() == una).unwrap_or(now);
        self.stalled = is_under_way.then_some(since);
        if self.state == StreamState::Closed && self.endpoint.is_done() {
            self.forget_at = Some(now + LINGER);
        }
    }

    /// Both streams have ended, and the peer knows (LAST-ACK is over).
    fn is_over(&self) -> bool {
        !self.closed_first && self.endpoint.is_done() && self.endpoint.has_received_all()
    }
}

impl HostTcp {
    /// A TCP without connections.
    pub const fn new(config: TcpConfig) -> Self {
        Self {
            config,
            listeners: BTreeMap::new(),
            connections: BTreeMap::new(),
            streams: BTreeMap::new(),
            active: BTreeSet::new(),
            next_port: *EPHEMERAL.start(),
            next_stream: 1,
            events: VecDeque::new(),
            out: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// An application takes connections to a port, which nobody has taken before.
    pub fn listen(&mut self, owner: u32, port: u16) {
        self.listeners.entry(port).or_insert(owner);
    }

    /// An application opens a stream, from an address of the host.
    pub fn connect(&mut self, io: &mut HostIo<'_>, owner: u32, stream: StreamId, from: Addr, to: SocketAddr) {
        if self.streams.contains_key(&(owner, stream)) {
            return;
        }
        let free = self.free(from, to);
        self.streams.insert((owner, stream), free);
        let Some(sockets) = free else {
            let cause = StreamEnd::Unreachable;
            return self.events.push_back((owner, StreamInput::Closed { stream, cause }));
        };
        let endpoint = self.endpoint(io, sockets, true);
        self.connections.insert(sockets, HostConnection::new(endpoint, owner, stream, io.now));
        self.call(io, sockets, &mut Vec::new(), Endpoint::connect);
    }

    /// Sockets with the next local port that is free.
    fn free(&mut self, addr: Addr, to: SocketAddr) -> Option<Sockets> {
        let (peer, peer_port) = (Addr::from(to.ip()), to.port());
        EPHEMERAL.into_iter().find_map(|_| {
            let port = self.next_port;
            self.next_port = port.checked_add(1).unwrap_or(*EPHEMERAL.start());
            let sockets = Sockets { addr, port, peer, peer_port };
            let is_free = !self.listeners.contains_key(&port) && !self.connections.contains_key(&sockets);
            is_free.then_some(sockets)
        })
    }

    fn endpoint(&self, io: &mut HostIo<'_>, sockets: Sockets, active: bool) -> Endpoint {
        let tick = self.config.rto.tick.unwrap_or(Span::from_nanos(1));
        let (number, phase) = (io.rng.bits() as u32, io.rng.jitter(tick));
        Endpoint::new(self.config, sockets, 0, active, (number, 0), phase)
    }

    /// An application writes to a stream.
    pub fn write(&mut self, owner: u32, stream: StreamId, octets: &[u8]) {
        if let Some(Some(sockets)) = self.streams.get(&(owner, stream))
            && let Some(c) = self.connections.get_mut(sockets)
        {
            c.endpoint.write_octets(octets);
            self.active.insert(*sockets);
        }
    }

    /// An application closes a stream: what it has written is still sent, and it hears no more of it.
    pub fn close(&mut self, owner: u32, stream: StreamId) {
        let Some(Some(sockets)) = self.streams.remove(&(owner, stream)) else { return };
        let Some(c) = self.connections.get_mut(&sockets) else { return };
        if matches!(c.state, StreamState::Opening(_)) {
            // RFC 9293 section 3.10.4: a connection that is not established is forgotten.
            self.connections.remove(&sockets);
            return;
        }
        c.closed_first = !c.endpoint.has_received_all();
        c.state = StreamState::Closed;
        c.endpoint.close();
        self.active.insert(sockets);
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
    /// numbers go on, so that nobody takes a new connection for an old one.
    pub fn lose(&mut self) {
        self.listeners.clear();
        self.connections.clear();
        self.streams.clear();
        self.active.clear();
        self.events.clear();
    }

    /// A packet for the host came, which is ignored unless it is a segment.
    pub fn on_packet(&mut self, io: &mut HostIo<'_>, packet: &[u8]) {
        let Ok(ip) = ip::Packet::new_checked(packet) else { return };
        if ip.protocol != ipv4::protocol::TCP {
            return;
        }
        let (Ok(repr), Ok(segment)) =
            (Repr::parse(ip.payload, ip.src, ip.dst), tcp::Packet::new_checked(ip.payload))
        else {
            return;
        };
        let (addr, peer) = (ip.dst, ip.src);
        let sockets = Sockets { addr, port: repr.dst_port, peer, peer_port: repr.src_port };
        if !self.connections.contains_key(&sockets) && !self.accept(io, sockets, repr.flags) {
            if !repr.flags.contains(Flags::RST) {
                let header = Repr { src_port: sockets.port, dst_port: sockets.peer_port, ..Repr::default() };
                let (notes, deliver) = (&mut Vec::new(), &mut |_: &[u8]| ());
                let io = &mut io.with(&mut self.spare, notes, deliver);
                reset(io, &sockets, 0, header, &repr, segment.payload().len());
                self.out.extend(self.spare.drain(..).map(|p| (None, p)));
            }
            return;
        }
        let mut data = Vec::new();
        let heard = self.call(io, sockets, &mut data, |e, io| e.on_packet(io, packet));
        if let Some(heard) = heard.flatten() {
            self.hear(sockets, heard, data);
        }
    }

    /// Makes a connection of a SYN. False if nobody listens there, or if it is no SYN.
    fn accept(&mut self, io: &mut HostIo<'_>, sockets: Sockets, flags: Flags) -> bool {
        let opens = flags.contains(Flags::SYN) && !flags.contains(Flags::ACK) && !flags.contains(Flags::RST);
        let Some(owner) = self.listeners.get(&sockets.port).copied().filter(|_| opens) else { return false };
        let accepted = self.connections.values().filter(|c| matches!(c.stream, StreamId::Accepted(_)));
        if accepted.count() < MAX_ACCEPTED {
            let stream = StreamId::Accepted(self.next_stream);
            self.next_stream += 1;
            let endpoint = self.endpoint(io, sockets, false);
            self.connections.insert(sockets, HostConnection::new(endpoint, owner, stream, io.now));
        }
        true
    }

    /// Calls a connection's end, and takes the packets that it makes.
    fn call<R>(
        &mut self,
        io: &mut HostIo<'_>,
        sockets: Sockets,
        data: &mut Vec<u8>,
        f: impl FnOnce(&mut Endpoint, &mut Io<'_>) -> R,
    ) -> Option<R> {
        let c = self.connections.get_mut(&sockets)?;
        let una = c.endpoint.una();
        let deliver = &mut |octets: &[u8]| data.extend_from_slice(octets);
        let answer = f(&mut c.endpoint, &mut io.with(&mut self.spare, &mut Vec::new(), deliver));
        c.watch(io.now, una);
        self.out.extend(self.spare.drain(..).map(|p| (Some(c.owner), p)));
        self.active.insert(sockets);
        Some(answer)
    }

    /// What a segment means for the connection's application.
    fn hear(&mut self, sockets: Sockets, heard: Heard, data: Vec<u8>) {
        let Some(c) = self.connections.get_mut(&sockets) else { return };
        let (owner, stream) = (c.owner, c.stream);
        if !c.endpoint.is_alive() {
            let was_open = c.state == StreamState::Open;
            return self.end(sockets, if was_open { StreamEnd::Broken } else { StreamEnd::Unreachable });
        }
        if heard.connected && matches!(c.state, StreamState::Opening(_)) {
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
        }
        if heard.finished {
            self.events.push_back((owner, StreamInput::Closed { stream, cause: StreamEnd::Finished }));
        }
    }

    /// A connection is no more.
    fn end(&mut self, sockets: Sockets, cause: StreamEnd) {
        if let Some(c) = self.connections.remove(&sockets) {
            self.events.push_back((c.owner, StreamInput::Closed { stream: c.stream, cause }));
        }
        self.active.remove(&sockets);
    }

    /// An ICMP error came: the message, from its own header on, of ICMPv6 with its source. True if it is about a connection of
    /// this host.
    pub fn on_icmp(&mut self, io: &mut HostIo<'_>, message: &[u8], from6: Option<Ipv6Addr>) -> bool {
        let all: Vec<Sockets> = self.connections.keys().copied().collect();
        all.into_iter().any(|sockets| {
            self.call(io, sockets, &mut Vec::new(), |e, io| match from6 {
                Some(from) => e.on_icmp6(io, message, from),
                None => e.on_icmp(io, message),
            }) == Some(true)
        })
    }

    /// What an application hears next, with its number.
    pub fn event(&mut self) -> Option<(u32, StreamInput<'static>)> {
        loop {
            let (owner, input) = self.events.pop_front()?;
            let (stream, is_closed, is_finished) = match input {
                StreamInput::Accepted { stream, .. }
                | StreamInput::Connected { stream, .. }
                | StreamInput::Data { stream, .. }
                | StreamInput::Room { stream, .. } => (stream, false, false),
                StreamInput::Closed { stream, cause } => (stream, true, cause == StreamEnd::Finished),
            };
            // Of a stream that its application has closed it hears no more.
            if !self.streams.contains_key(&(owner, stream)) {
                continue;
            }
            if is_finished {
                self.close(owner, stream);
            } else if is_closed {
                self.streams.remove(&(owner, stream));
            }
            return Some((owner, input));
        }
    }

    /// Sends what applications have written and what answers segments, as far as windows let it out.
    pub fn flush(&mut self, io: &mut HostIo<'_>) {
        for sockets in std::mem::take(&mut self.active) {
            self.call(io, sockets, &mut Vec::new(), Endpoint::flush);
            let Some(c) = self.connections.get_mut(&sockets) else { continue };
            let (sent, unsent) = (c.endpoint.sent(), c.endpoint.unsent() as usize);
            if c.state == StreamState::Open && sent > c.left {
                c.left = sent;
                let (stream, bytes) = (c.stream, STREAM_ROOM.saturating_sub(unsent));
                self.events.push_back((c.owner, StreamInput::Room { stream, bytes }));
            }
            if c.is_over() {
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
        let of = |c: &HostConnection| [c.endpoint.deadline(), c.expiry().map(|(at, _)| at)];
        self.connections.values().flat_map(of).flatten().min()
    }

    /// Time has come to the deadline.
    pub fn on_timer(&mut self, io: &mut HostIo<'_>) {
        let now = io.now;
        let all: Vec<Sockets> = self.connections.keys().copied().collect();
        for sockets in all {
            let Some(c) = self.connections.get(&sockets) else { continue };
            if let Some((_, cause)) = c.expiry().filter(|(at, _)| *at <= now) {
                self.end(sockets, cause);
            } else if c.endpoint.deadline().is_some_and(|at| at <= now) {
                self.call(io, sockets, &mut Vec::new(), Endpoint::on_timer);
            }
        }
    }
}
