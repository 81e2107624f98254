//! UDP (RFC 768).

use wayhop_core::Addr;

use crate::bytes::{put, u16_at};
use crate::ipv4::protocol;
use crate::{Error, checksum, refuse_if};

/// Length of the header, in octets.
pub const HEADER_LEN: usize = 8;

/// A datagram whose lengths agree.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    bytes: &'a [u8],
    /// The first 8 octets as an array, so that no field needs a check of bounds.
    head: &'a [u8; HEADER_LEN],
    len: usize,
}

impl<'a> Packet<'a> {
    /// Checks the lengths. Octets after the stated length are ignored.
    #[inline]
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Error> {
        let p = Self::new_snapped(bytes)?;
        refuse_if(p.len > bytes.len(), Error::Truncated)?;
        Ok(p)
    }

    /// As [`Packet::new_checked`], but the payload may be cut short, as captures do.
    #[inline]
    pub fn new_snapped(bytes: &'a [u8]) -> Result<Self, Error> {
        let head = bytes.first_chunk::<HEADER_LEN>().ok_or(Error::Truncated)?;
        let len = usize::from(u16_at(head, 4));
        refuse_if(len < HEADER_LEN, Error::Length)?;
        Ok(Self { bytes, head, len })
    }

    /// Source port.
    #[inline]
    pub fn src_port(&self) -> u16 {
        u16_at(self.head, 0)
    }
    /// Destination port.
    #[inline]
    pub fn dst_port(&self) -> u16 {
        u16_at(self.head, 2)
    }
    /// Length of header and payload, in octets, as the header states it.
    pub fn total_len(&self) -> usize {
        self.len
    }
    /// The checksum field; 0 means that the sender made none.
    #[inline]
    pub fn checksum(&self) -> u16 {
        u16_at(self.head, 6)
    }
    /// Whether the checksum is right between these addresses, or absent. False for a datagram cut short.
    pub fn checksum_is_valid(&self, src: impl Into<Addr>, dst: impl Into<Addr>) -> bool {
        self.checksum() == 0
            || self.bytes.get(..self.len).is_some_and(|whole| {
                let pseudo = checksum::pseudo(src.into(), dst.into(), protocol::UDP, self.len as u16);
                checksum::sum(pseudo, whole) == 0xffff
            })
    }
    /// What the datagram carries, as far as it is there.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[HEADER_LEN..self.len.min(self.bytes.len())]
    }
}

/// A UDP header.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Length of the payload, in octets; at most 65527.
    pub payload_len: u16,
}

impl Repr {
    /// Reads a header and checks the checksum between these addresses.
    pub fn parse(bytes: &[u8], src: impl Into<Addr>, dst: impl Into<Addr>) -> Result<Self, Error> {
        let p = Packet::new_checked(bytes)?;
        refuse_if(!p.checksum_is_valid(src, dst), Error::Checksum)?;
        Ok(Self { src_port: p.src_port(), dst_port: p.dst_port(), payload_len: (p.len - HEADER_LEN) as u16 })
    }

    /// Length of header and payload, in octets: what [`Repr::emit`] needs.
    pub const fn buffer_len(&self) -> usize {
        HEADER_LEN + self.payload_len as usize
    }

    /// Writes the header in front of the payload, which is already in place, with the checksum over both.
    /// Panics if `buf` is shorter than [`Repr::buffer_len`].
    pub fn emit(&self, buf: &mut [u8], src: impl Into<Addr>, dst: impl Into<Addr>) {
        let buf = &mut buf[..self.buffer_len()];
        let len = (HEADER_LEN as u16).saturating_add(self.payload_len);
        put(buf, 0, self.src_port.to_be_bytes());
        put(buf, 2, self.dst_port.to_be_bytes());
        put(buf, 4, len.to_be_bytes());
        put(buf, 6, [0, 0]);
        let c = !checksum::sum(checksum::pseudo(src.into(), dst.into(), protocol::UDP, len), buf);
        // An all-zero field means "no checksum"; its other form says the same sum.
        put(buf, 6, (if c == 0 { 0xffff } else { c }).to_be_bytes());
    }
}
