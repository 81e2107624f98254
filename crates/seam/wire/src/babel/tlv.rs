//! TLVs (section 4.6; RFC 8967, section 6).

use std::net::IpAddr;

use super::prefix::{address, put_address};
use super::{Encoding, Prefix, SubTlvs};
use crate::bytes::{array_at, put, u8_at, u16_at, u32_at};
use crate::{Error, refuse_if};

/// TLV types.
pub mod tlv_type {
    /// One octet, without a length.
    pub const PAD1: u8 = 0;
    /// Padding.
    pub const PAD_N: u8 = 1;
    /// Acknowledgment Request.
    pub const ACK_REQUEST: u8 = 2;
    /// Acknowledgment.
    pub const ACK: u8 = 3;
    /// Hello.
    pub const HELLO: u8 = 4;
    /// I Heard You.
    pub const IHU: u8 = 5;
    /// Router-Id.
    pub const ROUTER_ID: u8 = 6;
    /// Next Hop.
    pub const NEXT_HOP: u8 = 7;
    /// Update.
    pub const UPDATE: u8 = 8;
    /// Route Request.
    pub const ROUTE_REQUEST: u8 = 9;
    /// Seqno Request.
    pub const SEQNO_REQUEST: u8 = 10;
    /// Message Authentication Code (RFC 8967).
    pub const MAC: u8 = 16;
    /// Packet Counter (RFC 8967).
    pub const PC: u8 = 17;
    /// Challenge Request (RFC 8967).
    pub const CHALLENGE_REQUEST: u8 = 18;
    /// Challenge Reply (RFC 8967).
    pub const CHALLENGE_REPLY: u8 = 19;
}

/// Octets of type and length.
const HEAD_LEN: usize = 2;

/// The identity of a router.
pub type RouterId = [u8; 8];

/// A TLV.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// What it says, by its type.
    pub body: Body<'a>,
    /// What follows; empty where the type has no sub-TLVs: padding, and those of RFC 8967.
    pub sub_tlvs: SubTlvs<'a>,
}

