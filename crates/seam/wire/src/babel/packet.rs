//! The packet header (section 4.2).

use super::{Tlv, tlv_type};
use crate::bytes::{put, u8_at, u16_at};
use crate::{Error, refuse_if};

const HEADER_LEN: usize = 4;
const MAGIC: u8 = 42;
const VERSION: u8 = 2;

/// A packet whose length field agrees with the datagram.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    bytes: &'a [u8],
    body_end: usize,
}

impl<'a> Packet<'a> {
    /// Checks magic number, version and length.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Error> {
        let p = Self::new_snapped(bytes)?;
        refuse_if(p.body_end > bytes.len(), Error::Truncated)?;
        Ok(p)
    }

    /// As [`Packet::new_checked`], but the end may be missing, as captures do.
    pub fn new_snapped(bytes: &'a [u8]) -> Result<Self, Error> {
        refuse_if(bytes.len() < HEADER_LEN, Error::Truncated)?;
        refuse_if(bytes[0] != MAGIC, Error::Value("magic"))?;
        refuse_if(bytes[1] != VERSION, Error::Value("version"))?;
        Ok(Self { bytes, body_end: HEADER_LEN + usize::from(u16_at(bytes, 2)) })
    }

    /// The octets of each TLV of the body, for [`Tlv::parse`]. The last one may be cut.
    pub fn body(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        tlvs(&self.bytes[HEADER_LEN..self.body_end.min(self.bytes.len())])
    }
    /// The octets of each TLV of the trailer: padding and MACs (RFC 8967, section 6.1).
    pub fn trailer(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        tlvs(self.bytes.get(self.body_end..).unwrap_or_default())
    }
}

fn tlvs(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        // Each round takes octets off, so this ends.
        let len = match rest {
            [] => return None,
            [tlv_type::PAD1, ..] => 1,
            _ => 2 + usize::from(u8_at(rest, 1)),
        };
        let (tlv, behind) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        rest = behind;
        Some(tlv)
    })
}

/// A packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PacketRepr<'a> {
    /// The TLVs of the body.
    pub body: &'a [Tlv<'a>],
    /// The TLVs of the trailer.
    pub trailer: &'a [Tlv<'a>],
}

impl PacketRepr<'_> {
    /// Length in octets.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN + self.body.iter().chain(self.trailer).map(Tlv::buffer_len).sum::<usize>()
    }

    /// Writes the packet. Panics if `buf` is shorter than [`PacketRepr::buffer_len`].
    ///
    /// # Errors
    /// [`Error::Full`] if something is too long for its length field, [`Error::Value`] for a field that does not fit.
    pub fn emit(&self, buf: &mut [u8]) -> Result<(), Error> {
        let body_len = self.body.iter().map(Tlv::buffer_len).sum::<usize>();
        put(buf, 0, [MAGIC, VERSION]);
        put(buf, 2, u16::try_from(body_len).map_err(|_| Error::Full)?.to_be_bytes());
        let mut at = HEADER_LEN;
        for tlv in self.body.iter().chain(self.trailer) {
            tlv.emit(&mut buf[at..])?;
            at += tlv.buffer_len();
        }
        Ok(())
    }
}
