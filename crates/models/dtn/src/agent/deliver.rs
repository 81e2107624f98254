//! Bundles reach applications (RFC 9171, section 5.7).

use wayhop_core::{BundleEventKind, Time};

use crate::admin::Reason;
use crate::agent::item::{Digest, StoredBundle};
use crate::agent::open::DeliveryRow;
use crate::agent::output::{BundleRecord, Output};
use crate::agent::state::{Agent, Delivery};
use crate::bundle::{Bundle, BundleId};
use crate::codec::ParseLimits;
use crate::eid::Eid;
use crate::fragment::Reassembly;
use crate::store::{Store, StoreTable};

/// What the node itself has written needs no bounds.
pub(super) const OWN: ParseLimits = ParseLimits { octets: usize::MAX, blocks: usize::MAX };

impl<S: Store> Agent<S> {
    /// An application is there for an endpoint.
    pub(super) fn register(&mut self, now: Time, endpoint: &Eid, got: u64) {
        if endpoint.is_none() || (endpoint.is_singleton() && !endpoint.same_node(&self.config.node)) {
            return;
        }
        self.registered.insert(endpoint.clone());
        self.confirm(endpoint, got);
        self.deliver_again(endpoint);
        let waiting: Vec<u64> =
            self.items.iter().filter(|(_, item)| item.destination == *endpoint).map(|(n, _)| *n).collect();
        for number in waiting {
            self.index_fragment(number);
            self.deliver_if_local(now, number);
        }
    }

    /// A group's fragments count as this node's once an application is registered.
    fn index_fragment(&mut self, number: u64) {
        if let Some(item) = self.items.get(&number).filter(|item| item.total.is_some()) {
            self.by_whole.entry(Digest::of_whole(&item.id)).or_default().insert(number);
        }
    }

    /// What an application has not confirmed is given to it again.
    fn deliver_again(&mut self, endpoint: &Eid) {
        let of_endpoint = (endpoint.clone(), 0)..=(endpoint.clone(), u64::MAX);
        let numbers: Vec<u64> = self.deliveries.range(of_endpoint).map(|((_, number), _)| *number).collect();
        for number in numbers {
            let row = self.store.value(StoreTable::Deliveries, &DeliveryRow::key(endpoint, number));
            match row {
                Ok(row) => {
                    if let Some(row) = row.and_then(|row| DeliveryRow::parse(&row).ok()) {
                        self.stage_delivery(row);
                    }
                }
                Err(error) => drop(self.failed.get_or_insert(error)),
            }
        }
    }

    fn stage_delivery(&mut self, row: DeliveryRow) {
        let DeliveryRow { endpoint, number, id, is_admin_record, payload, .. } = row;
        self.staged.push(Output::Deliver { endpoint, number, id, is_admin_record, payload });
    }

    /// An application has got all deliveries up to this one.
    pub(super) fn confirm(&mut self, endpoint: &Eid, number: u64) {
        let confirmed = (endpoint.clone(), 0)..=(endpoint.clone(), number);
        let keys: Vec<(Eid, u64)> = self.deliveries.range(confirmed).map(|(key, _)| key.clone()).collect();
        for (endpoint, number) in keys {
            self.end_delivery(&endpoint, number);
        }
    }

    /// A delivery need not be kept any longer.
    pub(super) fn end_delivery(&mut self, endpoint: &Eid, number: u64) {
        if let Some(delivery) = self.deliveries.remove(&(endpoint.clone(), number)) {
            self.octets -= delivery.octets;
            self.delivery_expiries.remove(&(delivery.expires, endpoint.clone(), number));
            self.with_store(|store| {
                store.remove(StoreTable::Deliveries, &DeliveryRow::key(endpoint, number))
            });
        }
    }

    /// Enters a delivery into the tables in memory.
    pub(crate) fn index_delivery(&mut self, endpoint: Eid, number: u64, delivery: Delivery) {
        self.octets += delivery.octets;
        self.delivery_expiries.insert((delivery.expires, endpoint.clone(), number));
        self.deliveries.insert((endpoint, number), delivery);
    }

    /// A bundle that is held.
    pub(super) fn load_bundle(&mut self, number: u64) -> Option<Bundle> {
        Bundle::parse(&self.load(number)?, &OWN).ok()
    }

