//! The block that authenticates a routing packet (docs/concepts/authentication.md): its format, and its place in the packets
//! of each protocol.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |     Type      |    Length     |    Key ID     |     Kind      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                  Address of the transmitter                   |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                                                               |
//! +                Index of the transmitter's boot                +
//! |                                                               |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                            Counter                            |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Only kind 1: nonce (8), number of challenges (1),    |
//! |     challenged neighbours (4 each), answers (12 each)         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                        Tag (16 octets)                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! * AODV: an extension behind the message (RFC 3561, section 9), of a type that others may skip.
//! * DSR: the last option of the header (RFC 4728, section 6), of a type with which others drop the packet; behind the whole packet
//!   where there is a Flow State header, which has no options.
//! * DSDV: behind the entries, with two octets 0xff in front, so that no number of entries is as long and others drop the datagram.
//!
//! Kind 0 is a message of the protocol. Kind 1 is an exchange, a packet of the protocol with nothing but the block: the
//! transmitter's nonce with the neighbours that are to send it back, and the nonces that the transmitter sends back itself, each
//! behind the address of the neighbour that it is for.
//!
//! Nothing in here panics on any input.

use core::ops::Range;
use std::net::Ipv4Addr;

use wayhop_core::Packet as Buffer;

use crate::bytes::{addr_at, array_at, put};
use crate::ipv4::{self, protocol};
use crate::{Error, aodv, dsdv, dsr, udp};

/// The type of the extension of AODV: one that may be skipped, in the part for experiments.
const AODV_TYPE: u8 = 101;
/// The type of the option of DSR. Bits 0x60: drop the packet; bit 0x80 clear: without an error.
pub const DSR_TYPE: u8 = 125;
/// What is in front of the block in a datagram of DSDV.
const DSDV_MARK: [u8; 2] = [0xff; 2];
/// Octets of type and length.
const HEAD: usize = 2;
/// Octets of the tag.
pub const TAG_LEN: usize = 16;
/// Octets of the block of a message, type and length included.
const LEN: usize = 36;
/// Where in the block its tag, or an exchange, begins.
const FIXED: usize = LEN - TAG_LEN;
/// Octets of an exchange's nonce and number of challenges.
const EXCHANGE_HEAD: usize = 9;
/// Octets of the address of a challenged neighbour.
const ASK: usize = 4;
/// Octets of an answer: address and nonce.
const ANSWER: usize = 12;
/// The most octets of a block: its length is one octet.
const LONGEST: usize = HEAD + 255;
/// Octets for the challenges and answers of one exchange.
const ROOM: usize = LONGEST - LEN - EXCHANGE_HEAD;
/// The most octets that authentication adds to a message.
pub const MAX_LEN: usize = LEN + DSDV_MARK.len();

/// What a packet with a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A message of the protocol.
    Message,
    /// Challenges and answers.
    Exchange(Exchange),
}

/// A nonce with the neighbours that it challenges, and answers to challenges of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// What the neighbours are to send back.
    pub nonce: u64,
    asks: Vec<Ipv4Addr>,
    answers: Vec<(Ipv4Addr, u64)>,
}

impl Exchange {
    /// One without challenges and answers.
    pub const fn new(nonce: u64) -> Self {
        Self { nonce, asks: Vec::new(), answers: Vec::new() }
    }
    /// The neighbours that are challenged.
    pub fn asks(&self) -> &[Ipv4Addr] {
        &self.asks
    }
    /// The answers: a neighbour and its nonce.
    pub fn answers(&self) -> &[(Ipv4Addr, u64)] {
        &self.answers
    }
    /// Octets of challenges and answers.
    const fn used(&self) -> usize {
        ASK * self.asks.len() + ANSWER * self.answers.len()
    }
    /// Adds a challenge, if there is room.
    #[must_use]
    pub fn ask(&mut self, neighbour: Ipv4Addr) -> bool {
        let fits = self.used() + ASK <= ROOM;
        if fits {
            self.asks.push(neighbour);
        }
        fits
    }
    /// Adds an answer, if there is room.
    #[must_use]
    pub fn answer(&mut self, neighbour: Ipv4Addr, nonce: u64) -> bool {
        let fits = self.used() + ANSWER <= ROOM;
        if fits {
            self.answers.push((neighbour, nonce));
        }
        fits
    }

