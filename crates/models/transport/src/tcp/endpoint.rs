//! One end of a connection: states, sequence numbers, and segments as packets.

use std::net::Ipv6Addr;

use wayhop_core::{Addr, FlowTag, Packet, PacketId, PacketMeta, Pool, Rng, Span, Time};
use wayhop_wire::tcp::{Flags, QuotedSegment, Repr};
use wayhop_wire::{icmp, icmpv6, ip, ipv4, ipv6, tcp};

use super::app::{Running, Wish};
use super::config::TcpConfig;
use super::note::Note;
use super::receiver::{Answer, Receiver};
use super::sender::{AckIn, Counts, Piece, Sender};
use super::stream;
use crate::{INITIAL_TTL, next_ip_id};

/// The longest header: its options with all four blocks of a selective acknowledgement.
const MAX_BLOCKS_IN: usize = tcp::MAX_SACK_BLOCKS;

/// What an end is given at each call, and where it puts what it makes.
pub struct Io<'a> {
    /// The time.
    pub now: Time,
    /// Buffers for segments.
    pub pool: &'a mut Pool,
    /// Numbers the packets of the run.
    pub next_id: &'a mut u64,
    /// The node's IP identification.
    pub ip_id: &'a mut u16,
    /// The flow's random stream.
    pub rng: &'a mut Rng,
    /// Takes the segments that are to be sent, in order.
    pub out: &'a mut Vec<Packet>,
    /// Where the sender's notes go.
    pub notes: &'a mut Vec<Note>,
    /// Gets the octets of the stream that came in order.
    pub deliver: &'a mut dyn FnMut(&[u8]),
}

/// Where the end is between opening and data. The end of a stream is the sender's and the receiver's matter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum State {
    /// Has not begun.
    Closed,
    /// Waits for a SYN.
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has sent a SYN and acknowledged one.
    SynReceived,
    /// Data may flow.
    Established,
    /// The connection is no more.
    Aborted,
}

/// Who an end is.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) flow: u32,
    pub(crate) addr: Addr,
    pub(crate) peer: Addr,
    pub(crate) port: u16,
    pub(crate) peer_port: u16,
    pub(crate) tos: u8,
    pub(crate) client: bool,
}

/// One end.
pub struct Endpoint {
    config: TcpConfig,
    id: Identity,
    state: State,
    /// The sequence number of this end's SYN, and of the peer's.
    iss: u32,
    irs: u32,
    syn_at: Option<Time>,
    syn_sent: Time,
    syns: u32,
    sender: Sender,
    receiver: Receiver,
    app: Running,
    started: bool,
    stop_at: Option<Time>,
    delivered: u64,
    bad: u64,
}

impl Endpoint {
    /// `numbers`: the initial sequence numbers of this end and of its peer. `phase`: of the node's clock within a tick.
    pub(crate) fn new(
        config: TcpConfig,
        id: Identity,
        numbers: (u32, u32),
        phase: Span,
        stop_at: Option<Time>,
    ) -> Self {
        let state = match (config.handshake, id.client) {
            (false, _) => State::Established,
            (true, true) => State::Closed,
            (true, false) => State::Listen,
        };
        Self {
            config,
            id,
            state,
            iss: numbers.0,
            irs: numbers.1,
            syn_at: None,
            syn_sent: Time::ZERO,
            syns: 0,
            sender: Sender::new(&config, phase),
            receiver: Receiver::new(config.window_bytes(), config.delayed_ack),
            app: Running::new(config.app, id.client),
            started: false,
            stop_at: stop_at.filter(|_| id.client),
            delivered: 0,
            bad: 0,
        }
    }

    /// The client begins.
    pub(crate) fn start(&mut self, io: &mut Io<'_>, number: &mut u32) {
        if self.state == State::Closed {
            self.state = State::SynSent;
            self.send_syn(io, number);
        } else {
            self.established(io);
            self.flush(io, number, Answer::None);
        }
    }

    fn established(&mut self, io: &mut Io<'_>) {
        self.state = State::Established;
        self.syn_at = None;
        if !std::mem::replace(&mut self.started, true) {
            let wish = self.app.start(io.now, io.rng);
            self.grant(wish, io);
        }
    }

