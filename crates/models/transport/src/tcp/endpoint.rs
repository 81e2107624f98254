//! One end of a connection: states, sequence numbers, and segments as packets.

use std::net::Ipv6Addr;

use wayhop_core::{Addr, Packet, PacketId, PacketMeta, Pool, Span, Time};
use wayhop_wire::tcp::{Flags, QuotedSegment, Repr};
use wayhop_wire::{icmp, icmpv6, ip, ipv4, ipv6, tcp};

use super::config::TcpConfig;
use super::note::Note;
use super::receiver::Receiver;
use super::send_buffer::SendBuffer;
use super::sender::{AckIn, Counts, Piece, Sender};
use crate::{INITIAL_TTL, next_ip_id};

/// What an end is given at each call, and where it puts what it makes.
pub(crate) struct Io<'a> {
    /// The time.
    pub now: Time,
    /// Buffers for segments.
    pub pool: &'a mut Pool,
    /// Numbers the packets of the run.
    pub next_id: &'a mut u64,
    /// The node's IP identification.
    pub ip_id: &'a mut u16,
    /// Takes the segments to send, in order. They belong to no flow yet.
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

/// Both sockets of a connection, as one of its ends sees them.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sockets {
    pub(crate) addr: Addr,
    pub(crate) port: u16,
    pub(crate) peer: Addr,
    pub(crate) peer_port: u16,
}

/// What a segment means for the application.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Octets that were delivered.
    pub(crate) delivered: u64,
    /// The peer's whole stream has come.
    pub(crate) finished: bool,
}

/// One end of a connection. An application writes and closes; the segments leave with the next `flush`, so that
/// data written in answer to a segment carries its acknowledgement.
pub struct Endpoint {
    config: TcpConfig,
    sockets: Sockets,
    tos: u8,
    state: State,
    /// The sequence number of this end's SYN, and of the peer's.
    iss: u32,
    irs: u32,
    syn_at: Option<Time>,
    syn_sent: Time,
    syns: u32,
    pub(super) sender: Sender,
    send_buffer: SendBuffer,
    receiver: Receiver,
    /// The application has written or closed since the last look at the windows.
    asked: bool,
    /// An acknowledgement is due.
    answer: bool,
    delivered: u64,
}

impl Endpoint {
    /// `active`: this end opens the connection. `numbers`: the initial sequence numbers of this end and of its peer.
    /// `phase`: of the node's clock within a tick.
    pub(crate) fn new(
        config: TcpConfig,
        sockets: Sockets,
        tos: u8,
        active: bool,
        numbers: (u32, u32),
        phase: Span,
    ) -> Self {
        let state = match (config.handshake, active) {
            (false, _) => State::Established,
            (true, true) => State::Closed,
            (true, false) => State::Listen,
        };
        Self {
            config,
            sockets,
            tos,
            state,
            iss: numbers.0,
            irs: numbers.1,
            syn_at: None,
            syn_sent: Time::ZERO,
            syns: 0,
            sender: Sender::new(&config, phase),
            send_buffer: SendBuffer::default(),
            receiver: Receiver::new(config.window_bytes(), config.delayed_ack),
            asked: false,
            answer: false,
            delivered: 0,
        }
    }

    /// Opens the connection. One without a handshake is established from the beginning.
    pub(crate) fn connect(&mut self, io: &mut Io<'_>) {
        if self.state == State::Closed {
            self.state = State::SynSent;
            self.send_syn(io);
        }
    }

    /// Writes octets of the pattern ([`super::stream`]), which are not kept; `u64::MAX` for as many
    /// as can be sent.
    pub(crate) fn write(&mut self, octets: u64) {
        self.sender.write(octets);
        self.asked = true;
    }
    /// Writes octets, which are kept until they are acknowledged.
    pub(crate) fn write_octets(&mut self, octets: &[u8]) {
        self.send_buffer.write(self.sender.written, octets);
        self.write(octets.len() as u64);
    }
    /// The application writes no more.
    pub(crate) fn close(&mut self) {
        self.sender.close();
        self.asked = true;
    }

    /// Cuts segments of what the application has written, as far as the windows let them out.
    pub(crate) fn push(&mut self, io: &mut Io<'_>) {
        if self.state == State::Established && std::mem::take(&mut self.asked) {
            self.sender.send(io.now, io.notes);
        }
    }

    /// Sends or repeats the SYN, with an acknowledgement if the peer's has come.
    fn send_syn(&mut self, io: &mut Io<'_>) {
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
        self.emit(io, repr, 0, 0);
    }

    fn header(&self) -> Repr {
        let (src_port, dst_port) = (self.sockets.port, self.sockets.peer_port);
        Repr { src_port, dst_port, padding: self.config.padding, ..Repr::default() }
    }

