//! Sets and counts of routing messages.

use std::collections::BTreeMap;

use crate::ALL;

/// The types of the routing messages inside one packet. A packet may carry several, and a data packet may carry some too;
/// captures show each of them, so counts by type are counts of these.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Messages {
    protocol: u8,
    bits: u16,
}

impl Messages {
    /// No routing message.
    pub const NONE: Self = Self { protocol: 0, bits: 0 };

    /// A set of a protocol's types; `None` for an unknown name.
    pub fn named(protocol: &str, types: &[&str]) -> Option<Self> {
        let at = ALL.iter().position(|d| d.name == protocol)?;
        let known = ALL[at].messages.types;
        let bit = |name: &str| Some(1 << known.iter().find(|(_, n)| *n == name)?.0);
        let bits = types.iter().try_fold(0, |bits, name| Some(bits | bit(name)?))?;
        Some(Self::of(at as u8, bits))
    }

    /// Types of the protocol at this place of [`ALL`].
    pub(crate) const fn of(protocol: u8, bits: u16) -> Self {
        if bits == 0 { Self::NONE } else { Self { protocol, bits } }
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }
    /// The bits of [`wayhop_core::MessageFormat::types`].
    pub const fn bits(self) -> u16 {
        self.bits
    }
    /// What trace hashes contain besides the bits, so that equal bits of two protocols differ. The first two protocols have 0:
    /// their hashes are older than this registry.
    pub const fn salt(self) -> u8 {
        self.protocol.saturating_sub(1)
    }
    /// Whether a type of this name is in the set.
    pub fn has(self, name: &str) -> bool {
        self.names().any(|n| n == name)
    }
    /// The names of the types in this set, in the order of their bits.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let known = ALL[usize::from(self.protocol)].messages.types;
        known.iter().filter(move |(bit, _)| self.bits >> bit & 1 == 1).map(|(_, name)| *name)
    }
}

/// How many routing messages there were of each type.
#[derive(Clone, Debug, Default)]
pub struct MessageCounts {
    /// By protocol, then by bit.
    counts: Vec<[u64; 16]>,
}

impl MessageCounts {
    /// Counts the messages of one packet.
    pub fn add(&mut self, messages: Messages) {
        let mut bits = messages.bits;
        if bits == 0 {
            return;
        }
        let protocol = usize::from(messages.protocol);
        if self.counts.len() <= protocol {
            self.counts.resize(protocol + 1, [0; 16]);
        }
        let counts = &mut self.counts[protocol];
        while bits != 0 {
            counts[bits.trailing_zeros() as usize] += 1;
            bits &= bits - 1;
        }
    }

    /// The names that counts may have: those of the messages of all protocols.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().flat_map(|d| d.messages.types).map(|(_, name)| *name)
    }

    /// The counts that are not 0 by name; types of the same name count together.
    pub fn by_name(&self) -> BTreeMap<&'static str, u64> {
        let mut named = BTreeMap::new();
        for (counts, d) in self.counts.iter().zip(ALL) {
            for (bit, name) in d.messages.types.iter().filter(|(bit, _)| counts[usize::from(*bit)] > 0) {
                *named.entry(*name).or_default() += counts[usize::from(*bit)];
            }
        }
        named
    }
}
