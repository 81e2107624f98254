//! Bundles enter and leave the store.

use wayhop_core::{BundleEventKind, Span, Time};

use crate::agent::item::{Digest, StoredBundle};
use crate::agent::output::{BundleRecord, DropCause, Output};
use crate::agent::state::{Agent, KnownBundle};
use crate::bundle::{Bundle, BundleId};
use crate::eid::Eid;
use crate::store::{Store, StoreTable};

/// How long after its lifetime a bundle is remembered: copies elsewhere may be as much older or younger as clocks that nobody set and
/// times on the way make them.
const REMEMBERED_AFTER: Span = Span::from_secs(600);

/// What a bundle comes with that is not in it.
pub(super) struct BundleArrival {
    pub(super) received: Time,
    pub(super) expires: Time,
    pub(super) previous: Eid,
    pub(super) copies: u32,
    pub(super) custody: Take,
}

/// Whether this node is its custodian, and under which number.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Take {
    /// It is not.
    No,
    /// From now on.
    New,
    /// It was already.
    Same(u64),
}

impl<S: Store> Agent<S> {
    /// Enters an item into the tables in memory.
    pub(crate) fn index(&mut self, number: u64, item: StoredBundle) {
        self.octets += item.octets;
        self.expiries.insert((item.expires, number));
        self.by_digest.insert(item.digest, number);
        if let Some(custody) = item.custody {
            self.by_custody.insert(custody, number);
        }
        if item.total.is_some() && self.is_local(&item.destination) {
            self.by_whole.entry(Digest::of_whole(&item.id)).or_default().insert(number);
        }
        self.items.insert(number, item);
    }

    /// Keeps a bundle; its octets are as it came.
    pub(super) fn hold(&mut self, bundle: &Bundle, octets: &[u8], arrival: BundleArrival) -> u64 {
        self.counters_changed = true;
        self.counters.item += 1;
        let number = self.counters.item;
        let id = bundle.id();
        let custody = match arrival.custody {
            Take::No => None,
            Take::New => Some(self.new_custody_number()),
            Take::Same(number) => Some(number),
        };
        let item = StoredBundle {
            digest: Digest::of(&id),
            id,
            destination: bundle.destination.clone(),
            report_to: bundle.report_to.clone(),
            flags: bundle.flags,
            total: bundle.fragment.map(|f| f.total),
            payload: bundle.payload.len() as u64,
            octets: octets.len() as u64,
            received: arrival.received,
            expires: arrival.expires,
            previous: arrival.previous,
            copies: arrival.copies,
            custody,
            delivered: false,
            waits_until: Time::ZERO,
            leaving: false,
        };
        self.with_store(|store| store.put(StoreTable::Bundles, &number.to_be_bytes(), octets));
        self.write_item(number, &item);
        self.index(number, item);
        number
    }

    pub(super) fn new_custody_number(&mut self) -> u64 {
        self.counters_changed = true;
        self.counters.custody += 1;
        self.counters.custody
    }

    /// A bundle becomes smaller ones: each comes with what it takes of the original's custody.
    pub(super) fn replace(&mut self, now: Time, number: u64, pieces: &[(Bundle, Take)]) -> Vec<u64> {
        let Some(item) = self.items.get(&number).cloned() else { return Vec::new() };
        self.record(now, BundleEventKind::Fragmented, number, &Eid::None);
        self.forget(now, number, true);
        let StoredBundle { received, expires, previous, copies, .. } = item;
        let arrival =
            |custody| BundleArrival { received, expires, previous: previous.clone(), copies, custody };
        pieces.iter().map(|(piece, take)| self.hold(piece, &piece.encode(), arrival(*take))).collect()
    }

    pub(super) fn write_item(&mut self, number: u64, item: &StoredBundle) {
        let row = item.encode();
        self.with_store(|store| store.put(StoreTable::Items, &number.to_be_bytes(), &row));
    }

    /// Changes what is known of a bundle, here and in the store.
    pub(super) fn change(&mut self, number: u64, change: impl FnOnce(&mut StoredBundle)) {
        let Some(mut item) = self.items.get(&number).cloned() else { return };
        change(&mut item);
        self.write_item(number, &item);
        self.items.insert(number, item);
    }