    /// Reads what is between the fixed part of a block and its tag.
    fn parse(b: &[u8]) -> Option<Self> {
        let (head, lists) = b.split_at_checked(EXCHANGE_HEAD)?;
        let (asks, answers) = lists.split_at_checked(ASK * usize::from(head[8]))?;
        if !answers.len().is_multiple_of(ANSWER) {
            return None;
        }
        let answer = |a: &[u8]| (addr_at(a, 0), u64::from_be_bytes(array_at(a, 4)));
        Some(Self {
            nonce: u64::from_be_bytes(array_at(head, 0)),
            asks: asks.chunks_exact(ASK).map(|a| addr_at(a, 0)).collect(),
            answers: answers.chunks_exact(ANSWER).map(answer).collect(),
        })
    }
    fn emit(&self, b: &mut [u8]) {
        put(b, 0, self.nonce.to_be_bytes());
        b[8] = self.asks.len() as u8;
        let (asks, answers) = b[EXCHANGE_HEAD..].split_at_mut(ASK * self.asks.len());
        for (place, n) in asks.chunks_exact_mut(ASK).zip(&self.asks) {
            place.copy_from_slice(&n.octets());
        }
        for (place, (n, nonce)) in answers.chunks_exact_mut(ANSWER).zip(&self.answers) {
            put(place, 0, n.octets());
            put(place, 4, nonce.to_be_bytes());
        }
    }
}

/// The block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The key that made the tag.
    pub key_id: u8,
    /// What the packet is.
    pub kind: Kind,
    /// The node that transmitted the packet.
    pub transmitter: Ipv4Addr,
    /// A number that the node drew when it began.
    pub index: u64,
    /// How many packets it had transmitted with that index.
    pub counter: u32,
    /// Over all of this and the packet.
    pub tag: [u8; TAG_LEN],
}

impl Block {
    /// Octets, type and length included.
    pub const fn buffer_len(&self) -> usize {
        match &self.kind {
            Kind::Message => LEN,
            Kind::Exchange(e) => LEN + EXCHANGE_HEAD + e.used(),
        }
    }

    fn parse(block_type: u8, b: &[u8]) -> Option<Self> {
        let [t, len, key_id, kind, ..] = *b else { return None };
        if t != block_type || usize::from(len) + HEAD != b.len() {
            return None;
        }
        let kind = match (kind, b.len()) {
            (0, LEN) => Kind::Message,
            (1, n) if n >= LEN + EXCHANGE_HEAD => Kind::Exchange(Exchange::parse(&b[FIXED..n - TAG_LEN])?),
            _ => return None,
        };
        Some(Self {
            key_id,
            kind,
            transmitter: addr_at(b, 4),
            index: u64::from_be_bytes(array_at(b, 8)),
            counter: u32::from_be_bytes(array_at(b, 16)),
            tag: array_at(b, b.len() - TAG_LEN),
        })
    }

    fn emit(&self, block_type: u8, b: &mut [u8]) {
        let (tag, kind) = (self.buffer_len() - TAG_LEN, u8::from(self.kind != Kind::Message));
        put(b, 0, [block_type, (self.buffer_len() - HEAD) as u8, self.key_id, kind]);
        put(b, 4, self.transmitter.octets());
        put(b, 8, self.index.to_be_bytes());
        put(b, 16, self.counter.to_be_bytes());
        if let Kind::Exchange(e) = &self.kind {
            e.emit(&mut b[FIXED..tag]);
        }
        put(b, tag, self.tag);
    }

    /// What the tag covers of the block: all but type, length and tag.
    pub fn covered(&self) -> Covered {
        let mut octets = [0; LONGEST];
        self.emit(0, &mut octets[..self.buffer_len()]);
        Covered { octets, end: self.buffer_len() - TAG_LEN }
    }
}

/// What the tag covers of a block.
#[derive(Clone, Debug)]
pub struct Covered {
    octets: [u8; LONGEST],
    end: usize,
}

impl Covered {
    /// The octets.
    pub fn bytes(&self) -> &[u8] {
        &self.octets[HEAD..self.end]
    }
}

/// The protocol whose packet carries a block.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// AODV.
    Aodv,
    /// DSR.
    Dsr,
    /// DSDV.
    Dsdv,
}

