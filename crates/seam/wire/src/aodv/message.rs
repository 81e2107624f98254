//! The four messages (sections 5.1 to 5.4).

use std::net::Ipv4Addr;

use crate::bytes::{addr_at, array_at, put, u8_at, u32_at};
use crate::list::{List, ListItem};
use crate::{Error, refuse_if};

const RREQ: u8 = 1;
const RREP: u8 = 2;
const RERR: u8 = 3;
const RREP_ACK: u8 = 4;

/// The most destinations that a Route Error has room for.
pub const MAX_UNREACHABLE: usize = 255;

/// One message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Who knows a route? (5.1)
    Rreq(Rreq),
    /// Here is one; with a hop count of 0, TTL 1 and destination = originator = sender, it is a Hello. (5.2, 6.9)
    Rrep(Rrep),
    /// These destinations cannot be reached through me any more. (5.3)
    Rerr(Rerr<'a>),
    /// Your reply arrived. (5.4)
    RrepAck,
}

/// Route Request (5.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rreq {
    /// J, reserved for multicast.
    pub join: bool,
    /// R, reserved for multicast.
    pub repair: bool,
    /// G: a node that answers from its table also notifies the destination.
    pub gratuitous: bool,
    /// D: only the destination may answer.
    pub destination_only: bool,
    /// U: the destination's sequence number is unknown.
    pub unknown_seq: bool,
    /// Hops from the originator to the node that handles the request.
    pub hop_count: u8,
    /// With the originator, names this request.
    pub id: u32,
    /// To whom.
    pub destination: Ipv4Addr,
    /// The destination's latest sequence number known to the originator.
    pub destination_seq: u32,
    /// Who asks.
    pub originator: Ipv4Addr,
    /// The originator's sequence number.
    pub originator_seq: u32,
}

/// Route Reply (5.2).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rrep {
    /// R, used for multicast.
    pub repair: bool,
    /// A: the next hop shall acknowledge this reply.
    pub ack_required: bool,
    /// Length of the routing prefix that the route serves; 0 for the destination only; 5 bits.
    pub prefix_size: u8,
    /// Hops from the originator to the destination; on its way, from the destination to here.
    pub hop_count: u8,
    /// To whom the route leads.
    pub destination: Ipv4Addr,
    /// The destination's sequence number.
    pub destination_seq: u32,
    /// Who asked.
    pub originator: Ipv4Addr,
    /// How long the route holds, in milliseconds.
    pub lifetime_ms: u32,
}

/// Route Error (5.3).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rerr<'a> {
    /// N: the link was repaired; do not delete the routes.
    pub no_delete: bool,
    /// Who cannot be reached; 1 to 255.
    pub unreachable: Unreachables<'a>,
}

/// A destination of a Route Error.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// The destination.
    pub destination: Ipv4Addr,
    /// Its sequence number, raised by the node that lost it.
    pub seq: u32,
}

impl Rreq {
    /// Length in octets.
    pub const LEN: usize = 24;

    /// A request as its originator sends it, without flags. Each address comes with its sequence number; the destination's may be
    /// unknown.
    pub fn new(
        (destination, known): (Ipv4Addr, Option<u32>),
        id: u32,
        (originator, originator_seq): (Ipv4Addr, u32),
    ) -> Self {
        Self {
            join: false,
            repair: false,
            gratuitous: false,
            destination_only: false,
            unknown_seq: known.is_none(),
            hop_count: 0,
            id,
            destination,
            destination_seq: known.unwrap_or(0),
            originator,
            originator_seq,
        }
    }

    fn parse(b: &[u8]) -> Result<Self, Error> {
        refuse_if(b.len() < Self::LEN, Error::Truncated)?;
        let flags = b[1];
        Ok(Self {
            join: flags & 0x80 != 0,
            repair: flags & 0x40 != 0,
            gratuitous: flags & 0x20 != 0,
            destination_only: flags & 0x10 != 0,
            unknown_seq: flags & 0x08 != 0,
            hop_count: b[3],
            id: u32_at(b, 4),
            destination: addr_at(b, 8),
            destination_seq: u32_at(b, 12),
            originator: addr_at(b, 16),
            originator_seq: u32_at(b, 20),
        })
    }

    fn emit(&self, b: &mut [u8]) {
        let flags = u8::from(self.join) << 7
            | u8::from(self.repair) << 6
            | u8::from(self.gratuitous) << 5
            | u8::from(self.destination_only) << 4
            | u8::from(self.unknown_seq) << 3;
        put(b, 0, [RREQ, flags, 0, self.hop_count]);
        put(b, 4, self.id.to_be_bytes());
        put(b, 8, self.destination.octets());
        put(b, 12, self.destination_seq.to_be_bytes());
        put(b, 16, self.originator.octets());
        put(b, 20, self.originator_seq.to_be_bytes());
    }
}

