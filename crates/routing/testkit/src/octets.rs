//! Events out of octets: for tests that run arbitrary sequences, and for fuzzers.

use std::net::Ipv4Addr;

use wayhop_core::BROADCAST;

use crate::packets::addr;

/// EventKind is left to read.
#[derive(Clone, Debug)]
pub struct Octets<'a>(pub &'a [u8]);

impl<'a> Octets<'a> {
    /// One.
    pub fn octet(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }
    /// A length and so many octets, or what is there.
    pub fn some(&mut self) -> Option<&'a [u8]> {
        let len = usize::from(self.octet()?).min(self.0.len());
        let (some, rest) = self.0.split_at(len);
        self.0 = rest;
        Some(some)
    }
    /// One of the nodes, one of a few that are not there, or something that is no node's address.
    pub fn address(&mut self) -> Option<Ipv4Addr> {
        Some(match self.octet()? {
            n @ 0..=250 => addr(usize::from(n % 8)),
            251 => Ipv4Addr::UNSPECIFIED,
            252 => Ipv4Addr::LOCALHOST,
            253 => Ipv4Addr::new(224, 0, 0, 1),
            _ => BROADCAST,
        })
    }
    /// A sequence number: small, around the sign's change, or around the rollover.
    pub fn number(&mut self) -> Option<u32> {
        let n = self.octet()?;
        let near = u32::from(n & 0x3f);
        Some(match n >> 6 {
            0 | 1 => near,
            2 => (1 << 31) - 32 + near,
            _ => near.wrapping_sub(32),
        })
    }
}