impl Carrier {
    /// That of a protocol; `None` for one whose messages cannot be authenticated.
    pub fn of(carrier: wayhop_core::Carrier) -> Option<Self> {
        match carrier {
            wayhop_core::Carrier::UdpPort(aodv::PORT) => Some(Self::Aodv),
            wayhop_core::Carrier::UdpPort(dsdv::PORT) => Some(Self::Dsdv),
            wayhop_core::Carrier::IpProtocol(protocol::DSR) => Some(Self::Dsr),
            _ => None,
        }
    }
    fn of_ports(source: u16, destination: u16) -> Option<Self> {
        match (source, destination) {
            (aodv::PORT, _) | (_, aodv::PORT) => Some(Self::Aodv),
            (dsdv::PORT, _) | (_, dsdv::PORT) => Some(Self::Dsdv),
            _ => None,
        }
    }
    /// What is in front of the block.
    pub const fn mark(self) -> &'static [u8] {
        match self {
            Self::Dsdv => &DSDV_MARK,
            _ => &[],
        }
    }
    /// The first octet of the block.
    pub const fn block_type(self) -> u8 {
        match self {
            Self::Dsr => DSR_TYPE,
            _ => AODV_TYPE,
        }
    }
    /// Whether messages are datagrams, with the protocol's port at both ends.
    pub const fn is_udp(self) -> bool {
        !matches!(self, Self::Dsr)
    }
    /// Its number in what a tag covers.
    pub const fn number(self) -> u8 {
        match self {
            Self::Aodv => 1,
            Self::Dsr => 2,
            Self::Dsdv => 3,
        }
    }
    /// Octets that authentication adds to a message.
    pub const fn overhead(self) -> usize {
        LEN + self.mark().len()
    }

    /// The block at the end of a room, and where it begins there, its mark included. An exchange fills the room.
    fn at_end(self, room: &[u8]) -> Option<(usize, Block)> {
        let from = |start: usize| {
            let block = room[start..].strip_prefix(self.mark())?;
            Some((start, Block::parse(self.block_type(), block)?))
        };
        let message = || from(room.len().checked_sub(self.overhead())?);
        // First, since what it ends with may look like a message's block: its nonces and tag are any octets.
        from(0).filter(|(_, b)| b.kind != Kind::Message).or_else(message)
    }
}

/// Where the blocks of a packet are, or would be.
struct Room {
    carrier: Carrier,
    /// What a block is at the end of, counted from the IP header.
    octets: Range<usize>,
    ip_header: usize,
}

/// The room for a block in a whole packet of a routing protocol.
fn room(packet: &[u8]) -> Option<Room> {
    let ip = ipv4::Packet::new_checked(packet).ok()?;
    let (ip_header, end) = (ip.header_len(), ip.total_len());
    if ip.fragment_offset() != 0 || end != packet.len() {
        return None;
    }
    let room = |carrier, octets| Some(Room { carrier, octets, ip_header });
    match ip.protocol() {
        protocol::UDP => {
            let d = udp::Packet::new_checked(ip.payload()).ok()?;
            let carrier = Carrier::of_ports(d.src_port(), d.dst_port())?;
            let is_whole = d.total_len() == ip.payload().len();
            if is_whole { room(carrier, ip_header + udp::HEADER_LEN..end) } else { None }
        }
        protocol::DSR => {
            let d = dsr::Packet::new_checked(ip.payload()).ok()?;
            let start = ip_header + dsr::HEADER_LEN;
            let stop = if d.flow_state().is_some() { end } else { ip_header + d.header_len() };
            room(Carrier::Dsr, start..stop)
        }
        _ => None,
    }
}

/// The block of a packet.
pub fn find(packet: &[u8]) -> Option<Block> {
    let room = room(packet)?;
    room.carrier.at_end(&packet[room.octets]).map(|(_, block)| block)
}

/// The payload of a datagram of AODV or DSDV without the block, and the block.
pub fn split_datagram(carrier: Carrier, payload: &[u8]) -> (&[u8], Option<Block>) {
    match carrier.at_end(payload) {
        Some((start, block)) => (&payload[..start], Some(block)),
        None => (payload, None),
    }
}

/// The block of a DSR header that is whole.
pub fn of_options(options: &[u8]) -> Option<Block> {
    Carrier::Dsr.at_end(options).map(|(_, block)| block)
}

/// Adds a block to a packet of a routing protocol.
pub fn insert(p: &mut Buffer, block: &Block) -> Result<(), Error> {
    let room = room(p.bytes()).ok_or(Error::Value("packet"))?;
    let (at, mark) = (room.octets.end, room.carrier.mark());
    let len = mark.len() + block.buffer_len();
    if p.len() + len > usize::from(u16::MAX) {
        return Err(Error::Full);
    }
    if at == p.len() {
        p.extend(&[0; LONGEST + DSDV_MARK.len()][..len]);
    } else {
        p.insert(at, len);
    }
    let gap = &mut p.bytes_mut()[at..at + len];
    gap[..mark.len()].copy_from_slice(mark);
    block.emit(room.carrier.block_type(), &mut gap[mark.len()..]);
    resized(p, &room, len as isize)
}

/// Takes the block out of a packet; the packet is as it was before [`insert`].
pub fn remove(p: &mut Buffer) -> Option<Block> {
    let room = room(p.bytes())?;
    let (start, block) = room.carrier.at_end(&p.bytes()[room.octets.clone()])?;
    let (at, len) = (room.octets.start + start, room.octets.len() - start);
    if room.octets.end == p.len() {
        p.truncate(at);
    } else {
        p.remove(at, len);
    }
    resized(p, &room, -(len as isize)).ok()?;
    Some(block)
}

