//! ICMPv6 (RFC 4443) and the messages of neighbour discovery (RFC 4861).

use std::net::Ipv6Addr;

use wayhop_core::Mac;

use crate::bytes::{array_at, put, u8_at, u16_at, u32_at};
use crate::ipv6::next_header::ICMPV6;
use crate::{Error, checksum, refuse_if};

/// Length of the header, in octets.
pub const HEADER_LEN: usize = 8;

const UNREACHABLE: u8 = 1;
const TOO_BIG: u8 = 2;
const TIME_EXCEEDED: u8 = 3;
const PARAMETER_PROBLEM: u8 = 4;
const ECHO_REQUEST: u8 = 128;
const ECHO_REPLY: u8 = 129;
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;

/// Options of neighbour discovery: their types. Each is a multiple of 8 octets long.
const SOURCE_LINK_ADDRESS: u8 = 1;
const TARGET_LINK_ADDRESS: u8 = 2;
/// Length of an option with a link address of IEEE 802, in octets.
const LINK_ADDRESS_LEN: usize = 8;
/// Length of a solicitation or advertisement without options.
const NEIGHBOUR_LEN: usize = 24;

/// Codes of a Destination Unreachable.
pub mod unreachable_code {
    /// No route to the destination.
    pub const NO_ROUTE: u8 = 0;
    /// The destination does not answer on its link.
    pub const ADDRESS: u8 = 3;
    /// No such port at the destination.
    pub const PORT: u8 = 4;
}

/// A message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Repr<'a> {
    /// Please return this.
    EchoRequest {
        /// Names the program that asks.
        ident: u16,
        /// The number of the request.
        seq: u16,
        /// Data to be returned.
        data: &'a [u8],
    },
    /// Here it is.
    EchoReply {
        /// Copied from the request.
        ident: u16,
        /// Copied from the request.
        seq: u16,
        /// Copied from the request.
        data: &'a [u8],
    },
    /// Who has this address?
    NeighbourSolicitation {
        /// The address.
        target: Ipv6Addr,
        /// The link address of the one who asks.
        source_mac: Option<Mac>,
    },
    /// I have this address.
    NeighbourAdvertisement {
        /// The address.
        target: Ipv6Addr,
        /// Whether the sender is a router.
        router: bool,
        /// Whether it was asked.
        solicited: bool,
        /// Whether the link address takes the place of one that is known.
        replace: bool,
        /// The link address that belongs to the target.
        target_mac: Option<Mac>,
    },
    /// A packet could not be delivered.
    DestinationUnreachable {
        /// See [`unreachable_code`].
        code: u8,
        /// The start of that packet.
        original: &'a [u8],
    },
    /// A packet is too long for a link.
    PacketTooBig {
        /// The longest packet that fits, in octets.
        mtu: u32,
        /// The start of that packet.
        original: &'a [u8],
    },
    /// A packet's hop limit, or the time for its reassembly, ran out.
    TimeExceeded {
        /// 0 in transit, 1 in reassembly.
        code: u8,
        /// The start of that packet.
        original: &'a [u8],
    },
    /// A packet's header is wrong.
    ParameterProblem {
        /// 0 for a wrong field, 1 for an unknown Next Header, 2 for an unknown option.
        code: u8,
        /// The faulty octet, counted from the start of the IPv6 header.
        pointer: u32,
        /// The start of that packet.
        original: &'a [u8],
    },
}

/// Whether a type of ICMPv6 message is an error (RFC 4443, section 2.1).
pub const fn is_error(kind: u8) -> bool {
    kind < 128
}

/// Whether the payload of an ICMPv6 packet begins as a neighbour solicitation or advertisement does.
pub fn is_neighbour_discovery(message: &[u8]) -> bool {
    matches!(message.first(), Some(&(SOLICITATION | ADVERTISEMENT)))
}

impl<'a> Repr<'a> {
    /// Reads the upper-layer payload of an IPv6 packet between these addresses and checks its checksum.
    pub fn parse(bytes: &'a [u8], src: Ipv6Addr, dst: Ipv6Addr) -> Result<Self, Error> {
        refuse_if(bytes.len() < HEADER_LEN, Error::Truncated)?;
        let pseudo = checksum::pseudo_header6(src, dst, ICMPV6, bytes.len() as u32);
        refuse_if(checksum::sum(pseudo, bytes) != 0xffff, Error::Checksum)?;
        let (kind, code, rest) = (bytes[0], bytes[1], &bytes[HEADER_LEN..]);
        let (ident, seq) = (u16_at(bytes, 4), u16_at(bytes, 6));
        match kind {
            ECHO_REQUEST | ECHO_REPLY | SOLICITATION | ADVERTISEMENT if code != 0 => {
                Err(Error::Value("code"))
            }
            ECHO_REQUEST => Ok(Self::EchoRequest { ident, seq, data: rest }),
            ECHO_REPLY => Ok(Self::EchoReply { ident, seq, data: rest }),
            SOLICITATION | ADVERTISEMENT => parse_neighbour(bytes),
            UNREACHABLE => Ok(Self::DestinationUnreachable { code, original: rest }),
            TOO_BIG => Ok(Self::PacketTooBig { mtu: u32_at(bytes, 4), original: rest }),
            TIME_EXCEEDED => Ok(Self::TimeExceeded { code, original: rest }),
            PARAMETER_PROBLEM => {
                Ok(Self::ParameterProblem { code, pointer: u32_at(bytes, 4), original: rest })
            }
            _ => Err(Error::Value("type")),
        }
    }