    fn grant(&mut self, wish: Wish, io: &mut Io<'_>) {
        if wish.write > 0 {
            self.sender.write(wish.write);
        }
        if wish.close {
            self.sender.close();
        }
        if wish != Wish::default() {
            self.sender.send(io.now, io.notes);
        }
    }

    /// Sends or repeats the SYN, with an acknowledgement if the peer's has come.
    fn send_syn(&mut self, io: &mut Io<'_>, number: &mut u32) {
        let acks = self.state == State::SynReceived;
        self.syns += 1;
        self.syn_sent = io.now;
        self.syn_at = Some(io.now + self.config.connect_every.unwrap_or(self.sender.rto.timeout()));
        let shift = self.config.window_shift();
        let repr = Repr {
            flags: if acks { Flags::SYN.with(Flags::ACK) } else { Flags::SYN },
            seq: self.iss,
            ack: if acks { self.irs.wrapping_add(1) } else { 0 },
            // The window of a SYN is never scaled (RFC 7323, section 2.2).
            window: self.receiver.window().min(0xffff) as u16,
            max_segment_size: Some(self.config.segment_bytes as u16),
            window_scale: (shift > 0).then_some(shift),
            sack_permitted: self.config.variant == super::config::Variant::Sack,
            ..self.header()
        };
        self.emit(io, number, repr, 0, 0);
    }

    fn header(&self) -> Repr {
        let (src_port, dst_port) = (self.id.port, self.id.peer_port);
        Repr { src_port, dst_port, padding: self.config.padding, ..Repr::default() }
    }

    /// A packet came. True if it was a segment of this connection.
    pub(crate) fn on_packet(&mut self, io: &mut Io<'_>, number: &mut u32, packet: &[u8]) -> bool {
        let Ok(ip) = ip::Packet::new_checked(packet) else { return false };
        if ip.protocol != ipv4::protocol::TCP || ip.src != self.id.peer || ip.dst != self.id.addr {
            return false;
        }
        let Ok(repr) = Repr::parse(ip.payload, ip.src, ip.dst) else {
            self.bad += 1;
            return false;
        };
        if (repr.src_port, repr.dst_port) != (self.id.peer_port, self.id.port) {
            return false;
        }
        let Ok(segment) = tcp::Packet::new_checked(ip.payload) else { return false };
        let hops = INITIAL_TTL.saturating_sub(ip.ttl) + 1;
        self.on_segment(io, number, &repr, segment.payload(), hops);
        true
    }

    fn on_segment(&mut self, io: &mut Io<'_>, number: &mut u32, s: &Repr, payload: &[u8], hops: u8) {
        let acks = s.flags.contains(Flags::ACK);
        let acks_syn = acks && s.ack == self.iss.wrapping_add(1);
        if s.flags.contains(Flags::RST) {
            // RFC 9293 section 3.10.7.4: the peer does not know the connection.
            self.abort();
            return;
        }
        match self.state {
            State::Closed => return,
            State::Aborted => {
                self.refuse(io, number, s, payload.len());
                return;
            }
            State::Listen => {
                if s.flags.contains(Flags::SYN) && !acks {
                    self.irs = s.seq;
                    self.state = State::SynReceived;
                    self.send_syn(io, number);
                }
                return;
            }
            State::SynSent => {
                if !(s.flags.contains(Flags::SYN) && acks_syn) {
                    return;
                }
                self.irs = s.seq;
                self.syn_acked(io, s);
                // The first segment of data acknowledges; without one a bare acknowledgement does.
                self.flush(io, number, Answer::Now);
                return;
            }
            State::SynReceived if s.flags.contains(Flags::SYN) => {
                self.send_syn(io, number);
                return;
            }
            State::SynReceived => {
                if !acks || self.ack_position(s.ack).is_none() {
                    return;
                }
                self.syn_acked(io, s);
            }
            State::Established if s.flags.contains(Flags::SYN) => {
                // The peer has not heard the end of the handshake.
                self.flush(io, number, Answer::Now);
                return;
            }
            State::Established => {}
        }
        let answer = self.on_data(io, s, payload, acks, hops);
        self.flush(io, number, answer);
    }

