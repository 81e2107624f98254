//! Which neighbour gets which bundle, and in which form (RFC 9171, sections 5.4 and 5.8).

use wayhop_core::Time;

use crate::agent::contact::UnderWay;
use crate::agent::deliver::OWN;
use crate::agent::hold::Take;
use crate::agent::input::{ContactId, TransferId};
use crate::agent::item::StoredBundle;
use crate::agent::output::{DropCause, Output};
use crate::agent::state::Agent;
use crate::bundle::{Bundle, Custody, block_kind, flags};
use crate::eid::Eid;
use crate::fragment::{piece, split};
use crate::routing::Decision;
use crate::store::Store;

/// Octets by which the blocks that a node writes when it forwards may grow from one time to the next.
const GROWTH: usize = 24;

impl<S: Store> Agent<S> {
    /// A bundle may be for some neighbour.
    pub(super) fn offer(&mut self, now: Time, number: u64) {
        let Some(item) = self.items.get(&number) else { return };
        let contacts: Vec<ContactId> = self.neighbours.keys().copied().collect();
        for (id, neighbour) in &mut self.neighbours {
            debug_assert_eq!(*id, neighbour.contact.id);
            neighbour.queue.insert((rank(item, &neighbour.contact.peer), number));
        }
        for contact in contacts {
            self.fill(now, contact);
        }
    }

    /// All bundles may be for this neighbour.
    pub(super) fn offer_all(&mut self, now: Time, contact: ContactId) {
        if let Some(neighbour) = self.neighbours.get_mut(&contact) {
            for (number, item) in &self.items {
                neighbour.queue.insert((rank(item, &neighbour.contact.peer), *number));
            }
        }
        self.fill(now, contact);
    }

    /// Sends what is for a neighbour, as long as the window is open.
    pub(super) fn fill(&mut self, now: Time, contact: ContactId) {
        loop {
            let Some(neighbour) = self.neighbours.get_mut(&contact) else { return };
            if neighbour.under_way.len() >= self.config.window.max(1) {
                return;
            }
            if let Some(message) = neighbour.messages.pop_front() {
                self.send(contact, message, UnderWay::default());
                continue;
            }
            let Some((_, number)) = neighbour.queue.pop_first() else { return };
            if let Some(decision) = self.decision(now, number, contact) {
                self.transmit(now, contact, number, decision);
            }
        }
    }

    /// Whether a neighbour gets a bundle now.
    fn decision(&self, now: Time, number: u64, contact: ContactId) -> Option<Decision> {
        let item = self.items.get(&number)?;
        let neighbour = self.neighbours.get(&contact)?;
        let peer = &neighbour.contact.peer;
        let is_busy = item.leaving || item.expires <= now || item.waits_until > now;
        let is_under_way = neighbour.under_way.values().any(|u| u.item == Some(number));
        if peer.is_none() || is_busy || is_under_way || neighbour.knows(item.digest.short()) {
            return None;
        }
        let exchanges = self.routing.number().is_some();
        // Its list may say that it has the bundle.
        let is_awaited = exchanges && neighbour.contact.exchanges && !neighbour.has_told;
        let is_for_peer = item.destination.is_singleton() && item.destination.same_node(peer);
        if is_for_peer && (!is_awaited || is_for_agent(item)) {
            return Some(Decision::Move);
        }
        let is_for_here = item.destination.is_singleton() && self.is_local(&item.destination);
        if is_for_here || item.previous == *peer || (exchanges && !neighbour.has_told) {
            return None;
        }
        match self.routing.decide(&item.destination, item.copies, peer) {
            Decision::Keep => None,
            // Signals between custodians are not spread: who misses one sends the bundle again.
            Decision::Copy { .. } if is_for_agent(item) => None,
            decision => Some(decision),
        }
    }

