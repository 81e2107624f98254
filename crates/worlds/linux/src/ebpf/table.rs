//! The pairs that passed, in memory shared with the kernel's programs: noting a pair again, and
//! removing all, needs no call.

use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::Ordering;

use wayhop_core::Mac;

use super::shared::WordMap;

/// Each pair hashes to one of this many sets of two slots; when both are taken, it replaces the second.
pub(super) const SETS: usize = 2048;
/// Octets of a slot: source and destination, which are 0 while it is free, and the transmitter.
pub(super) const SLOT: usize = 16;
const SLOTS: usize = 2 * SETS;

/// A pair that passed since the last look.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ForwardedPair {
    /// Who made the packets.
    pub source: Ipv4Addr,
    /// For whom they are.
    pub destination: Ipv4Addr,
    /// Who sent it to this node; this node for its own packets.
    pub transmitter: Mac,
}

pub(super) struct Table(WordMap);

impl Table {
    pub(super) fn new() -> io::Result<Self> {
        WordMap::new(SLOTS * SLOT / 8).map(Self)
    }

    pub(super) fn map(&self) -> i32 {
        self.0.map()
    }

    /// Takes out what is noted.
    pub(super) fn take(&self) -> impl Iterator<Item = ForwardedPair> + '_ {
        self.0.words().chunks_exact(SLOT / 8).filter_map(|slot| {
            let [pair, transmitter] = slot else { return None };
            if pair.load(Ordering::Relaxed) == 0 {
                return None;
            }
            // A packet that passes meanwhile may change the transmitter to that of the pair after this one. Both have just
            // sent something, and that is all that is made of it.
            let pair = pair.swap(0, Ordering::Acquire);
            let transmitter = transmitter.load(Ordering::Relaxed);
            let address = |half: u64| Ipv4Addr::from((half as u32).to_ne_bytes());
            let [a, b, c, d] = (transmitter as u32).to_ne_bytes();
            let [e, f] = ((transmitter >> 32) as u16).to_ne_bytes();
            Some(ForwardedPair {
                source: address(pair),
                destination: address(pair >> 32),
                transmitter: Mac([a, b, c, d, e, f]),
            })
        })
    }
}