    /// Whether a bundle of these octets finds room, after bundles were evicted for it if need be: those that came from neighbours, are
    /// not in custody here and not for this node, the oldest first. A custodian keeps what it has promised to keep; an
    /// application here keeps what it was told is safe.
    pub(super) fn make_room(&mut self, now: Time, octets: u64) -> bool {
        let limits = self.config.limits;
        if octets > limits.octets || limits.bundles == 0 {
            return false;
        }
        let fits =
            |agent: &Self| agent.items.len() < limits.bundles && agent.octets + octets <= limits.octets;
        if fits(self) {
            return true;
        }
        let evictable: Vec<u64> =
            self.items.iter().filter(|(_, i)| self.may_evict(i)).map(|(n, _)| *n).collect();
        let freed: u64 = evictable.iter().map(|number| self.items[number].octets).sum();
        if self.octets - freed + octets > limits.octets
            || self.items.len() - evictable.len() >= limits.bundles
        {
            return false;
        }
        for number in evictable {
            if fits(self) {
                break;
            }
            self.drop_item(now, number, DropCause::Evicted);
        }
        fits(self)
    }

    fn may_evict(&self, item: &StoredBundle) -> bool {
        item.custody.is_none()
            && !item.previous.is_none()
            && !self.is_local(&item.destination)
            && !item.leaving
    }

    /// A bundle leaves for a reason that the tables and reports tell.
    pub(super) fn drop_item(&mut self, now: Time, number: u64, cause: DropCause) {
        let Some(item) = self.items.get(&number).cloned() else { return };
        let row = BundleRecord { reason: Some(cause), ..item.record(now, BundleEventKind::Drop) };
        self.staged.push(Output::Record(row));
        self.report_drop(now, &item, cause);
        self.forget(now, number, true);
    }

    /// A bundle leaves. `seen`: it is remembered, so that it is not taken a second time.
    pub(super) fn forget(&mut self, now: Time, number: u64, seen: bool) {
        let Some(item) = self.items.remove(&number) else { return };
        self.octets -= item.octets;
        self.expiries.remove(&(item.expires, number));
        self.waits.remove(&(item.waits_until, number));
        self.by_digest.remove(&item.digest);
        if let Some(custody) = item.custody {
            self.by_custody.remove(&custody);
        }
        if item.total.is_some() {
            let whole = Digest::of_whole(&item.id);
            if let Some(parts) = self.by_whole.get_mut(&whole) {
                parts.remove(&number);
                if parts.is_empty() {
                    self.by_whole.remove(&whole);
                }
            }
        }
        self.with_store(|store| {
            store.remove(StoreTable::Bundles, &number.to_be_bytes())?;
            store.remove(StoreTable::Items, &number.to_be_bytes())
        });
        if seen && item.expires > now {
            self.remember(item.digest, item.expires, item.delivered);
        }
    }

    /// Remembers a bundle that is here no more.
    pub(super) fn remember(&mut self, digest: Digest, expires: Time, delivered: bool) {
        let expires = expires + REMEMBERED_AFTER;
        let delivered = delivered || self.seen.get(&digest).is_some_and(|seen| seen.delivered);
        if let Some(old) = self.seen.insert(digest, KnownBundle { expires, delivered }) {
            self.seen_expiries.remove(&(old.expires, digest));
        }
        self.seen_expiries.insert((expires, digest));
        let row = [&[u8::from(delivered)][..], &expires.as_nanos().to_be_bytes()].concat();
        self.with_store(|store| store.put(StoreTable::Seen, &digest.0, &row));
        while self.seen.len() > self.config.limits.seen {
            self.forget_seen();
        }
    }

    /// Forgets the one that may be forgotten first.
    pub(super) fn forget_seen(&mut self) {
        if let Some((_, digest)) = self.seen_expiries.pop_first() {
            self.seen.remove(&digest);
            self.with_store(|store| store.remove(StoreTable::Seen, &digest.0));
        }
    }

    /// Whether an application here has got this bundle, or the whole that it is a fragment of.
    pub(super) fn was_delivered(&self, id: &BundleId) -> bool {
        let delivered = |digest| self.seen.get(&digest).is_some_and(|seen: &KnownBundle| seen.delivered);
        delivered(Digest::of_whole(id)) || delivered(Digest::of(id))
    }

    /// Whether a destination is this node's, or a group's that an application here is registered for.
    pub(crate) fn is_local(&self, destination: &Eid) -> bool {
        if destination.is_singleton() {
            destination.same_node(&self.config.node)
        } else {
            self.registered.contains(destination)
        }
    }
}