    /// The connection is over for this end, if it had begun: its node lost what it knew, or its peer did.
    pub(crate) fn abort(&mut self) {
        if self.started || self.syns > 0 || self.receiver.expected() > 0 {
            self.state = State::Aborted;
        }
    }

    /// A segment for a connection that is no more (RFC 9293 section 3.10.7.1).
    fn refuse(&mut self, io: &mut Io<'_>, number: &mut u32, s: &Repr, len: usize) {
        let repr = if s.flags.contains(Flags::ACK) {
            Repr { flags: Flags::RST, seq: s.ack, ..self.header() }
        } else {
            let ends = u32::from(s.flags.contains(Flags::SYN)) + u32::from(s.flags.contains(Flags::FIN));
            let ack = s.seq.wrapping_add(len as u32).wrapping_add(ends);
            Repr { flags: Flags::RST.with(Flags::ACK), ack, ..self.header() }
        };
        self.emit(io, number, repr, 0, 0);
    }

    /// The SYN of this end was acknowledged.
    fn syn_acked(&mut self, io: &mut Io<'_>, s: &Repr) {
        if self.syns == 1 {
            self.sender.rto.sample(self.syn_sent, io.now);
        } else {
            self.sender.begin_small();
        }
        self.sender.set_peer_window(self.peer_window(s));
        self.established(io);
    }

    fn peer_window(&self, s: &Repr) -> u64 {
        let shift = if s.flags.contains(Flags::SYN) { 0 } else { self.config.window_shift() };
        u64::from(s.window) << shift
    }

    /// The stream position of an acknowledgement number; `None` if it is before the stream's begin.
    fn ack_position(&self, ack: u32) -> Option<u64> {
        unwrap(ack, self.iss, self.sender.una())
    }

    fn on_data(&mut self, io: &mut Io<'_>, s: &Repr, payload: &[u8], acks: bool, hops: u8) -> Answer {
        let fin = s.flags.contains(Flags::FIN);
        let expected = self.receiver.expected();
        let offset = s.seq.wrapping_sub(wire(self.irs, expected)) as i32;
        let from = expected as i64 + i64::from(offset);
        // RFC 9293 section 3.10.7.4: what lies outside of the window is answered and otherwise ignored, its
        // acknowledgement too.
        let len = payload.len() as i64 + i64::from(fin);
        let (first, last) = (expected as i64, (expected + self.receiver.window()) as i64);
        let acceptable =
            if len == 0 { (first..=last).contains(&from) } else { from < last && from + len > first };
        if !acceptable {
            return Answer::Now;
        }
        let Some(ack) = self.ack_position(s.ack).filter(|_| acks) else { return Answer::None };
        let mut blocks = [(0, 0); MAX_BLOCKS_IN];
        let mut n = 0;
        for (from, to) in s.sack.iter().map_while(|b| *b) {
            if let (Some(from), Some(to)) = (self.ack_position(from), self.ack_position(to)) {
                blocks[n] = (from, to);
                n += 1;
            }
        }
        let bare = payload.is_empty() && !fin;
        let heard = AckIn { ack, window: self.peer_window(s), bare, sack: &blocks[..n], hops };
        if !self.sender.on_ack(io.now, &heard, io.notes) {
            return Answer::Now;
        }
        let mut got = 0;
        let deliver = &mut *io.deliver;
        let answer = self.receiver.accept(io.now, from, payload, fin, &mut |octets: &[u8]| {
            got += octets.len() as u64;
            deliver(octets);
        });
        if got > 0 {
            self.delivered += got;
            let wish = self.app.received(io.now, got);
            self.grant(wish, io);
        }
        if self.receiver.is_done() && !self.id.client {
            // The server ends its own stream when the client has.
            self.sender.close();
            self.sender.send(io.now, io.notes);
        }
        answer
    }

