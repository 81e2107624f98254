//! The block that authenticates a routing packet (docs/concepts/authentication.md): its format, and
//! how it is inserted and removed.
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
//! A protocol's [`wayhop_core::Authentication`] says where the block is in its packets, and with which type.
//!
//! Kind 0 is a message of the protocol. Kind 1 is an exchange, a packet of the protocol with nothing but the block: the
//! transmitter's nonce with the neighbours that are to send it back, and the nonces that the transmitter sends back itself, each
//! behind the address of the neighbour that it is for.

use core::ops::Range;
use std::net::Ipv4Addr;

use wayhop_core::{Authentication, Carrier, Datagram, MessageFormat, Packet as Buffer};

use crate::bytes::{addr_at, array_at, put};
use crate::ipv4::{self, protocol};
use crate::{Error, refuse_if, udp};

/// Octets of type and length.
const HEAD: usize = 2;
/// Octets of the tag.
pub const TAG_LEN: usize = 16;
/// Octets of the block of a message, type and length included.
pub const LEN: usize = 36;
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
pub const MAX_LEN: usize = LEN + Authentication::LONGEST_MARK;

/// What a packet with a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockKind {
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
    pub kind: BlockKind,
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
            BlockKind::Message => LEN,
            BlockKind::Exchange(e) => LEN + EXCHANGE_HEAD + e.used(),
        }
    }

    fn parse(block_type: u8, b: &[u8]) -> Option<Self> {
        let [t, len, key_id, kind, ..] = *b else { return None };
        if t != block_type || usize::from(len) + HEAD != b.len() {
            return None;
        }
        let kind = match (kind, b.len()) {
            (0, LEN) => BlockKind::Message,
            (1, n) if n >= LEN + EXCHANGE_HEAD => {
                BlockKind::Exchange(Exchange::parse(&b[FIXED..n - TAG_LEN])?)
            }
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
        let (tag, kind) = (self.buffer_len() - TAG_LEN, u8::from(self.kind != BlockKind::Message));
        put(b, 0, [block_type, (self.buffer_len() - HEAD) as u8, self.key_id, kind]);
        put(b, 4, self.transmitter.octets());
        put(b, 8, self.index.to_be_bytes());
        put(b, 16, self.counter.to_be_bytes());
        if let BlockKind::Exchange(e) = &self.kind {
            e.emit(&mut b[FIXED..tag]);
        }
        put(b, tag, self.tag);
    }

    /// What the tag covers of the block: all but type, length and tag.
    pub fn covered(&self) -> BlockInput {
        let mut octets = [0; LONGEST];
        self.emit(0, &mut octets[..self.buffer_len()]);
        BlockInput { octets, end: self.buffer_len() - TAG_LEN }
    }
}

/// What the tag covers of a block.
#[derive(Clone, Debug)]
pub struct BlockInput {
    octets: [u8; LONGEST],
    end: usize,
}

impl BlockInput {
    /// The octets.
    pub fn bytes(&self) -> &[u8] {
        &self.octets[HEAD..self.end]
    }
}

/// How packets of one protocol carry blocks.
#[derive(Copy, Clone, Debug)]
pub struct Format {
    carrier: Carrier,
    authentication: &'static Authentication,
}

impl Format {
    /// Of packets of this carrier.
    pub const fn new(carrier: Carrier, authentication: &'static Authentication) -> Self {
        Self { carrier, authentication }
    }
    /// That of a protocol; `None` for one whose messages cannot be authenticated.
    pub fn of(messages: &MessageFormat) -> Option<Self> {
        Some(Self::new(messages.carrier, messages.authentication?))
    }
    /// Whether messages are datagrams, with the protocol's port at both ends.
    pub const fn is_udp(self) -> bool {
        matches!(self.carrier, Carrier::UdpPort(_))
    }
    /// Its number in what a tag covers.
    pub const fn number(self) -> u8 {
        self.authentication.number
    }
    /// Octets that authentication adds to a message.
    pub const fn overhead(self) -> usize {
        LEN + self.authentication.mark.len()
    }

    /// The block of a datagram whose end may be cut off, and where its payload without the block ends.
    pub fn of_datagram(self, d: &Datagram<'_>) -> Option<(usize, Block)> {
        let room = (self.authentication.room)(d.payload)?;
        let is_lost = d.is_cut() && room.end == d.payload.len();
        let (at, block) = self.at_end(d.payload.get(room.clone()).filter(|_| !is_lost)?)?;
        Some((room.start + at, block))
    }

    /// The block at the end of a room, and where it begins there, its mark included. An exchange fills the room.
    fn at_end(self, room: &[u8]) -> Option<(usize, Block)> {
        let from = |start: usize| {
            let block = room[start..].strip_prefix(self.authentication.mark)?;
            Some((start, Block::parse(self.authentication.block_type, block)?))
        };
        let message = || from(room.len().checked_sub(self.overhead())?);
        // First, since what it ends with may look like a message's block: its nonces and tag are any octets.
        from(0).filter(|(_, b)| b.kind != BlockKind::Message).or_else(message)
    }

    /// The room for a block in a whole packet of the protocol.
    fn room(self, packet: &[u8]) -> Option<Room> {
        let ip = ipv4::Packet::new_checked(packet).ok()?;
        let (ip_header, end) = (ip.header_len(), ip.total_len());
        if ip.fragment_offset() != 0 || end != packet.len() {
            return None;
        }
        let payload = match (ip.protocol(), self.carrier) {
            (protocol::UDP, Carrier::UdpPort(port)) => {
                let d = udp::Packet::new_checked(ip.payload()).ok()?;
                let is_its = d.src_port() == port || d.dst_port() == port;
                let is_whole = d.total_len() == ip.payload().len();
                (is_its && is_whole).then_some(ip_header + udp::HEADER_LEN)?
            }
            (number, Carrier::IpProtocol(its)) if number == its => ip_header,
            _ => return None,
        };
        let room = (self.authentication.room)(&packet[payload..end])?;
        Some(Room { octets: payload + room.start..payload + room.end, ip_header, payload })
    }

