//! The DSR Options header's fixed portion (section 6.1) and the Flow State header (section 7.1).

use super::options::{Options, options};
use crate::bytes::{u8_at, u16_at};
use crate::{Error, refuse_if};

/// Length of the fixed portion, and of a whole Flow State header, in octets.
pub const HEADER_LEN: usize = 4;

/// What a Flow State header says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FlowState {
    /// The hops that the packet has been forwarded; 7 bits.
    pub hop_count: u8,
    /// The flow.
    pub flow_id: u16,
}

impl FlowState {
    /// Length of the emitted header, in octets.
    pub const fn buffer_len(&self) -> usize {
        HEADER_LEN
    }
    /// Writes the header. Panics if `buf` is shorter than four octets.
    pub fn emit(&self, next_header: u8, buf: &mut [u8]) {
        let [hi, lo] = self.flow_id.to_be_bytes();
        buf[..HEADER_LEN].copy_from_slice(&[next_header, 0x80 | self.hop_count & 0x7f, hi, lo]);
    }
}

/// The payload of an IP packet of protocol 48: a DSR header, and what follows it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    bytes: &'a [u8],
    header_len: usize,
}

impl<'a> Packet<'a> {
    /// Checks that the header is complete. `bytes` start behind the IP header.
    #[inline]
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Error> {
        refuse_if(bytes.len() < HEADER_LEN, Error::Truncated)?;
        let is_flow_state = bytes[1] & 0x80 != 0;
        let options_len = if is_flow_state { 0 } else { usize::from(u16_at(bytes, 2)) };
        let header_len = HEADER_LEN + options_len;
        refuse_if(header_len > bytes.len(), Error::Truncated)?;
        Ok(Self { bytes, header_len })
    }

    /// The protocol of what follows the header; see [`crate::ipv4::protocol`].
    #[inline]
    pub fn next_header(&self) -> u8 {
        u8_at(self.bytes, 0)
    }
    /// The Flow State header's fields, if this is one (F = 1).
    #[inline]
    pub fn flow_state(&self) -> Option<FlowState> {
        let b = u8_at(self.bytes, 1);
        (b & 0x80 != 0).then(|| FlowState { hop_count: b & 0x7f, flow_id: u16_at(self.bytes, 2) })
    }
    /// Length of the header with its options, in octets.
    pub fn header_len(&self) -> usize {
        self.header_len
    }
    /// The header with its options.
    pub fn header(&self) -> &'a [u8] {
        &self.bytes[..self.header_len]
    }
    /// The octets of all options; none in a Flow State header.
    #[inline]
    pub fn options_bytes(&self) -> &'a [u8] {
        &self.bytes[HEADER_LEN..self.header_len]
    }
    /// The options in their order.
    #[inline]
    pub fn options(&self) -> Options<'a> {
        options(self.options_bytes())
    }
    /// What follows the header.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[self.header_len..]
    }
}