/// What a TLV says. Intervals are in centiseconds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// One octet.
    Pad1,
    /// Two octets, and this number more.
    PadN(u8),
    /// Asks for an acknowledgment (4.6.3).
    AckRequest {
        /// Returned in the acknowledgment.
        opaque: u16,
        /// The time in which it is expected.
        interval_cs: u16,
    },
    /// An acknowledgment (4.6.4).
    Ack {
        /// The value of the request.
        opaque: u16,
    },
    /// Announces the sender to its neighbours (4.6.5).
    Hello {
        /// U: it belongs to the series of unicast Hellos.
        unicast: bool,
        /// One more in each Hello of its series.
        seqno: u16,
        /// The longest time until the next one; 0 in an unscheduled Hello.
        interval_cs: u16,
    },
    /// I Heard You (4.6.6).
    Ihu {
        /// The cost of receiving from the neighbour; 0xffff if it is not heard.
        rxcost: u16,
        /// The longest time until the next one.
        interval_cs: u16,
        /// The neighbour; `None` for each that receives it.
        address: Option<IpAddr>,
    },
    /// The router whose routes the following Updates announce (4.6.7).
    RouterId(RouterId),
    /// The next hop of the following Updates of its family (4.6.8).
    NextHop(IpAddr),
    /// Announces or retracts a route (4.6.9).
    Update(Update<'a>),
    /// Asks for a route, or for all of them (4.6.10).
    RouteRequest(Prefix<'a>),
    /// Asks for a newer sequence number (4.6.11).
    SeqnoRequest {
        /// The least sequence number that answers it.
        seqno: u16,
        /// The hops that the request may make.
        hop_count: u8,
        /// The router that originates the prefix.
        router_id: RouterId,
        /// The prefix.
        prefix: Prefix<'a>,
    },
    /// Message Authentication Code (RFC 8967, section 6.1).
    Mac(&'a [u8]),
    /// Packet Counter (6.2).
    Pc {
        /// More in each packet with the same index.
        counter: u32,
        /// Chosen by the sender when it starts.
        index: &'a [u8],
    },
    /// Asks for a Challenge Reply with this nonce (6.3).
    ChallengeRequest(&'a [u8]),
    /// The nonce of a Challenge Request (6.4).
    ChallengeReply(&'a [u8]),
    /// A TLV of another type.
    Other {
        /// Its type.
        kind: u8,
        /// What follows its length.
        data: &'a [u8],
    },
}

/// Announces or retracts a route (4.6.9).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Update<'a> {
    /// P: the prefix becomes the default prefix of its encoding.
    pub sets_default: bool,
    /// R: the address becomes the router-id of this Update and the following ones.
    pub sets_router_id: bool,
    /// The destination.
    pub prefix: Prefix<'a>,
    /// The longest time until the next one; 0xffff if there is none.
    pub interval_cs: u16,
    /// The originator's sequence number.
    pub seqno: u16,
    /// The sender's metric; 0xffff retracts the route.
    pub metric: u16,
}

impl<'a> Tlv<'a> {
    /// Reads the octets of one TLV.
    ///
    /// # Errors
    /// [`Error::Truncated`] if there are fewer than its length or its fields take, [`Error::Value`] for an address encoding,
    /// prefix length or number of omitted octets that its type does not allow, [`Error::Length`] for a wrong sub-TLV.
    pub fn parse(b: &'a [u8]) -> Result<Self, Error> {
        let kind = *b.first().ok_or(Error::Truncated)?;
        if kind == tlv_type::PAD1 {
            return Ok(Self { body: Body::Pad1, sub_tlvs: SubTlvs::default() });
        }
        let len = usize::from(*b.get(1).ok_or(Error::Truncated)?);
        let data = b.get(HEAD_LEN..HEAD_LEN + len).ok_or(Error::Truncated)?;
        let (body, rest) = Body::parse(kind, data)?;
        Ok(Self { body, sub_tlvs: SubTlvs::parse(rest)? })
    }

    /// Length in octets.
    pub fn buffer_len(&self) -> usize {
        match self.body {
            Body::Pad1 => 1,
            body => HEAD_LEN + body.len() + self.sub_tlvs.octets().len(),
        }
    }

    /// Writes the TLV, or says which field does not fit. Panics if `buf` is shorter than [`Tlv::buffer_len`].
    pub(super) fn emit(&self, buf: &mut [u8]) -> Result<(), Error> {
        if self.body == Body::Pad1 {
            put(buf, 0, [tlv_type::PAD1]);
            return Ok(());
        }
        let len = self.buffer_len() - HEAD_LEN;
        put(buf, 0, [self.body.kind(), u8::try_from(len).map_err(|_| Error::Full)?]);
        let (body, sub_tlvs) = buf[HEAD_LEN..HEAD_LEN + len].split_at_mut(self.body.len());
        sub_tlvs.copy_from_slice(self.sub_tlvs.octets());
        self.body.emit(body)
    }
}

impl<'a> Body<'a> {
    /// Also gives the octets behind it, where sub-TLVs are.
    fn parse(kind: u8, b: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        let fixed = |len| b.split_at_checked(len).ok_or(Error::Truncated);
        Ok(match kind {
            tlv_type::PAD_N => (Self::PadN(b.len() as u8), &[]),
            tlv_type::ACK_REQUEST => {
                let (b, rest) = fixed(6)?;
                (Self::AckRequest { opaque: u16_at(b, 2), interval_cs: u16_at(b, 4) }, rest)
            }
            tlv_type::ACK => (Self::Ack { opaque: u16_at(b, 0) }, fixed(2)?.1),
            tlv_type::HELLO => {
                let (b, rest) = fixed(6)?;
                let unicast = b[0] & 0x80 != 0;
                (Self::Hello { unicast, seqno: u16_at(b, 2), interval_cs: u16_at(b, 4) }, rest)
            }
            tlv_type::IHU => {
                let (address, rest) = address(u8_at(b, 0), fixed(6)?.1)?;
                (Self::Ihu { rxcost: u16_at(b, 2), interval_cs: u16_at(b, 4), address }, rest)
            }
            tlv_type::ROUTER_ID => (Self::RouterId(array_at(b, 2)), fixed(10)?.1),
            tlv_type::NEXT_HOP => {
                let (address, rest) = address(u8_at(b, 0), fixed(2)?.1)?;
                (Self::NextHop(address.ok_or(Error::Value("address encoding"))?), rest)
            }
            tlv_type::UPDATE => {
                let (head, rest) = fixed(10)?;
                let (prefix, rest) = Prefix::parse(head[0], head[2], head[3], rest)?;
                let update = Update {
                    sets_default: head[1] & 0x80 != 0,
                    sets_router_id: head[1] & 0x40 != 0,
                    prefix,
                    interval_cs: u16_at(head, 4),
                    seqno: u16_at(head, 6),
                    metric: u16_at(head, 8),
                };
                (Self::Update(update), rest)
            }
            tlv_type::ROUTE_REQUEST => {
                let (head, rest) = fixed(2)?;
                let (prefix, rest) = Prefix::parse(head[0], head[1], 0, rest)?;
                (Self::RouteRequest(prefix), rest)
            }
            tlv_type::SEQNO_REQUEST => {
                let (head, rest) = fixed(14)?;
                let (prefix, rest) = Prefix::parse(head[0], head[1], 0, rest)?;
                let (seqno, router_id) = (u16_at(head, 2), array_at(head, 6));
                (Self::SeqnoRequest { seqno, hop_count: head[4], router_id, prefix }, rest)
            }
            tlv_type::MAC => (Self::Mac(b), &[]),
            tlv_type::PC => (Self::Pc { counter: u32_at(b, 0), index: fixed(4)?.1 }, &[]),
            tlv_type::CHALLENGE_REQUEST => (Self::ChallengeRequest(b), &[]),
            tlv_type::CHALLENGE_REPLY => (Self::ChallengeReply(b), &[]),
            kind => (Self::Other { kind, data: b }, &[]),
        })
    }

    /// The TLV type.
    pub const fn kind(&self) -> u8 {
        match self {
            Self::Pad1 => tlv_type::PAD1,
            Self::PadN(_) => tlv_type::PAD_N,
            Self::AckRequest { .. } => tlv_type::ACK_REQUEST,
            Self::Ack { .. } => tlv_type::ACK,
            Self::Hello { .. } => tlv_type::HELLO,
            Self::Ihu { .. } => tlv_type::IHU,
            Self::RouterId(_) => tlv_type::ROUTER_ID,
            Self::NextHop(_) => tlv_type::NEXT_HOP,
            Self::Update(_) => tlv_type::UPDATE,
            Self::RouteRequest(_) => tlv_type::ROUTE_REQUEST,
            Self::SeqnoRequest { .. } => tlv_type::SEQNO_REQUEST,
            Self::Mac(_) => tlv_type::MAC,
            Self::Pc { .. } => tlv_type::PC,
            Self::ChallengeRequest(_) => tlv_type::CHALLENGE_REQUEST,
            Self::ChallengeReply(_) => tlv_type::CHALLENGE_REPLY,
            Self::Other { kind, .. } => *kind,
        }
    }

    /// Octets between length and sub-TLVs.
    fn len(&self) -> usize {
        let address_len = |a| Encoding::of(a).width() - Encoding::of(a).implied();
        match self {
            Self::Pad1 => 0,
            Self::PadN(n) => usize::from(*n),
            Self::Ack { .. } => 2,
            Self::AckRequest { .. } | Self::Hello { .. } => 6,
            Self::Ihu { address, .. } => 6 + address_len(*address),
            Self::RouterId(_) => 10,
            Self::NextHop(a) => 2 + address_len(Some(*a)),
            Self::Update(u) => 10 + u.prefix.octets.len(),
            Self::RouteRequest(prefix) => 2 + prefix.octets.len(),
            Self::SeqnoRequest { prefix, .. } => 14 + prefix.octets.len(),
            Self::Pc { index, .. } => 4 + index.len(),
            Self::Mac(data)
            | Self::ChallengeRequest(data)
            | Self::ChallengeReply(data)
            | Self::Other { data, .. } => data.len(),
        }
    }

    /// Fills these octets.
    fn emit(&self, b: &mut [u8]) -> Result<(), Error> {
        b.fill(0);
        match self {
            Self::Pad1 | Self::PadN(_) => {}
            Self::AckRequest { opaque, interval_cs } => {
                put(b, 2, opaque.to_be_bytes());
                put(b, 4, interval_cs.to_be_bytes());
            }
            Self::Ack { opaque } => put(b, 0, opaque.to_be_bytes()),
            Self::Hello { unicast, seqno, interval_cs } => {
                put(b, 0, [u8::from(*unicast) << 7]);
                put(b, 2, seqno.to_be_bytes());
                put(b, 4, interval_cs.to_be_bytes());
            }
            Self::Ihu { rxcost, interval_cs, address } => {
                put(b, 0, [Encoding::of(*address) as u8]);
                put(b, 2, rxcost.to_be_bytes());
                put(b, 4, interval_cs.to_be_bytes());
                put_address(&mut b[6..], *address);
            }
            Self::RouterId(id) => put(b, 2, *id),
            Self::NextHop(a) => {
                put(b, 0, [Encoding::of(Some(*a)) as u8]);
                put_address(&mut b[2..], Some(*a));
            }
            Self::Update(u) => u.emit(b)?,
            Self::RouteRequest(prefix) => {
                put(b, 0, [prefix.encoding as u8, prefix.len]);
                put_prefix(b, 2, prefix, 0)?;
            }
            Self::SeqnoRequest { seqno, hop_count, router_id, prefix } => {
                put(b, 0, [prefix.encoding as u8, prefix.len]);
                put(b, 2, seqno.to_be_bytes());
                put(b, 4, [*hop_count]);
                put(b, 6, *router_id);
                put_prefix(b, 14, prefix, 0)?;
            }
            Self::Pc { counter, index } => {
                put(b, 0, counter.to_be_bytes());
                b[4..].copy_from_slice(index);
            }
            Self::Other {
                kind: ..=tlv_type::SEQNO_REQUEST | tlv_type::MAC..=tlv_type::CHALLENGE_REPLY,
                ..
            } => {
                return Err(Error::Value("type"));
            }
            Self::Mac(data)
            | Self::ChallengeRequest(data)
            | Self::ChallengeReply(data)
            | Self::Other { data, .. } => b.copy_from_slice(data),
        }
        Ok(())
    }
}

impl Update<'_> {
    /// The metric that retracts a route.
    pub const INFINITY: u16 = 0xffff;

    fn emit(&self, b: &mut [u8]) -> Result<(), Error> {
        let flags = u8::from(self.sets_default) << 7 | u8::from(self.sets_router_id) << 6;
        put(b, 0, [self.prefix.encoding as u8, flags, self.prefix.len, self.prefix.omitted]);
        put(b, 4, self.interval_cs.to_be_bytes());
        put(b, 6, self.seqno.to_be_bytes());
        put(b, 8, self.metric.to_be_bytes());
        put_prefix(b, 10, &self.prefix, self.prefix.omitted)
    }
}

/// Writes the octets of a prefix at `at`, if they are as many as its lengths say. Only `omitted` octets may be omitted.
fn put_prefix(b: &mut [u8], at: usize, prefix: &Prefix<'_>, omitted: u8) -> Result<(), Error> {
    refuse_if(prefix.omitted != omitted, Error::Value("omitted"))?;
    refuse_if(prefix.octets_len()? != prefix.octets.len(), Error::Value("prefix length"))?;
    b[at..].copy_from_slice(prefix.octets);
    Ok(())
}