impl Rrep {
    /// Length in octets.
    pub const LEN: usize = 20;

    /// A reply as the destination sends it: without flags, for no subnet.
    pub const fn new(
        destination: Ipv4Addr,
        destination_seq: u32,
        originator: Ipv4Addr,
        lifetime_ms: u32,
    ) -> Self {
        Self {
            repair: false,
            ack_required: false,
            prefix_size: 0,
            hop_count: 0,
            destination,
            destination_seq,
            originator,
            lifetime_ms,
        }
    }

    fn parse(b: &[u8]) -> Result<Self, Error> {
        refuse_if(b.len() < Self::LEN, Error::Truncated)?;
        Ok(Self {
            repair: b[1] & 0x80 != 0,
            ack_required: b[1] & 0x40 != 0,
            prefix_size: b[2] & 0x1f,
            hop_count: b[3],
            destination: addr_at(b, 4),
            destination_seq: u32_at(b, 8),
            originator: addr_at(b, 12),
            lifetime_ms: u32_at(b, 16),
        })
    }

    fn emit(&self, b: &mut [u8]) {
        let flags = u8::from(self.repair) << 7 | u8::from(self.ack_required) << 6;
        put(b, 0, [RREP, flags, self.prefix_size & 0x1f, self.hop_count]);
        put(b, 4, self.destination.octets());
        put(b, 8, self.destination_seq.to_be_bytes());
        put(b, 12, self.originator.octets());
        put(b, 16, self.lifetime_ms.to_be_bytes());
    }
}

impl<'a> Rerr<'a> {
    fn parse(b: &'a [u8]) -> Result<Self, Error> {
        refuse_if(b.len() < 4, Error::Truncated)?;
        let count = usize::from(b[3]);
        refuse_if(count == 0, Error::Value("destination count"))?;
        let list = b.get(4..4 + 8 * count).ok_or(Error::Truncated)?;
        Ok(Self { no_delete: b[1] & 0x80 != 0, unreachable: Unreachables::from_wire(list.as_chunks().0) })
    }

    fn emit(&self, b: &mut [u8]) {
        put(b, 0, [RERR, u8::from(self.no_delete) << 7, 0, self.unreachable.len() as u8]);
        for (i, u) in self.unreachable.iter().enumerate() {
            put(b, 4 + 8 * i, u.destination.octets());
            put(b, 8 + 8 * i, u.seq.to_be_bytes());
        }
    }
}

impl<'a> Message<'a> {
    /// Reads the message at the start of a datagram's payload. What follows it are extensions.
    pub fn parse(b: &'a [u8]) -> Result<Self, Error> {
        match u8_at(b, 0) {
            _ if b.is_empty() => Err(Error::Truncated),
            RREQ => Rreq::parse(b).map(Self::Rreq),
            RREP => Rrep::parse(b).map(Self::Rrep),
            RERR => Rerr::parse(b).map(Self::Rerr),
            RREP_ACK if b.len() < 2 => Err(Error::Truncated),
            RREP_ACK => Ok(Self::RrepAck),
            _ => Err(Error::Value("type")),
        }
    }

    /// Length of the message without extensions, in octets.
    pub fn buffer_len(&self) -> usize {
        match self {
            Self::Rreq(_) => Rreq::LEN,
            Self::Rrep(_) => Rrep::LEN,
            Self::Rerr(r) => 4 + 8 * r.unreachable.len(),
            Self::RrepAck => 2,
        }
    }

    /// Writes the message, or says which field does not fit and writes nothing.
    /// Panics if `buf` is shorter than [`Message::buffer_len`].
    pub fn emit(&self, buf: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Rrep(r) if r.prefix_size > 31 => return Err(Error::Value("prefix size")),
            Self::Rerr(r) if r.unreachable.is_empty() => return Err(Error::Value("destination count")),
            Self::Rerr(r) if r.unreachable.len() > MAX_UNREACHABLE => return Err(Error::Full),
            _ => {}
        }
        let buf = &mut buf[..self.buffer_len()];
        match self {
            Self::Rreq(r) => r.emit(buf),
            Self::Rrep(r) => r.emit(buf),
            Self::Rerr(r) => r.emit(buf),
            Self::RrepAck => put(buf, 0, [RREP_ACK, 0]),
        }
        Ok(())
    }
}

/// The destinations of a Route Error.
pub type Unreachables<'a> = List<'a, Unreachable>;

impl ListItem for Unreachable {
    type Octets = [u8; 8];
    fn read(octets: &[u8; 8]) -> Self {
        Self { destination: addr_at(octets, 0), seq: u32::from_be_bytes(array_at(octets, 4)) }
    }
}