/// Corrects lengths and checksums after the octets were inserted or taken out.
fn resized(p: &mut Buffer, room: &Room, by: isize) -> Result<(), Error> {
    let (at, len) = (room.ip_header, p.len() - room.ip_header);
    let bytes = p.bytes_mut();
    // The length that the header still states may be longer than what is left.
    let number = bytes[9];
    set_total_len(bytes, at, number, len)?;
    if room.carrier == Carrier::Dsr {
        let options = u16::from_be_bytes(array_at(bytes, at + 2));
        let is_flow_state = bytes[at + 1] & 0x80 != 0;
        if !is_flow_state {
            let options = options.checked_add_signed(by as i16).ok_or(Error::Length)?;
            put(bytes, at + 2, options.to_be_bytes());
        }
        return Ok(());
    }
    let (source, destination) = (addr_at(bytes, 12), addr_at(bytes, 16));
    let d = &mut bytes[at..];
    let port = |i: usize| u16::from_be_bytes(array_at(d, i));
    let repr =
        udp::Repr { src_port: port(0), dst_port: port(2), payload_len: (len - udp::HEADER_LEN) as u16 };
    let has_checksum = d[6..8] != [0, 0];
    repr.emit(d, source, destination);
    if !has_checksum {
        put(d, 6, [0, 0]);
    }
    Ok(())
}

fn set_total_len(bytes: &mut [u8], header: usize, number: u8, payload: usize) -> Result<(), Error> {
    debug_assert_eq!(header + payload, bytes.len());
    ipv4::set_payload(bytes, number, payload)
}

/// Writes a packet of the protocol, to all neighbours, with nothing in it: an exchange before it has its block.
pub fn write_empty(p: &mut Buffer, carrier: Carrier, from: Ipv4Addr) {
    let (number, head) = match carrier {
        Carrier::Dsr => (protocol::DSR, dsr::HEADER_LEN),
        Carrier::Aodv | Carrier::Dsdv => (protocol::UDP, udp::HEADER_LEN),
    };
    p.truncate(0);
    p.extend(&[0; ipv4::HEADER_LEN + udp::HEADER_LEN][..ipv4::HEADER_LEN + head]);
    let ip = ipv4::Repr { ttl: 1, ..ipv4::Repr::new(from, Ipv4Addr::BROADCAST, number, head as u16) };
    ip.emit(p.bytes_mut());
    let body = &mut p.bytes_mut()[ipv4::HEADER_LEN..];
    let port = match carrier {
        Carrier::Dsr => {
            body[0] = protocol::NO_NEXT_HEADER;
            return;
        }
        Carrier::Aodv => aodv::PORT,
        Carrier::Dsdv => dsdv::PORT,
    };
    let repr = udp::Repr { src_port: port, dst_port: port, payload_len: 0 };
    repr.emit(body, from, Ipv4Addr::BROADCAST);
}

/// Whether a packet is one that [`write_empty`] wrote for this node.
pub fn is_empty(packet: &[u8], carrier: Carrier, from: Ipv4Addr) -> bool {
    let head = if carrier == Carrier::Dsr { dsr::HEADER_LEN } else { udp::HEADER_LEN };
    // By its length first: hardly any other packet is as short.
    packet.len() == ipv4::HEADER_LEN + head
        && addr_at(packet, 12) == from
        && addr_at(packet, 16) == Ipv4Addr::BROADCAST
        && room(packet).is_some_and(|r| r.carrier == carrier && r.octets.is_empty())
}

/// Whether a packet is one that its transmitter has to authenticate: a packet of this protocol, whole. With `data` unset, packets of
/// DSR that carry data and nothing but their route are not.
pub fn concerns(packet: &[u8], carrier: Carrier, data: bool) -> bool {
    let Ok(ip) = ipv4::Packet::new_snapped(packet) else { return false };
    // A fragment carries no block, so that one that looks like a routing packet ends with the first look at it.
    match (ip.protocol(), carrier) {
        (protocol::UDP, Carrier::Aodv | Carrier::Dsdv) => {
            let port = if carrier == Carrier::Aodv { aodv::PORT } else { dsdv::PORT };
            matches!(ip.payload(), [_, _, a, b, ..] if u16::from_be_bytes([*a, *b]) == port)
        }
        (protocol::DSR, Carrier::Dsr) => data || !dsr::Packet::new_checked(ip.payload()).is_ok_and(is_plain),
        _ => false,
    }
}

/// Whether a DSR packet carries data and nothing but its route.
fn is_plain(d: dsr::Packet<'_>) -> bool {
    use dsr::DsrOption as O;
    let plain = |o| matches!(o, Ok(O::SourceRoute(_) | O::AckRequest { .. } | O::Pad1 | O::PadN { .. }));
    d.next_header() != protocol::NO_NEXT_HEADER && d.options().all(plain)
}