    /// A segment of this connection came.
    pub(crate) fn on_segment(&mut self, io: &mut Io<'_>, s: &Repr, payload: &[u8], hops: u8) -> Heard {
        let acks = s.flags.contains(Flags::ACK);
        let acks_syn = acks && s.ack == self.iss.wrapping_add(1);
        if s.flags.contains(Flags::RST) {
            // RFC 9293 sections 3.10.7.3 and 3.10.7.4: the peer does not know the connection.
            let offset = s.seq.wrapping_sub(wire(self.irs, self.receiver.expected()));
            let in_window = u64::from(offset) <= self.receiver.window();
            if if self.state == State::SynSent { acks_syn } else { in_window } {
                self.abort();
            }
            return Heard::default();
        }
        match self.state {
            State::Closed => {}
            // RFC 9293 section 3.10.7.1: the connection is no more.
            State::Aborted => reset(io, &self.sockets, self.tos, self.header(), s, payload.len()),
            State::Listen => {
                if s.flags.contains(Flags::SYN) && !acks {
                    self.irs = s.seq;
                    self.state = State::SynReceived;
                    self.send_syn(io);
                }
            }
            State::SynSent => {
                if s.flags.contains(Flags::SYN) && acks_syn {
                    self.irs = s.seq;
                    self.syn_acked(io, s);
                    // The first segment of data acknowledges; without one a bare acknowledgement does.
                    self.answer = true;
                }
            }
            State::SynReceived if s.flags.contains(Flags::SYN) => self.send_syn(io),
            State::SynReceived => {
                if acks && self.ack_position(s.ack).is_some() {
                    self.syn_acked(io, s);
                    return self.on_data(io, s, payload, acks, hops);
                }
            }
            // The peer has not heard the end of the handshake.
            State::Established if s.flags.contains(Flags::SYN) => self.answer = true,
            State::Established => return self.on_data(io, s, payload, acks, hops),
        }
        Heard::default()
    }

    /// The connection is over for this end: its node lost what it knew, or its peer did.
    pub(crate) fn abort(&mut self) {
        self.state = State::Aborted;
    }

    /// The SYN of this end was acknowledged.
    fn syn_acked(&mut self, io: &mut Io<'_>, s: &Repr) {
        if self.syns == 1 {
            self.sender.rto.sample(self.syn_sent, io.now);
        } else {
            // A lost SYN: begin with one segment (RFC 5681, section 3.1).
            self.sender.cc.set_window(1.0);
        }
        self.sender.peer_window = self.peer_window(s);
        self.state = State::Established;
        self.syn_at = None;
    }

    fn peer_window(&self, s: &Repr) -> u64 {
        let shift = if s.flags.contains(Flags::SYN) { 0 } else { self.config.window_shift() };
        u64::from(s.window) << shift
    }

    /// The stream position of an acknowledgement number; `None` if it is before the stream's begin.
    fn ack_position(&self, ack: u32) -> Option<u64> {
        unwrap(ack, self.iss, self.sender.una)
    }