    /// Delivers a bundle to its local application, if there is one and the bundle is complete.
    pub(super) fn deliver_if_local(&mut self, now: Time, number: u64) {
        let Some(item) = self.items.get(&number) else { return };
        let is_own = item.destination == self.config.node;
        if item.delivered || !(is_own || self.registered.contains(&item.destination)) {
            return;
        }
        let item = item.clone();
        if item.total.is_some() {
            self.reassemble(now, &item);
            return;
        }
        let Some(bundle) = self.load_bundle(number) else { return };
        self.deliver(now, &item, item.id.clone(), bundle);
        self.end_local(now, number);
        // Parts of it that came before, from a contact that ended, are in it.
        self.end_parts(now, Digest::of_whole(&item.id));
    }

    /// The whole of these fragments is here.
    fn end_parts(&mut self, now: Time, whole: Digest) {
        let parts: Vec<u64> = self.by_whole.get(&whole).into_iter().flatten().copied().collect();
        for number in parts {
            self.record(now, BundleEventKind::Reassembled, number, &Eid::None);
            self.end_local(now, number);
        }
    }

    /// Puts the fragments of an application data unit together, if all are there.
    fn reassemble(&mut self, now: Time, item: &StoredBundle) {
        let whole = Digest::of_whole(&item.id);
        let numbers: Vec<u64> = self.by_whole.get(&whole).into_iter().flatten().copied().collect();
        let total = item.total.unwrap_or(0);
        // Fragments that contradict each other about the whole's length are of nobody's bundle.
        let fitting = |n: &&u64| self.items.get(n).is_some_and(|i| i.total == item.total);
        let parts: Vec<u64> = numbers.iter().filter(fitting).copied().collect();
        let there: u64 = parts.iter().filter_map(|n| self.items.get(n)).map(|i| i.payload).sum();
        if there < total {
            return;
        }
        let mut assembly = Reassembly::default();
        let mut first = None;
        for number in parts {
            let Some(part) = self.load_bundle(number) else { return };
            assembly.insert(part.fragment.map_or(0, |f| f.offset), &part.payload);
            first.get_or_insert(part);
        }
        let (Some(payload), Some(mut bundle)) = (assembly.whole(total), first) else { return };
        bundle.payload = payload;
        bundle.fragment = None;
        let id = BundleId { fragment: None, ..item.id.clone() };
        self.deliver(now, item, id, bundle);
        self.end_parts(now, whole);
        self.remember(whole, item.expires, true);
    }

    /// A bundle of this node's is done with; a group's travels on.
    fn end_local(&mut self, now: Time, number: u64) {
        let Some(item) = self.items.get(&number) else { return };
        if item.destination.is_singleton() {
            if let Some(item) = self.items.get_mut(&number) {
                item.delivered = true;
            }
            self.forget(now, number, true);
        } else {
            self.change(number, |item| item.delivered = true);
        }
    }

    fn deliver(&mut self, now: Time, item: &StoredBundle, id: BundleId, bundle: Bundle) {
        if item.destination == self.config.node {
            // A record in fragments; whole ones never get here.
            if bundle.is_admin_record() {
                self.admin_record(now, &bundle);
            }
            return;
        }
        let endpoint = item.destination.clone();
        let number = self.counters.deliveries.entry(endpoint.clone()).or_insert(0);
        *number += 1;
        let number = *number;
        self.counters_changed = true;
        let (is_admin_record, expires) = (bundle.is_admin_record(), item.expires);
        let payload = bundle.payload;
        let row = DeliveryRow { endpoint, number, id, is_admin_record, expires, payload };
        let encoded = row.encode();
        let octets = encoded.len() as u64;
        self.with_store(|store| {
            store.put(StoreTable::Deliveries, &DeliveryRow::key(&row.endpoint, number), &encoded)
        });
        self.index_delivery(row.endpoint.clone(), number, Delivery { octets, expires });
        self.staged.push(Output::Record(BundleRecord {
            offset: row.id.offset(),
            peer: item.previous.clone(),
            bytes: row.payload.len() as u64,
            ..item.record(now, BundleEventKind::Deliver)
        }));
        self.stage_delivery(row);
        self.report_of(now, item, 2, Reason::NoInformation);
    }
}
