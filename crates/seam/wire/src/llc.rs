//! LLC and SNAP in front of an IEEE 802.11 payload (IEEE 802.2, RFC 1042).

use crate::Error;
use crate::bytes::{put, u16_at};

/// Length of both headers, in octets.
pub const LEN: usize = 8;

/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub const IPV6: u16 = 0x86dd;
/// EtherType of ARP.
pub const ARP: u16 = 0x0806;

/// The two headers: everything but the EtherType is constant.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// What follows.
    pub ether_type: u16,
}

impl Repr {
    /// Reads the headers; an error unless they are SNAP with an EtherType.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        match bytes.first_chunk::<LEN>() {
            None => Err(Error::Truncated),
            Some([0xaa, 0xaa, 3, 0, 0, 0, _, _]) => Ok(Self { ether_type: u16_at(bytes, 6) }),
            Some(_) => Err(Error::Value("LLC/SNAP")),
        }
    }
    /// Length of the headers, in octets.
    pub const fn buffer_len(&self) -> usize {
        LEN
    }
    /// Writes the headers. Panics if `buf` is shorter than [`LEN`].
    pub fn emit(&self, buf: &mut [u8]) {
        put(buf, 0, [0xaa, 0xaa, 3, 0, 0, 0]);
        put(buf, 6, self.ether_type.to_be_bytes());
    }
}
