//! A protocol's place in the registry, in one byte: classes and messages are in every row of a run's record.

use std::sync::OnceLock;

use crate::Description;

/// The first place of protocols that are no part of the registry: libraries, and those that a run directory names.
pub(crate) const FIRST_FOREIGN: u8 = 15;
/// A place is one byte.
const MAX_PROTOCOLS: usize = 256;

/// The protocols that had a place so far. It is filled by those who make places, which is the registry alone.
static PROTOCOLS: [OnceLock<&'static Description>; MAX_PROTOCOLS] =
    [const { OnceLock::new() }; MAX_PROTOCOLS];

/// Which protocol of the registry.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place(u8);

impl Place {
    /// The first one.
    pub(crate) const FIRST: Self = Self(0);

    /// This protocol's.
    pub(crate) fn of(place: u8, protocol: &'static Description) -> Self {
        PROTOCOLS[usize::from(place)].get_or_init(|| protocol);
        Self(place)
    }

    /// From 0, for trace hashes: all foreign protocols have the same, whatever else was loaded before them.
    pub(crate) const fn number(self) -> u8 {
        if self.0 < FIRST_FOREIGN { self.0 } else { FIRST_FOREIGN }
    }
    /// From 0, each protocol with its own.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The protocol; `None` for [`Place::FIRST`], if nobody has made it yet.
    pub(crate) fn protocol(self) -> Option<&'static Description> {
        PROTOCOLS[usize::from(self.0)].get().copied()
    }
}