    /// An ICMP error about a segment of this end came (the ICMP message, from its own header on). True if it was about
    /// this connection.
    pub(crate) fn on_icmp(&mut self, io: &mut Io<'_>, message: &[u8]) -> bool {
        let Ok(icmp::Repr::DestinationUnreachable { code, original, .. }) = icmp::Repr::parse(message) else {
            return false;
        };
        let Ok(ip) = ipv4::Packet::new_snapped(original) else { return false };
        let soft = matches!(code, icmp::unreachable_code::NETWORK | icmp::unreachable_code::HOST);
        let about = (ip.src().into(), ip.dst().into());
        ip.protocol() == ipv4::protocol::TCP && self.on_unreachable(io, about, ip.payload(), soft)
    }

    /// The same over IPv6: a message from `from`.
    pub(crate) fn on_icmp6(&mut self, io: &mut Io<'_>, message: &[u8], from: Ipv6Addr) -> bool {
        let Some(own) = self.id.addr.v6() else { return false };
        let Ok(icmpv6::Repr::DestinationUnreachable { code, original }) =
            icmpv6::Repr::parse(message, from, own)
        else {
            return false;
        };
        let Ok(ip) = ipv6::Packet::new_snapped(original) else { return false };
        let Ok(upper) = ip.upper() else { return false };
        let soft = matches!(code, icmpv6::unreachable_code::NO_ROUTE | icmpv6::unreachable_code::ADDRESS);
        let about = (ip.src().into(), ip.dst().into());
        upper.protocol == ipv4::protocol::TCP && self.on_unreachable(io, about, upper.payload, soft)
    }

    /// A packet between these ends, with this start of a segment, found no way. A soft error is one that may pass.
    fn on_unreachable(&mut self, io: &mut Io<'_>, ends: (Addr, Addr), segment: &[u8], soft: bool) -> bool {
        let Some(quoted) = QuotedSegment::parse(segment) else { return false };
        let own = ends == (self.id.addr, self.id.peer)
            && (quoted.src_port, quoted.dst_port) == (self.id.port, self.id.peer_port);
        if own
            && soft
            && self.state == State::Established
            && let Some(from) = self.ack_position(quoted.seq)
        {
            self.sender.on_notice(io.now, from, io.notes);
        }
        own
    }

    /// When [`Endpoint::on_timer`] is to be called; never if `None`. It changes with every call.
    pub(crate) fn deadline(&self) -> Option<Time> {
        if matches!(self.state, State::Closed | State::Aborted) {
            return None;
        }
        let timers = [
            self.syn_at,
            self.sender.deadline(),
            self.receiver.deadline(),
            self.app.deadline(),
            self.stop_at,
        ];
        timers.into_iter().flatten().min()
    }

    /// Time has come to the deadline.
    pub(crate) fn on_timer(&mut self, io: &mut Io<'_>, number: &mut u32) {
        let now = io.now;
        let due = |t: Option<Time>| t.is_some_and(|t| t <= now);
        if due(self.syn_at) {
            if self.config.connect_every.is_none() {
                self.sender.rto.back_off();
            }
            self.send_syn(io, number);
        }
        if due(self.sender.deadline()) {
            self.sender.on_timer(io.now, io.notes);
        }
        if due(self.stop_at) {
            self.stop_at = None;
            let wish = self.app.stop();
            self.grant(wish, io);
        }
        if due(self.app.deadline()) {
            let wish = self.app.on_timer(io.now, io.rng);
            self.grant(wish, io);
        }
        let answer = if due(self.receiver.deadline()) { Answer::Now } else { Answer::None };
        self.flush(io, number, answer);
    }

    /// Sends what the sender has cut, and an acknowledgement if one is due and no segment carries it.
    fn flush(&mut self, io: &mut Io<'_>, number: &mut u32, answer: Answer) {
        if self.state != State::Established {
            return;
        }
        let mut pieces = std::mem::take(&mut self.sender.outbox);
        let any = !pieces.is_empty();
        for piece in pieces.drain(..) {
            self.send_piece(io, number, piece);
        }
        self.sender.outbox = pieces;
        if !any && answer == Answer::Now {
            let at = self.sender.max();
            self.send_piece(io, number, Piece { from: at, len: 0, fin: false });
        }
    }

