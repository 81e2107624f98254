//! What an agent knows of a neighbour that is there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wayhop_core::Time;

use crate::agent::input::{Contact, TransferId};

/// The most identifiers that are remembered of one neighbour.
const MAX_KNOWN: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Neighbour {
    pub(crate) contact: Contact,
    /// Bundles that it has or has had: 8 octets of each identifier's digest.
    known: BTreeSet<u64>,
    /// Which parts of its list came.
    pub(crate) parts: BTreeSet<u64>,
    /// Whether the whole list came.
    pub(crate) has_told: bool,
    /// Bundles for which it had no room, and when they are offered again.
    pub(crate) retries: BTreeSet<(Time, u64)>,
    /// When it is told ours again, until its own came.
    pub(crate) tell_at: Time,
    /// Bundles that may be for it, by rank and local number.
    pub(crate) queue: BTreeSet<(u8, u64)>,
    /// Messages of routing for it, encoded.
    pub(crate) messages: VecDeque<Vec<u8>>,
    pub(crate) under_way: BTreeMap<TransferId, UnderWay>,
}

/// A transfer to a neighbour.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnderWay {
    /// The bundle; none is a message of routing.
    pub(crate) item: Option<u64>,
    /// Octets before the payload's first one.
    pub(crate) header: u64,
    /// Octets of the payload that go.
    pub(crate) payload: u64,
    /// Octets of the payload before them that the neighbour has.
    pub(crate) from: u64,
    /// Whether it leaves this node with that.
    pub(crate) leaves: bool,
    /// How many copies the neighbour may spread.
    pub(crate) copies: u32,
    pub(crate) octets: u64,
}

impl Neighbour {
    pub(crate) fn new(contact: Contact) -> Self {
        Self {
            contact,
            known: BTreeSet::new(),
            parts: BTreeSet::new(),
            has_told: false,
            retries: BTreeSet::new(),
            tell_at: Time::NEVER,
            queue: BTreeSet::new(),
            messages: VecDeque::new(),
            under_way: BTreeMap::new(),
        }
    }

    /// It has this bundle.
    pub(crate) fn has(&mut self, short: u64) {
        if self.known.len() < MAX_KNOWN {
            self.known.insert(short);
        }
    }

    /// It may lack this bundle after all.
    pub(crate) fn may_lack(&mut self, short: u64) {
        self.known.remove(&short);
    }

    /// Whether it has this bundle, as far as is known.
    pub(crate) fn knows(&self, short: u64) -> bool {
        self.known.contains(&short)
    }
}