    /// Length of the message, in octets.
    pub const fn buffer_len(&self) -> usize {
        match self {
            Self::EchoRequest { data, .. } | Self::EchoReply { data, .. } => HEADER_LEN + data.len(),
            Self::NeighbourSolicitation { source_mac: mac, .. }
            | Self::NeighbourAdvertisement { target_mac: mac, .. } => {
                NEIGHBOUR_LEN + if mac.is_some() { LINK_ADDRESS_LEN } else { 0 }
            }
            Self::DestinationUnreachable { original, .. }
            | Self::PacketTooBig { original, .. }
            | Self::TimeExceeded { original, .. }
            | Self::ParameterProblem { original, .. } => HEADER_LEN + original.len(),
        }
    }

    /// Writes the message with its checksum between these addresses.
    /// Panics if `buf` is shorter than [`Repr::buffer_len`].
    pub fn emit(&self, buf: &mut [u8], src: Ipv6Addr, dst: Ipv6Addr) {
        let buf = &mut buf[..self.buffer_len()];
        let echo = |ident: u16, seq: u16| u32::from(ident) << 16 | u32::from(seq);
        let (kind, code, second, rest) = match *self {
            Self::EchoRequest { ident, seq, data } => (ECHO_REQUEST, 0, echo(ident, seq), data),
            Self::EchoReply { ident, seq, data } => (ECHO_REPLY, 0, echo(ident, seq), data),
            Self::NeighbourSolicitation { target, source_mac } => {
                emit_neighbour(buf, target, source_mac.map(|m| (SOURCE_LINK_ADDRESS, m)));
                (SOLICITATION, 0, 0, &[][..])
            }
            Self::NeighbourAdvertisement { target, router, solicited, replace, target_mac } => {
                emit_neighbour(buf, target, target_mac.map(|m| (TARGET_LINK_ADDRESS, m)));
                let flags = u32::from(router) << 31 | u32::from(solicited) << 30 | u32::from(replace) << 29;
                (ADVERTISEMENT, 0, flags, &[][..])
            }
            Self::DestinationUnreachable { code, original } => (UNREACHABLE, code, 0, original),
            Self::PacketTooBig { mtu, original } => (TOO_BIG, 0, mtu, original),
            Self::TimeExceeded { code, original } => (TIME_EXCEEDED, code, 0, original),
            Self::ParameterProblem { code, pointer, original } => {
                (PARAMETER_PROBLEM, code, pointer, original)
            }
        };
        put(buf, 0, [kind, code, 0, 0]);
        put(buf, 4, second.to_be_bytes());
        if !rest.is_empty() {
            buf[HEADER_LEN..].copy_from_slice(rest);
        }
        close(buf, src, dst);
    }
}

/// Writes the checksum of a message whose field for it is zero.
fn close(message: &mut [u8], src: Ipv6Addr, dst: Ipv6Addr) {
    let pseudo = checksum::pseudo_header6(src, dst, ICMPV6, message.len() as u32);
    let c = !checksum::sum(pseudo, message);
    put(message, 2, c.to_be_bytes());
}

fn emit_neighbour(buf: &mut [u8], target: Ipv6Addr, option: Option<(u8, Mac)>) {
    put(buf, HEADER_LEN, target.octets());
    if let Some((kind, mac)) = option {
        put(buf, NEIGHBOUR_LEN, [kind, (LINK_ADDRESS_LEN / 8) as u8]);
        put(buf, NEIGHBOUR_LEN + 2, mac.0);
    }
}

/// A solicitation or advertisement. One with an option of length 0 is refused as a whole (RFC 4861, section 4.6); unknown
/// options are skipped.
fn parse_neighbour(bytes: &[u8]) -> Result<Repr<'_>, Error> {
    let target = Ipv6Addr::from(array_at::<16>(bytes, HEADER_LEN));
    let mut options = bytes.get(NEIGHBOUR_LEN..).ok_or(Error::Truncated)?;
    refuse_if(target.is_multicast(), Error::Value("target"))?;
    let wanted = if bytes[0] == SOLICITATION { SOURCE_LINK_ADDRESS } else { TARGET_LINK_ADDRESS };
    let mut mac = None;
    while !options.is_empty() {
        let len = usize::from(u8_at(options, 1)) * 8;
        refuse_if(len == 0, Error::Length)?;
        let (option, rest) = options.split_at_checked(len).ok_or(Error::Truncated)?;
        if option[0] == wanted && len == LINK_ADDRESS_LEN {
            mac = Some(Mac(array_at(option, 2)));
        }
        options = rest;
    }
    let flags = bytes[4];
    Ok(if bytes[0] == SOLICITATION {
        Repr::NeighbourSolicitation { target, source_mac: mac }
    } else {
        let (router, solicited, replace) = (flags & 0x80 != 0, flags & 0x40 != 0, flags & 0x20 != 0);
        Repr::NeighbourAdvertisement { target, router, solicited, replace, target_mac: mac }
    })
}

/// Writes the header of an echo request in front of its data, which is already in place, with the checksum over both:
/// `message` is the whole message. Panics if `message` is shorter than [`HEADER_LEN`].
pub fn emit_echo_request(message: &mut [u8], ident: u16, seq: u16, src: Ipv6Addr, dst: Ipv6Addr) {
    put(message, 0, [ECHO_REQUEST, 0, 0, 0]);
    put(message, 4, ident.to_be_bytes());
    put(message, 6, seq.to_be_bytes());
    close(message, src, dst);
}