    fn send_piece(&mut self, io: &mut Io<'_>, number: &mut u32, piece: Piece) {
        self.receiver.acked();
        let mut flags = Flags::ACK;
        if piece.fin {
            flags = flags.with(Flags::FIN);
        }
        if piece.len > 0 && piece.len < self.config.segment_bytes {
            flags = flags.with(Flags::PSH);
        }
        let mut sack = [None; tcp::MAX_SACK_BLOCKS];
        if self.config.variant == super::config::Variant::Sack {
            for (slot, block) in sack.iter_mut().zip(self.receiver.sack_blocks()) {
                *slot = block.map(|(from, to)| (wire(self.irs, from), wire(self.irs, to)));
            }
        }
        let repr = Repr {
            seq: wire(self.iss, piece.from),
            ack: wire(self.irs, self.receiver.expected()),
            flags,
            window: (self.receiver.window() >> self.config.window_shift()).min(0xffff) as u16,
            sack,
            ..self.header()
        };
        self.emit(io, number, repr, piece.from, piece.len as usize);
    }

    /// Makes the packet.
    fn emit(&self, io: &mut Io<'_>, number: &mut u32, repr: Repr, from: u64, len: usize) {
        let (src, dst) = (self.id.addr, self.id.peer);
        let header_len = repr.buffer_len();
        let tag = FlowTag { flow: self.id.flow, seq: *number };
        *number += 1;
        let meta = PacketMeta { id: PacketId(*io.next_id), flow: Some(tag), born: io.now };
        *io.next_id += 1;
        let ip_header_len = ip::Repr::header_len(dst);
        let mut p = io.pool.zeroed(ip_header_len + header_len + len, meta);
        let (header, segment) = p.bytes_mut().split_at_mut(ip_header_len);
        stream::fill(from, &mut segment[header_len..]);
        repr.emit(segment, src, dst);
        let (ttl, tos, id) = (INITIAL_TTL, self.id.tos, next_ip_id(io.ip_id));
        let (protocol, payload_len) = (ipv4::protocol::TCP, (header_len + len) as u16);
        ip::Repr { src, dst, protocol, ttl, tos, id, payload_len }.emit(header);
        io.out.push(p);
    }

    /// What the sender has done.
    pub fn counts(&self) -> Counts {
        self.sender.counts
    }
    /// Octets of the peer's stream that have come in order.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
    /// Segments with a wrong checksum.
    pub fn bad_segments(&self) -> u64 {
        self.bad
    }
    /// Whether all of this end's stream, its end too, was acknowledged.
    pub fn is_done(&self) -> bool {
        self.sender.is_done()
    }
    /// Whole requests (at the server) or answers (at the client) received.
    pub fn messages(&self) -> u64 {
        self.app.messages
    }
    /// The congestion window, in segments.
    pub fn window(&self) -> f64 {
        self.sender.cc.window()
    }
    /// The retransmission timeout, backed off.
    pub fn rto(&self) -> Span {
        self.sender.rto.timeout()
    }
    /// The smoothed round-trip time.
    pub fn srtt(&self) -> Option<Span> {
        self.sender.rto.srtt()
    }
    /// Whether the sender stands by for a route.
    pub fn is_frozen(&self) -> bool {
        self.sender.standby.is_frozen()
    }
    /// Octets that the peer holds beyond what is in order, as its selective acknowledgements say.
    pub fn selectively_acked(&self) -> u64 {
        self.sender.selectively_acked()
    }
}

/// The sequence number of a place in the stream whose SYN has this number.
fn wire(syn: u32, at: u64) -> u32 {
    syn.wrapping_add(1).wrapping_add(at as u32)
}

/// The place in the stream of a sequence number, within half the number space of `near`.
fn unwrap(number: u32, syn: u32, near: u64) -> Option<u64> {
    let offset = number.wrapping_sub(wire(syn, near)) as i32;
    near.checked_add_signed(i64::from(offset))
}