    /// Sends a bundle, or makes fragments of it that its contact can carry.
    fn transmit(&mut self, now: Time, contact: ContactId, number: u64, decision: Decision) {
        let Some(octets) = self.load(number) else { return };
        let Ok(original) = Bundle::parse(&octets, &OWN) else {
            self.drop_item(now, number, DropCause::Malformed);
            return;
        };
        let Some((peer, largest)) =
            self.neighbours.get(&contact).map(|n| (n.contact.peer.clone(), n.contact.largest))
        else {
            return;
        };
        let mut bundle = original.clone();
        self.prepare(now, number, &mut bundle, decision);
        let whole = bundle.encode().len();
        if largest.is_some_and(|largest| whole > largest) {
            let growth = whole.saturating_sub(octets.len()) + GROWTH;
            self.fragment(now, contact, number, &original, largest.unwrap_or(0).saturating_sub(growth));
            return;
        }
        let leaves = decision == Decision::Move;
        let mut under_way = UnderWay { item: Some(number), leaves, ..UnderWay::default() };
        if let Decision::Copy { copies } = decision {
            under_way.copies = copies;
            let from = self.resume.get(&(peer, number)).copied().unwrap_or(0);
            if from > 0 && (from as usize) < bundle.payload.len() && bundle.custody().is_none() {
                bundle = piece(&bundle, from as usize, bundle.payload.len());
                under_way.from = from;
            }
        }
        let (encoded, header) = bundle.encode_with_header();
        under_way.header = header as u64;
        under_way.payload = bundle.payload.len() as u64;
        if let Some(item) = self.items.get_mut(&number) {
            item.leaving = leaves;
        }
        self.send(contact, encoded, under_way);
    }

    fn send(&mut self, contact: ContactId, bundle: Vec<u8>, mut under_way: UnderWay) {
        self.next_transfer += 1;
        let transfer = TransferId(self.next_transfer);
        under_way.octets = bundle.len() as u64;
        if let Some(neighbour) = self.neighbours.get_mut(&contact) {
            neighbour.under_way.insert(transfer, under_way);
            self.staged.push(Output::Transmit { contact, transfer, bundle });
        }
    }

    /// Writes what changes from hop to hop.
    fn prepare(&mut self, now: Time, number: u64, bundle: &mut Bundle, decision: Decision) {
        let Some(item) = self.items.get(&number) else { return };
        bundle.set_previous_node(&self.config.node);
        if let Some(age) = bundle.age_ms() {
            bundle.set_age_ms(age.saturating_add(now.since(item.received).as_millis()));
        }
        if let Some((limit, count)) = bundle.hop_count() {
            bundle.set_hop_count(limit, count.saturating_add(1));
        }
        match item.custody {
            Some(number) => bundle.set_custody(&Custody {
                number,
                sequence: self.counters.custody_sequence,
                custodian: self.config.node.clone(),
            }),
            None => bundle.remove_block(block_kind::CUSTODY),
        }
        match decision {
            Decision::Copy { copies } if copies > 0 => bundle.set_spray_copies(copies),
            _ => bundle.remove_block(block_kind::SPRAY_COPIES),
        }
    }

    /// Proactive fragmentation.
    fn fragment(&mut self, now: Time, contact: ContactId, number: u64, bundle: &Bundle, largest: usize) {
        let Some(item) = self.items.get(&number) else { return };
        let Some(pieces) = split(bundle, largest) else {
            // This contact cannot carry it: another one may.
            let short = item.digest.short();
            if let Some(neighbour) = self.neighbours.get_mut(&contact) {
                neighbour.has(short);
            }
            return;
        };
        let take = if item.custody.is_some() { Take::New } else { Take::No };
        let pieces: Vec<(Bundle, Take)> = pieces.into_iter().map(|piece| (piece, take)).collect();
        for number in self.replace(now, number, &pieces) {
            self.offer(now, number);
        }
    }
}

/// Whether it is a record of one agent for another.
fn is_for_agent(item: &StoredBundle) -> bool {
    item.flags & flags::ADMIN_RECORD != 0 && item.destination == item.destination.node()
}

/// What goes first: records, then what is for the neighbour itself, then the others; the oldest first.
fn rank(item: &StoredBundle, peer: &Eid) -> u8 {
    if is_for_agent(item) {
        0
    } else if item.destination.same_node(peer) {
        1
    } else {
        2
    }
}