    fn on_data(&mut self, io: &mut Io<'_>, s: &Repr, payload: &[u8], acks: bool, hops: u8) -> Heard {
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
            self.answer = true;
            return Heard::default();
        }
        let Some(ack) = self.ack_position(s.ack).filter(|_| acks) else { return Heard::default() };
        let mut blocks = [(0, 0); tcp::MAX_SACK_BLOCKS];
        let mut n = 0;
        for (from, to) in s.sack.iter().map_while(|b| *b) {
            if let (Some(from), Some(to)) = (self.ack_position(from), self.ack_position(to)) {
                blocks[n] = (from, to);
                n += 1;
            }
        }
        let bare = payload.is_empty() && !fin;
        let ack = AckIn { ack, window: self.peer_window(s), bare, sack: &blocks[..n], hops };
        if !self.sender.on_ack(io.now, &ack, io.notes) {
            self.answer = true;
            return Heard::default();
        }
        self.send_buffer.acknowledge(self.sender.una);
        let mut got = 0;
        let deliver = &mut *io.deliver;
        self.answer |= self.receiver.accept(io.now, from, payload, fin, &mut |octets: &[u8]| {
            got += octets.len() as u64;
            deliver(octets);
        });
        self.delivered += got;
        Heard { delivered: got, finished: self.receiver.is_done() }
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
        let Some(own) = self.sockets.addr.v6() else { return false };
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
        let Sockets { addr, port, peer, peer_port } = self.sockets;
        let own = ends == (addr, peer) && (quoted.src_port, quoted.dst_port) == (port, peer_port);
        if own
            && soft
            && self.state == State::Established
            && let Some(from) = self.ack_position(quoted.seq)
        {
            self.sender.on_notice(io.now, from, io.notes);
        }
        own
    }

    /// Whether data may flow.
    pub(crate) fn is_established(&self) -> bool {
        self.state == State::Established
    }
    /// Whether the connection is being opened, or is open.
    pub(crate) fn is_alive(&self) -> bool {
        !matches!(self.state, State::Closed | State::Aborted)
    }

    /// When [`Endpoint::on_timer`] is to be called; never if `None`. It changes with every call.
    pub(crate) fn deadline(&self) -> Option<Time> {
        let timers = [self.syn_at, self.sender.deadline(), self.receiver.ack_at];
        timers.into_iter().flatten().min().filter(|_| self.is_alive())
    }

    /// Time has come to the deadline.
    pub(crate) fn on_timer(&mut self, io: &mut Io<'_>) {
        let now = io.now;
        let due = |t: Option<Time>| t.is_some_and(|t| t <= now);
        if due(self.syn_at) {
            if self.config.connect_every.is_none() {
                self.sender.rto.back_off();
            }
            self.send_syn(io);
        }
        if due(self.sender.deadline()) {
            self.sender.on_timer(io.now, io.notes);
        }
        self.answer |= due(self.receiver.ack_at);
    }

    /// Sends what the sender has cut, and an acknowledgement if one is due and no segment carries it.
    pub(crate) fn flush(&mut self, io: &mut Io<'_>) {
        self.push(io);
        if self.state != State::Established {
            return;
        }
        let answer = std::mem::take(&mut self.answer);
        let mut pieces = std::mem::take(&mut self.sender.outbox);
        let any = !pieces.is_empty();
        for piece in pieces.drain(..) {
            self.send_piece(io, piece);
        }
        self.sender.outbox = pieces;
        if !any && answer {
            self.send_piece(io, Piece { from: self.sender.max, len: 0, fin: false });
        }
    }

    fn send_piece(&mut self, io: &mut Io<'_>, piece: Piece) {
        self.receiver.ack_at = None;
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
        self.emit(io, repr, piece.from, piece.len as usize);
    }

    /// Makes the packet.
    fn emit(&self, io: &mut Io<'_>, repr: Repr, from: u64, len: usize) {
        let fill = |payload: &mut [u8]| self.send_buffer.read(from, payload);
        emit(io, &self.sockets, self.tos, repr, len, fill);
    }

    /// What the sender has done.
    pub fn counts(&self) -> Counts {
        self.sender.counts
    }
    /// Whether the peer's whole stream has come.
    pub(crate) fn has_received_all(&self) -> bool {
        self.receiver.is_done()
    }
    /// Octets of the peer's stream that have come in order.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
    /// Whether all of this end's stream, its end too, was acknowledged.
    pub fn is_done(&self) -> bool {
        self.sender.is_done()
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
        self.sender.board.octets()
    }
}

/// Answers a segment of a connection that does not exist (RFC 9293 section 3.10.7.1). `header` has the ports, `len` octets of
/// payload came.
pub(super) fn reset(io: &mut Io<'_>, sockets: &Sockets, tos: u8, header: Repr, s: &Repr, len: usize) {
    let repr = if s.flags.contains(Flags::ACK) {
        Repr { flags: Flags::RST, seq: s.ack, ..header }
    } else {
        let ends = u32::from(s.flags.contains(Flags::SYN)) + u32::from(s.flags.contains(Flags::FIN));
        let ack = s.seq.wrapping_add(len as u32).wrapping_add(ends);
        Repr { flags: Flags::RST.with(Flags::ACK), ack, ..header }
    };
    emit(io, sockets, tos, repr, 0, |_| ());
}

/// Makes the packet of a segment.
fn emit(io: &mut Io<'_>, sockets: &Sockets, tos: u8, repr: Repr, len: usize, fill: impl FnOnce(&mut [u8])) {
    let (src, dst) = (sockets.addr, sockets.peer);
    let header_len = repr.buffer_len();
    let meta = PacketMeta { id: PacketId(*io.next_id), flow: None, born: io.now };
    *io.next_id += 1;
    let ip_header_len = ip::Repr::header_len(dst);
    let mut p = io.pool.zeroed(ip_header_len + header_len + len, meta);
    let (header, segment) = p.bytes_mut().split_at_mut(ip_header_len);
    fill(&mut segment[header_len..]);
    repr.emit(segment, src, dst);
    let (ttl, id) = (INITIAL_TTL, next_ip_id(io.ip_id));
    let (protocol, payload_len) = (ipv4::protocol::TCP, (header_len + len) as u16);
    ip::Repr { src, dst, protocol, ttl, tos, id, payload_len }.emit(header);
    io.out.push(p);
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