    /// The block of a packet.
    pub fn find(self, packet: &[u8]) -> Option<Block> {
        let room = self.room(packet)?;
        self.at_end(&packet[room.octets]).map(|(_, block)| block)
    }

    /// Adds a block to a packet of the protocol.
    pub fn insert(self, p: &mut Buffer, block: &Block) -> Result<(), Error> {
        let room = self.room(p.bytes()).ok_or(Error::Value("packet"))?;
        let (at, mark) = (room.octets.end, self.authentication.mark);
        let len = mark.len() + block.buffer_len();
        refuse_if(p.len() + len > usize::from(u16::MAX), Error::Full)?;
        if at == p.len() {
            p.extend(&[0; LONGEST + Authentication::LONGEST_MARK][..len]);
        } else {
            p.insert(at, len);
        }
        let gap = &mut p.bytes_mut()[at..at + len];
        gap[..mark.len()].copy_from_slice(mark);
        block.emit(self.authentication.block_type, &mut gap[mark.len()..]);
        self.resized(p, &room, len as isize)
    }

    /// Takes the block out of a packet; the packet is as it was before [`Format::insert`].
    pub fn remove(self, p: &mut Buffer) -> Option<Block> {
        let room = self.room(p.bytes())?;
        let (start, block) = self.at_end(&p.bytes()[room.octets.clone()])?;
        let (at, len) = (room.octets.start + start, room.octets.len() - start);
        if room.octets.end == p.len() {
            p.truncate(at);
        } else {
            p.remove(at, len);
        }
        self.resized(p, &room, -(len as isize)).ok()?;
        Some(block)
    }

    /// Corrects lengths and checksums after the octets were inserted or taken out.
    fn resized(self, p: &mut Buffer, room: &Room, by: isize) -> Result<(), Error> {
        let (at, len) = (room.ip_header, p.len() - room.ip_header);
        let bytes = p.bytes_mut();
        // The length that the header still states may be longer than what is left.
        let number = bytes[9];
        set_total_len(bytes, at, number, len)?;
        if !(self.authentication.resized)(&mut bytes[room.payload..], by) {
            return Err(Error::Length);
        }
        if !self.is_udp() {
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

    /// Octets of headers in front of a payload, behind IP's.
    const fn udp_header_len(self) -> usize {
        if self.is_udp() { udp::HEADER_LEN } else { 0 }
    }

    /// Writes a packet of the protocol, to all neighbours, with nothing in it: an exchange before it has its block.
    pub fn write_empty(self, p: &mut Buffer, from: Ipv4Addr) {
        let empty = self.authentication.empty;
        let head = self.udp_header_len();
        p.truncate(0);
        p.extend(&[0; ipv4::HEADER_LEN + udp::HEADER_LEN][..ipv4::HEADER_LEN + head]);
        p.extend(empty);
        let number = match self.carrier {
            Carrier::IpProtocol(number) => number,
            Carrier::UdpPort(_) => protocol::UDP,
        };
        let len = (head + empty.len()) as u16;
        let ip = ipv4::Repr { ttl: 1, ..ipv4::Repr::new(from, Ipv4Addr::BROADCAST, number, len) };
        ip.emit(p.bytes_mut());
        if let Carrier::UdpPort(port) = self.carrier {
            let repr = udp::Repr { src_port: port, dst_port: port, payload_len: empty.len() as u16 };
            repr.emit(&mut p.bytes_mut()[ipv4::HEADER_LEN..], from, Ipv4Addr::BROADCAST);
        }
    }

    /// Whether a packet is one that [`Format::write_empty`] wrote for this node.
    pub fn is_empty(self, packet: &[u8], from: Ipv4Addr) -> bool {
        // By its length first: hardly any other packet is as short.
        packet.len() == ipv4::HEADER_LEN + self.udp_header_len() + self.authentication.empty.len()
            && addr_at(packet, 12) == from
            && addr_at(packet, 16) == Ipv4Addr::BROADCAST
            && self.room(packet).is_some_and(|r| r.octets.is_empty())
    }

    /// Whether a packet is one that its transmitter has to authenticate: a packet of this protocol, whole. With `data` unset,
    /// packets that carry data, and nothing that a node would learn from, are not.
    pub fn concerns(self, packet: &[u8], data: bool) -> bool {
        let Ok(ip) = ipv4::Packet::new_snapped(packet) else { return false };
        // A fragment carries no block, so that one that looks like a routing packet ends with the first look at it.
        match (ip.protocol(), self.carrier) {
            (protocol::UDP, Carrier::UdpPort(port)) => {
                matches!(ip.payload(), [_, _, a, b, ..] if u16::from_be_bytes([*a, *b]) == port)
            }
            (number, Carrier::IpProtocol(its)) if number == its => {
                data || !(self.authentication.is_data)(ip.payload())
            }
            _ => false,
        }
    }
}

/// Where the block of a packet is, or would be.
struct Room {
    /// What a block is at the end of, counted from the IP header.
    octets: Range<usize>,
    ip_header: usize,
    payload: usize,
}

fn set_total_len(bytes: &mut [u8], header: usize, number: u8, payload: usize) -> Result<(), Error> {
    debug_assert_eq!(header + payload, bytes.len());
    ipv4::set_payload(bytes, number, payload)
}
