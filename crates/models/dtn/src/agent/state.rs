//! What an agent knows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wayhop_core::{BundleEventKind, Time};

use crate::agent::config::Config;
use crate::agent::contact::Neighbour;
use crate::agent::input::ContactId;
use crate::agent::item::{Digest, StoredBundle};
use crate::agent::output::{BundleRecord, DropCause, Output};
use crate::bundle::BundleId;
use crate::eid::Eid;
use crate::routing::Routing;
use crate::store::{Store, StoreError, StoreTable};

/// Keys of [`StoreTable::State`].
pub(crate) const COUNTERS: &[u8] = b"counters";
pub(crate) const ROUTING: &[u8] = b"routing";

/// The agent of one node. See the crate's documentation for how a host drives it.
///
/// *Times* never go back, not even across restarts over the same store: a real node gives nanoseconds of its wall clock, a
/// simulated one those of the run.
///
/// * To open it: [`Agent::open`]. To tell it something: [`Agent::handle`]. To hear what it wants: [`Agent::commit`], then
///   [`Agent::output`] until there is no more.
/// * To look into it: [`Agent::held`], [`Agent::statistics`].
#[derive(Debug)]
pub struct Agent<S: Store> {
    pub(crate) config: Config,
    pub(crate) routing: Box<dyn Routing>,
    pub(crate) store: S,
    /// The store's first error: nothing is given out after it.
    pub(crate) failed: Option<StoreError>,
    /// Outputs that wait for the commit.
    pub(crate) staged: Vec<Output>,
    /// Outputs that may be carried out.
    pub(crate) ready: VecDeque<Output>,

    /// Bundles held, by local number.
    pub(crate) items: BTreeMap<u64, StoredBundle>,
    pub(crate) by_digest: BTreeMap<Digest, u64>,
    pub(crate) by_custody: BTreeMap<u64, u64>,
    /// Fragments for this node, by the digest of the whole.
    pub(crate) by_whole: BTreeMap<Digest, BTreeSet<u64>>,
    /// Their octets, and those of deliveries.
    pub(crate) octets: u64,
    pub(crate) expiries: BTreeSet<(Time, u64)>,
    /// When waiting for a custody signal ends.
    pub(crate) waits: BTreeSet<(Time, u64)>,

    pub(crate) seen: BTreeMap<Digest, KnownBundle>,
    pub(crate) seen_expiries: BTreeSet<(Time, Digest)>,

    pub(crate) registered: BTreeSet<Eid>,
    pub(crate) deliveries: BTreeMap<(Eid, u64), Delivery>,
    pub(crate) delivery_expiries: BTreeSet<(Time, Eid, u64)>,

    pub(crate) counters: SequenceNumbers,
    pub(crate) counters_changed: bool,
    pub(crate) routing_changed: bool,

    pub(crate) neighbours: BTreeMap<ContactId, Neighbour>,
    pub(crate) next_transfer: u64,
    /// Where the next transfer of a bundle that was interrupted goes on, by neighbour and local number.
    pub(crate) resume: BTreeMap<(Eid, u64), u64>,
    /// What custodians are to be told: (sequence, number) taken and not taken.
    pub(crate) signals: BTreeMap<Eid, Signals>,
}

/// Numbers in the sequences of one custodian, taken and not taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals {
    pub(crate) taken: BTreeMap<u64, Vec<u64>>,
    pub(crate) not_taken: BTreeMap<u64, Vec<u64>>,
    /// Parts taken: (sequence, number, octets).
    pub(crate) parts: Vec<(u64, u64, u64)>,
}

/// A bundle that was here.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownBundle {
    /// When it may be forgotten.
    pub(crate) expires: Time,
    /// Whether an application here got it.
    pub(crate) delivered: bool,
}

/// What an application has got and not confirmed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) octets: u64,
    pub(crate) expires: Time,
}

/// Numbers that are never given twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SequenceNumbers {
    pub(crate) item: u64,
    pub(crate) created: u64,
    pub(crate) custody: u64,
    /// The sequence of custody numbers: another one for each store.
    pub(crate) custody_sequence: u64,
    /// The last delivery at each endpoint.
    pub(crate) deliveries: BTreeMap<Eid, u64>,
}

impl<S: Store> Agent<S> {
    /// The store, at the end.
    pub fn into_store(self) -> S {
        self.store
    }

    /// Does something with the store, unless it has failed.
    pub(crate) fn with_store(&mut self, act: impl FnOnce(&mut S) -> Result<(), StoreError>) {
        if self.failed.is_none() {
            self.failed = act(&mut self.store).err();
        }
    }

    /// The octets of a bundle that is held.
    pub(crate) fn load(&mut self, number: u64) -> Option<Vec<u8>> {
        match self.store.value(StoreTable::Bundles, &number.to_be_bytes()) {
            Ok(octets) => octets,
            Err(error) => {
                self.failed.get_or_insert(error);
                None
            }
        }
    }

    /// DTN time, at a node with an accurate clock; else 0.
    pub(crate) fn dtn_time_ms(&self, now: Time) -> u64 {
        self.config.dtn_time_at_zero_ms.map_or(0, |zero| zero.saturating_add(now.as_nanos() / 1_000_000))
    }

    /// A row for the run's tables, of a bundle that is held.
    pub(crate) fn record(&mut self, at: Time, kind: BundleEventKind, number: u64, peer: &Eid) {
        if let Some(item) = self.items.get(&number) {
            let row = BundleRecord { peer: peer.clone(), ..item.record(at, kind) };
            self.staged.push(Output::Record(row));
        }
    }

    /// A bundle that is not taken.
    pub(crate) fn record_drop(
        &mut self,
        at: Time,
        id: &BundleId,
        destination: Eid,
        octets: u64,
        cause: DropCause,
    ) {
        let row = BundleRecord::new(at, BundleEventKind::Drop, id, destination, octets);
        self.staged.push(Output::Record(BundleRecord { reason: Some(cause), ..row }));
    }
}
