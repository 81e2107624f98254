//! How a transfer to a neighbour ended.

use wayhop_core::{BundleEventKind, Time};

use crate::agent::contact::{Neighbour, UnderWay};
use crate::agent::hold::Take;
use crate::agent::input::{Contact, ContactId, Refusal, TransferId};
use crate::agent::output::{BundleRecord, DropCause, Output};
use crate::agent::state::Agent;
use crate::eid::Eid;
use crate::fragment::piece;
use crate::store::Store;

/// The most transfers remembered for resumption.
const MAX_RESUMED: usize = 4_096;

impl<S: Store> Agent<S> {
    pub(super) fn contact_up(&mut self, now: Time, contact: Contact) {
        let id = contact.id;
        let exchanges = self.routing.number().is_some();
        if !contact.peer.is_none() && (contact.exchanges || !exchanges) {
            self.routing.contact_up(now, &contact.peer);
            self.routing_changed = true;
        }
        let tells = exchanges && contact.exchanges && !contact.peer.is_none();
        self.neighbours.insert(id, Neighbour::new(contact));
        if tells {
            self.tell(now, id);
        }
        self.offer_all(now, id);
    }

    pub(super) fn contact_down(&mut self, now: Time, contact: ContactId) {
        let Some(neighbour) = self.neighbours.remove(&contact) else { return };
        for under_way in neighbour.under_way.into_values() {
            self.stays(under_way.item);
            if let Some(number) = under_way.item {
                self.offer(now, number);
            }
        }
    }

    fn ended(&mut self, contact: ContactId, transfer: TransferId) -> Option<(Eid, UnderWay)> {
        let neighbour = self.neighbours.get_mut(&contact)?;
        let under_way = neighbour.under_way.remove(&transfer)?;
        Some((neighbour.contact.peer.clone(), under_way))
    }

    /// A bundle did not leave after all.
    fn stays(&mut self, item: Option<u64>) {
        if let Some(item) = item.and_then(|number| self.items.get_mut(&number)) {
            item.leaving = false;
        }
    }

    /// It arrived whole.
    pub(super) fn sent(&mut self, now: Time, contact: ContactId, transfer: TransferId) {
        let Some((peer, under_way)) = self.ended(contact, transfer) else { return };
        self.stays(under_way.item);
        if let Some(number) = under_way.item.filter(|number| self.items.contains_key(number)) {
            self.has_arrived(now, contact, &peer, number, &under_way);
        }
        self.fill(now, contact);
    }

    fn has_arrived(&mut self, now: Time, contact: ContactId, peer: &Eid, number: u64, under_way: &UnderWay) {
        self.resume.remove(&(peer.clone(), number));
        let short = self.items[&number].digest.short();
        if let Some(neighbour) = self.neighbours.get_mut(&contact) {
            neighbour.has(short);
        }
        let row = self.items[&number].record(now, BundleEventKind::Forward);
        let row = BundleRecord { peer: peer.clone(), bytes: under_way.octets, ..row };
        self.staged.push(Output::Record(row));
        self.report(now, number, 1);
        if !under_way.leaves {
            if under_way.copies > 0 {
                self.change(number, |item| item.copies = item.copies.saturating_sub(under_way.copies));
            }
        } else if self.items[&number].custody.is_some() {
            self.await_signal(now, number);
        } else {
            self.drop_item(now, number, DropCause::Forwarded);
        }
    }

    /// Its first octets arrived: what comes after them goes on from there (reactive fragmentation).
    pub(super) fn interrupted(
        &mut self,
        now: Time,
        contact: ContactId,
        transfer: TransferId,
        acknowledged: u64,
    ) {
        let Some((peer, under_way)) = self.ended(contact, transfer) else { return };
        self.stays(under_way.item);
        let Some(number) = under_way.item.filter(|number| self.items.contains_key(number)) else { return };
        // The last octet goes again: so that the neighbour sees the bundle's end and its check.
        let arrived = acknowledged.saturating_sub(under_way.header).min(under_way.payload.saturating_sub(1));
        if arrived == 0 {
            self.offer(now, number);
            return;
        }
        if under_way.leaves {
            self.go_on(now, number, &peer, arrived as usize);
        } else if self.items[&number].custody.is_none() {
            while self.resume.len() >= MAX_RESUMED {
                self.resume.pop_first();
            }
            self.resume.insert((peer, number), under_way.from + arrived);
        }
    }

    /// A bundle that is being sent becomes two: the part that arrived, with custody until the
    /// neighbour has signalled it, and the rest.
    fn go_on(&mut self, now: Time, number: u64, peer: &Eid, arrived: usize) {
        let Some(bundle) = self.load_bundle(number) else { return };
        if !bundle.may_fragment() || arrived >= bundle.payload.len() {
            self.offer(now, number);
            return;
        }
        let (first, rest) = (piece(&bundle, 0, arrived), piece(&bundle, arrived, bundle.payload.len()));
        let item = &self.items[&number];
        let (custody, row) = (item.custody, item.record(now, BundleEventKind::Forward));
        let (offset, peer) = (first.id().offset(), peer.clone());
        let row = BundleRecord { offset, peer, bytes: arrived as u64, ..row };
        let pieces = match custody {
            Some(custody) => vec![(first, Take::Same(custody)), (rest, Take::New)],
            None => vec![(rest, Take::No)],
        };
        let numbers = self.replace(now, number, &pieces);
        self.staged.push(Output::Record(row));
        if let (Some(_), [first, ..]) = (custody, &numbers[..]) {
            self.await_signal(now, *first);
        }
        if let Some(rest) = numbers.last() {
            self.offer(now, *rest);
        }
    }

    /// There may be room now for what a neighbour had no room for.
    pub(super) fn offer_refused(&mut self, now: Time, contact: ContactId) {
        let Some(neighbour) = self.neighbours.get_mut(&contact) else { return };
        let mut due = Vec::new();
        while let Some(&(at, number)) = neighbour.retries.first()
            && at <= now
        {
            neighbour.retries.pop_first();
            if let Some(item) = self.items.get(&number) {
                neighbour.may_lack(item.digest.short());
                due.push(number);
            }
        }
        for number in due {
            self.offer(now, number);
        }
    }

    pub(super) fn refused(&mut self, now: Time, contact: ContactId, transfer: TransferId, reason: Refusal) {
        if reason == Refusal::Completed {
            self.sent(now, contact, transfer);
            return;
        }
        let Some((_, under_way)) = self.ended(contact, transfer) else { return };
        self.stays(under_way.item);
        if let Some(number) = under_way.item {
            // Not again during this contact, or not before there may be room.
            let again = now + self.config.custody_timeout;
            let short = self.items.get(&number).map(|item| item.digest.short());
            if let (Some(short), Some(neighbour)) = (short, self.neighbours.get_mut(&contact)) {
                neighbour.has(short);
                if reason == Refusal::NoResources {
                    neighbour.retries.insert((again, number));
                }
            }
            self.offer(now, number);
        }
        self.fill(now, contact);
    }
}
