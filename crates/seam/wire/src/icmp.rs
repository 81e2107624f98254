//! ICMP (RFC 792): what a mesh node sends and answers.

use crate::bytes::{put, u8_at, u16_at};
use crate::{Error, checksum, refuse_if};

/// Length of the header, in octets.
pub const HEADER_LEN: usize = 8;

const ECHO_REPLY: u8 = 0;
const UNREACHABLE: u8 = 3;
const ECHO_REQUEST: u8 = 8;
const TIME_EXCEEDED: u8 = 11;
const PARAMETER_PROBLEM: u8 = 12;

/// Codes of a Destination Unreachable.
pub mod unreachable_code {
    /// No route to the network.
    pub const NETWORK: u8 = 0;
    /// The host does not answer.
    pub const HOST: u8 = 1;
    /// No such protocol at the host.
    pub const PROTOCOL: u8 = 2;
    /// No such port at the host.
    pub const PORT: u8 = 3;
    /// The packet is too long for a link and may not be fragmented (RFC 1191).
    pub const FRAGMENTATION_NEEDED: u8 = 4;
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
    /// A packet could not be delivered.
    DestinationUnreachable {
        /// See [`unreachable_code`].
        code: u8,
        /// With the code for fragmentation: the longest packet that fits, in octets; else 0.
        next_hop_mtu: u16,
        /// The start of that packet, IP header included.
        original: &'a [u8],
    },
    /// A packet's time to live, or the time for its reassembly, ran out.
    TimeExceeded {
        /// 0 in transit, 1 in reassembly.
        code: u8,
        /// The start of that packet, IP header included.
        original: &'a [u8],
    },
    /// A packet's header is wrong (in RFC 4728 section 8.1.5: Segments Left exceeds the route).
    ParameterProblem {
        /// 0: the pointer shows the fault.
        code: u8,
        /// The faulty octet, counted from the start of the IP header.
        pointer: u8,
        /// The start of that packet, IP header included.
        original: &'a [u8],
    },
}

impl<'a> Repr<'a> {
    /// Reads the payload of an IP packet of protocol 1 and checks its checksum.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        refuse_if(bytes.len() < HEADER_LEN, Error::Truncated)?;
        refuse_if(checksum::sum(0, bytes) != 0xffff, Error::Checksum)?;
        let (kind, code, rest) = (bytes[0], bytes[1], &bytes[HEADER_LEN..]);
        let (ident, seq) = (u16_at(bytes, 4), u16_at(bytes, 6));
        match kind {
            ECHO_REQUEST | ECHO_REPLY if code != 0 => Err(Error::Value("code")),
            ECHO_REQUEST => Ok(Self::EchoRequest { ident, seq, data: rest }),
            ECHO_REPLY => Ok(Self::EchoReply { ident, seq, data: rest }),
            UNREACHABLE => Ok(Self::DestinationUnreachable { code, next_hop_mtu: seq, original: rest }),
            TIME_EXCEEDED => Ok(Self::TimeExceeded { code, original: rest }),
            PARAMETER_PROBLEM => {
                Ok(Self::ParameterProblem { code, pointer: u8_at(bytes, 4), original: rest })
            }
            _ => Err(Error::Value("type")),
        }
    }

    /// Length of header and data, in octets.
    pub const fn buffer_len(&self) -> usize {
        HEADER_LEN
            + match self {
                Self::EchoRequest { data, .. } | Self::EchoReply { data, .. } => data.len(),
                Self::DestinationUnreachable { original, .. }
                | Self::TimeExceeded { original, .. }
                | Self::ParameterProblem { original, .. } => original.len(),
            }
    }

    /// Writes header, data and checksum. Panics if `buf` is shorter than [`Repr::buffer_len`].
    pub fn emit(&self, buf: &mut [u8]) {
        let buf = &mut buf[..self.buffer_len()];
        let (kind, code, first, second, rest) = match *self {
            Self::EchoRequest { ident, seq, data } => (ECHO_REQUEST, 0, ident, seq, data),
            Self::EchoReply { ident, seq, data } => (ECHO_REPLY, 0, ident, seq, data),
            Self::DestinationUnreachable { code, next_hop_mtu, original } => {
                (UNREACHABLE, code, 0, next_hop_mtu, original)
            }
            Self::TimeExceeded { code, original } => (TIME_EXCEEDED, code, 0, 0, original),
            Self::ParameterProblem { code, pointer, original } => {
                (PARAMETER_PROBLEM, code, u16::from(pointer) << 8, 0, original)
            }
        };
        put(buf, 0, [kind, code, 0, 0]);
        put(buf, 4, first.to_be_bytes());
        put(buf, 6, second.to_be_bytes());
        buf[HEADER_LEN..].copy_from_slice(rest);
        let c = !checksum::sum(0, buf);
        put(buf, 2, c.to_be_bytes());
    }
}

/// Writes the header of an echo request in front of its data, which is already in place, with the checksum over both:
/// `message` is the whole message. Panics if `message` is shorter than [`HEADER_LEN`].
pub fn emit_echo_request(message: &mut [u8], ident: u16, seq: u16) {
    put(message, 0, [ECHO_REQUEST, 0, 0, 0]);
    put(message, 4, ident.to_be_bytes());
    put(message, 6, seq.to_be_bytes());
    let c = !checksum::sum(0, message);
    put(message, 2, c.to_be_bytes());
}
