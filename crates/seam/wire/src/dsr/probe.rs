//! Probes and the costs of links: experimental options, as LQSR (Draves, Padhye and Zill 2004) needs them.
//!
//! RFC 4728 has no such options. They share the type of the [location
//! option](super::option_type::EXPERIMENT), which other implementations skip; the first octet of
//! the data is the subtype.
//!
//! ```text
//! Probe:         | Type = 30 | Opt Data Len = 2 + 5n | Subtype = 2 | Reserved | n times: address (4), count (1) |
//! Link metrics:  | Type = 30 | Opt Data Len = 2 + 4n | Subtype = 3 | Reserved | n times: cost (4)               |
//! ```
//!
//! A probe is broadcast; its entries say how many probes of each neighbour its sender has heard lately. Link metrics belong
//! to the Route Request or the Route Reply of the same header: the k-th cost is that of the link to the k-th address, as an
//! expected transmission count in units of 1/1024; 0 means that nobody has measured it.

use std::net::Ipv4Addr;

use super::writer::Writer;
use crate::bytes::{addr_at, u8_at, u32_at};

/// How many probes of each neighbour a node has heard lately.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Probe<'a>(&'a [u8]);

impl<'a> Probe<'a> {
    /// The first octet of the data.
    pub const SUBTYPE: u8 = 2;
    /// The most entries that the length octet has room for.
    pub const MAX_ENTRIES: usize = 253 / Self::ENTRY_LEN;
    /// Octets of an entry.
    pub const ENTRY_LEN: usize = 5;

    /// Writes entries into `buf`, which is cleared first; those beyond [`Probe::MAX_ENTRIES`] are left out.
    pub fn build(buf: &'a mut Vec<u8>, entries: impl IntoIterator<Item = (Ipv4Addr, u8)>) -> Self {
        buf.clear();
        for (a, count) in entries.into_iter().take(Self::MAX_ENTRIES) {
            buf.extend_from_slice(&a.octets());
            buf.push(count);
        }
        Self(buf)
    }

    /// (neighbour, how many probes of it were heard).
    pub fn entries(&self) -> impl Iterator<Item = (Ipv4Addr, u8)> + use<'a> {
        self.0.chunks_exact(Self::ENTRY_LEN).map(|e| (addr_at(e, 0), u8_at(e, 4)))
    }

    pub(super) fn parse(data: &'a [u8]) -> Option<Self> {
        let entries = after_subtype(data, Self::SUBTYPE)?;
        (entries.len() % Self::ENTRY_LEN == 0).then_some(Self(entries))
    }
    pub(super) fn data_len(&self) -> usize {
        2 + self.0.len()
    }
    pub(super) fn emit(&self, w: &mut Writer<'_>) {
        w.put([Self::SUBTYPE, 0]);
        w.slice(self.0);
    }
}

/// The costs of the links of a Route Request or a Route Reply, in order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LinkMetrics<'a>(&'a [u8]);

impl<'a> LinkMetrics<'a> {
    /// The first octet of the data.
    pub const SUBTYPE: u8 = 3;
    /// No costs yet.
    pub const EMPTY: LinkMetrics<'static> = LinkMetrics(&[]);
    /// The most costs that the length octet has room for.
    pub const MAX_COSTS: usize = 253 / Self::COST_LEN;
    /// Octets of a cost.
    pub const COST_LEN: usize = 4;

    /// Writes costs into `buf`, which is cleared first; those beyond [`LinkMetrics::MAX_COSTS`] are left out.
    pub fn build(buf: &'a mut Vec<u8>, costs: impl IntoIterator<Item = u32>) -> Self {
        buf.clear();
        for cost in costs.into_iter().take(Self::MAX_COSTS) {
            buf.extend_from_slice(&cost.to_be_bytes());
        }
        Self(buf)
    }

    /// The costs, in units of 1/1024; 0 where nobody knows.
    pub fn costs(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.0.chunks_exact(Self::COST_LEN).map(|c| u32_at(c, 0))
    }

    pub(super) fn parse(data: &'a [u8]) -> Option<Self> {
        let costs = after_subtype(data, Self::SUBTYPE)?;
        (costs.len() % Self::COST_LEN == 0).then_some(Self(costs))
    }
    pub(super) fn data_len(&self) -> usize {
        2 + self.0.len()
    }
    pub(super) fn emit(&self, w: &mut Writer<'_>) {
        w.put([Self::SUBTYPE, 0]);
        w.slice(self.0);
    }
}

fn after_subtype(data: &[u8], subtype: u8) -> Option<&[u8]> {
    data.get(2..).filter(|_| data[0] == subtype)
}
