//! Sets and counts of routing messages.

use std::collections::BTreeMap;

use crate::Description;
use crate::place::Place;

/// The types of the routing messages inside one packet. A packet may carry several, and a data packet may carry some too;
/// captures show each of them, so counts by type are counts of these.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    place: Place,
    bits: u16,
}

impl Messages {
    /// No routing message.
    pub const NONE: Self = Self { place: Place::FIRST, bits: 0 };

    /// Types of the protocol at this place of the registry.
    pub fn of(place: u8, protocol: &'static Description, bits: u16) -> Self {
        if bits == 0 { Self::NONE } else { Self { place: Place::of(place, protocol), bits } }
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }
    /// The bits of [`crate::MessageFormat::types`].
    pub const fn bits(self) -> u16 {
        self.bits
    }
    /// What trace hashes contain besides the bits, so that equal bits of two protocols differ. The first two protocols have 0:
    /// their hashes are older than the registry.
    pub const fn salt(self) -> u8 {
        self.place.number().saturating_sub(1)
    }
    /// Whether a type of this name is in the set.
    pub fn has(self, name: &str) -> bool {
        self.names().any(|n| n == name)
    }
    /// The names of the types in this set, in the order of their bits.
    #[inline]
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let known = self.place.protocol().map_or(&[][..], |d| d.messages.types);
        known.iter().filter(move |(bit, _)| self.bits >> bit & 1 == 1).map(|(_, name)| *name)
    }
}

/// How many routing messages there were of each type.
#[derive(Clone, Debug, Default)]
pub struct MessageCounts {
    /// By the protocol's place, then by bit.
    counts: Vec<Option<(&'static Description, [u64; 16])>>,
}

impl MessageCounts {
    /// Counts the messages of one packet.
    pub fn add(&mut self, messages: Messages) {
        let Messages { place, mut bits } = messages;
        let (protocol, place) = (place.protocol(), place.index());
        let Some(protocol) = protocol.filter(|_| bits != 0) else { return };
        if self.counts.len() <= place {
            self.counts.resize(place + 1, None);
        }
        let (_, counts) = self.counts[place].get_or_insert((protocol, [0; 16]));
        while bits != 0 {
            counts[bits.trailing_zeros() as usize] += 1;
            bits &= bits - 1;
        }
    }

    /// The counts that are not 0 by name; types of the same name count together.
    pub fn by_name(&self) -> BTreeMap<&'static str, u64> {
        let mut named = BTreeMap::new();
        for (protocol, counts) in self.counts.iter().flatten() {
            for (bit, name) in protocol.messages.types.iter().filter(|(bit, _)| counts[usize::from(*bit)] > 0)
            {
                *named.entry(*name).or_default() += counts[usize::from(*bit)];
            }
        }
        named
    }
}
