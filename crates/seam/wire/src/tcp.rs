//! TCP (RFC 9293), with the options for segment size, window scale and selective acknowledgement (RFC 7323, RFC 2018).

use wayhop_core::Addr;

use crate::bytes::{put, u8_at, u16_at, u32_at};
use crate::ipv4::protocol;
use crate::{Error, checksum, refuse_if};

/// Length of a header without options, in octets.
pub const HEADER_LEN: usize = 20;
/// How many octets the options have at most.
pub const MAX_OPTIONS: usize = 40;
/// How many blocks fit into a selective acknowledgement.
pub const MAX_SACK_BLOCKS: usize = 4;

const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAX_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;

/// The control bits of a segment.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(1);
    /// The sequence number is the first one.
    pub const SYN: Self = Self(1 << 1);
    /// Give the connection up.
    pub const RST: Self = Self(1 << 2);
    /// Deliver without waiting for more.
    pub const PSH: Self = Self(1 << 3);
    /// The acknowledgement number counts.
    pub const ACK: Self = Self(1 << 4);

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Whether all of `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A segment with a complete header.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    bytes: &'a [u8],
    header_len: usize,
}

impl<'a> Packet<'a> {
    /// Checks the length of the header. `bytes` is the payload of an IP packet: its end is the segment's.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Error> {
        refuse_if(bytes.len() < HEADER_LEN, Error::Truncated)?;
        let header_len = usize::from(bytes[12] >> 4) * 4;
        refuse_if(header_len < HEADER_LEN, Error::Length)?;
        refuse_if(header_len > bytes.len(), Error::Truncated)?;
        Ok(Self { bytes, header_len })
    }

    /// Source port.
    pub fn src_port(&self) -> u16 {
        u16_at(self.bytes, 0)
    }
    /// Destination port.
    pub fn dst_port(&self) -> u16 {
        u16_at(self.bytes, 2)
    }
    /// The number of the first octet of payload, or of the SYN.
    pub fn seq(&self) -> u32 {
        u32_at(self.bytes, 4)
    }
    /// The number of the octet that is expected next, with [`Flags::ACK`].
    pub fn ack(&self) -> u32 {
        u32_at(self.bytes, 8)
    }
    /// The control bits.
    pub fn flags(&self) -> Flags {
        Flags(u8_at(self.bytes, 13))
    }
    /// How much more the sender takes, in units of its window scale.
    pub fn window(&self) -> u16 {
        u16_at(self.bytes, 14)
    }
    /// The checksum field.
    pub fn checksum(&self) -> u16 {
        u16_at(self.bytes, 16)
    }
    /// Whether the checksum is right between these addresses.
    pub fn checksum_is_valid(&self, src: impl Into<Addr>, dst: impl Into<Addr>) -> bool {
        let len = u16::try_from(self.bytes.len()).unwrap_or(0);
        checksum::sum(checksum::pseudo(src.into(), dst.into(), protocol::TCP, len), self.bytes) == 0xffff
    }
    /// Length of the header with its options, in octets.
    pub fn header_len(&self) -> usize {
        self.header_len
    }
    /// The options, up to the first that is broken.
    pub fn options(&self) -> Options<'a> {
        Options { rest: &self.bytes[HEADER_LEN..self.header_len] }
    }
    /// What the segment carries.
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[self.header_len..]
    }
}

/// One option of a header.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// The longest payload that the sender takes, in octets.
    MaxSegmentSize(u16),
    /// By how many bits windows of this sender are to be shifted left.
    WindowScale(u8),
    /// Selective acknowledgements are understood.
    SackPermitted,
    /// What has arrived beyond the acknowledgement number.
    Sack(SackBlocks<'a>),
    /// Any other.
    Other {
        /// Its kind.
        kind: u8,
        /// What follows kind and length.
        data: &'a [u8],
    },
}

/// The blocks of a selective acknowledgement, as (first octet, octet after the last).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SackBlocks<'a>(&'a [u8]);

impl SackBlocks<'_> {
    /// The blocks, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.0.chunks_exact(8).map(|b| (u32_at(b, 0), u32_at(b, 4)))
    }
}

/// Iterates over the options of a header; ends at the end-of-options mark and at the first broken option.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Options<'a> {
    type Item = TcpOption<'a>;

    fn next(&mut self) -> Option<TcpOption<'a>> {
        while let Some((&kind, rest)) = self.rest.split_first() {
            if kind == NO_OPERATION {
                self.rest = rest;
                continue;
            }
            let len = usize::from(*rest.first()?);
            if kind == END_OF_OPTIONS || len < 2 || len > self.rest.len() {
                break;
            }
            let data = &self.rest[2..len];
            self.rest = &self.rest[len..];
            return Some(match (kind, data) {
                (MAX_SEGMENT_SIZE, &[a, b]) => TcpOption::MaxSegmentSize(u16::from_be_bytes([a, b])),
                (WINDOW_SCALE, &[shift]) => TcpOption::WindowScale(shift),
                (SACK_PERMITTED, []) => TcpOption::SackPermitted,
                (SACK, blocks) if blocks.len().is_multiple_of(8) => TcpOption::Sack(SackBlocks(blocks)),
                _ => TcpOption::Other { kind, data },
            });
        }
        self.rest = &[];
        None
    }
}

/// A header with the options that Wayhop sends.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Repr {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// The number of the first octet of payload, or of the SYN.
    pub seq: u32,
    /// The number of the octet that is expected next, with [`Flags::ACK`].
    pub ack: u32,
    /// The control bits.
    pub flags: Flags,
    /// How much more the sender takes, in units of its window scale.
    pub window: u16,
    /// The option of that name.
    pub max_segment_size: Option<u16>,
    /// The option of that name; its shift count.
    pub window_scale: Option<u8>,
    /// Whether the option of that name is there.
    pub sack_permitted: bool,
    /// The blocks of a selective acknowledgement; the first `None` ends them.
    pub sack: [Option<(u32, u32)>; MAX_SACK_BLOCKS],
    /// How many octets of no-operations follow the options, rounded down to a multiple of four; fewer where the options leave
    /// less room. [`Repr::parse`] gives 0: they say nothing.
    pub padding: u8,
}

impl Repr {
    /// Reads a header and checks the checksum between these addresses. Of an option that comes twice the last counts;
    /// unknown ones are skipped (RFC 9293, section 3.2).
    pub fn parse(bytes: &[u8], src: impl Into<Addr>, dst: impl Into<Addr>) -> Result<Self, Error> {
        let p = Packet::new_checked(bytes)?;
        refuse_if(!p.checksum_is_valid(src, dst), Error::Checksum)?;
        let mut repr = Self {
            src_port: p.src_port(),
            dst_port: p.dst_port(),
            seq: p.seq(),
            ack: p.ack(),
            flags: p.flags(),
            window: p.window(),
            ..Self::default()
        };
        for option in p.options() {
            match option {
                TcpOption::MaxSegmentSize(n) => repr.max_segment_size = Some(n),
                TcpOption::WindowScale(shift) => repr.window_scale = Some(shift),
                TcpOption::SackPermitted => repr.sack_permitted = true,
                TcpOption::Sack(blocks) => {
                    repr.sack = [None; MAX_SACK_BLOCKS];
                    repr.sack.iter_mut().zip(blocks.iter()).for_each(|(slot, b)| *slot = Some(b));
                }
                TcpOption::Other { .. } => {}
            }
        }
        Ok(repr)
    }

    fn sack_blocks(&self) -> impl Iterator<Item = (u32, u32)> {
        self.sack.iter().map_while(|b| *b)
    }

    /// Length of header and options, in octets.
    pub fn buffer_len(&self) -> usize {
        let options = self.options_len();
        HEADER_LEN + options + usize::from(self.padding & !3).min(MAX_OPTIONS.saturating_sub(options))
    }

    fn options_len(&self) -> usize {
        let blocks = self.sack_blocks().count();
        let fixed = [self.max_segment_size.is_some(), self.window_scale.is_some(), self.sack_permitted];
        4 * fixed.iter().filter(|there| **there).count() + if blocks > 0 { 4 + 8 * blocks } else { 0 }
    }

    /// Writes the header in front of the payload, which is already in place behind it, with the checksum over both:
    /// `segment` is the whole segment. Options begin at multiples of four octets, filled up with no-operations.
    /// Panics if `segment` is shorter than [`Repr::buffer_len`], or the options longer than 40 octets (all of them at once).
    pub fn emit(&self, segment: &mut [u8], src: impl Into<Addr>, dst: impl Into<Addr>) {
        let header_len = self.buffer_len();
        assert!(header_len <= HEADER_LEN + MAX_OPTIONS, "the options have 40 octets");
        put(segment, 0, self.src_port.to_be_bytes());
        put(segment, 2, self.dst_port.to_be_bytes());
        put(segment, 4, self.seq.to_be_bytes());
        put(segment, 8, self.ack.to_be_bytes());
        put(segment, 12, [(header_len as u8 / 4) << 4, self.flags.0]);
        put(segment, 14, self.window.to_be_bytes());
        put(segment, 16, [0; 4]);
        let mut at = HEADER_LEN;
        if let Some(n) = self.max_segment_size {
            put(segment, at, [MAX_SEGMENT_SIZE, 4]);
            put(segment, at + 2, n.to_be_bytes());
            at += 4;
        }
        if let Some(shift) = self.window_scale {
            put(segment, at, [NO_OPERATION, WINDOW_SCALE, 3, shift]);
            at += 4;
        }
        if self.sack_permitted {
            put(segment, at, [NO_OPERATION, NO_OPERATION, SACK_PERMITTED, 2]);
            at += 4;
        }
        let blocks = self.sack_blocks().count();
        if blocks > 0 {
            put(segment, at, [NO_OPERATION, NO_OPERATION, SACK, 2 + 8 * blocks as u8]);
            at += 4;
        }
        for (from, to) in self.sack_blocks() {
            put(segment, at, from.to_be_bytes());
            put(segment, at + 4, to.to_be_bytes());
            at += 8;
        }
        segment[at..header_len].fill(NO_OPERATION);
        let pseudo = checksum::pseudo(src.into(), dst.into(), protocol::TCP, segment.len() as u16);
        let c = !checksum::sum(pseudo, segment);
        put(segment, 16, c.to_be_bytes());
    }
}

/// What an ICMP error returns of a segment at least: ports and sequence number (RFC 792: eight octets).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct QuotedSegment {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number.
    pub seq: u32,
}

impl QuotedSegment {
    /// Reads the start of a segment; `None` if it has fewer than eight octets.
    pub fn parse(start: &[u8]) -> Option<Self> {
        (start.len() >= 8).then(|| Self {
            src_port: u16_at(start, 0),
            dst_port: u16_at(start, 2),
            seq: u32_at(start, 4),
        })
    }
}
