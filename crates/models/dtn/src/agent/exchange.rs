//! The exchange of nodes that meet: the bundles that they have or have had, and their routing's state.

use wayhop_core::{Span, Time};

use crate::admin::{AdminRecord, RoutingMessage};
use crate::agent::input::ContactId;
use crate::agent::item::Digest;
use crate::agent::state::Agent;
use crate::bundle::{Bundle, flags};
use crate::eid::Eid;
use crate::fragment::split;
use crate::store::Store;

/// How long a message is wanted.
const LIFETIME: Span = Span::from_secs(60);
/// When a neighbour is told again, as long as nothing came from it.
const TELL_AGAIN: Span = Span::from_secs(10);
/// The most identifiers that a neighbour is told: of bundles held, then of those seen.
const MAX_TOLD: usize = 32_768;
/// The most in one message.
const IN_MESSAGE: usize = 4_096;
/// Octets of a message besides identifiers, about.
const BESIDES: usize = 400;

impl<S: Store> Agent<S> {
    pub(super) fn tell(&mut self, now: Time, contact: ContactId) {
        let Some(routing) = self.routing.number() else { return };
        let Some(neighbour) = self.neighbours.get_mut(&contact) else { return };
        let (peer, largest) = (neighbour.contact.peer.clone(), neighbour.contact.largest);
        let wants_answer = !neighbour.has_told;
        neighbour.tell_at = if wants_answer { now + TELL_AGAIN } else { Time::NEVER };
        let own = self.routing.message(now);
        self.routing_changed = true;
        let seen = self.list();
        let size = largest.map_or(IN_MESSAGE, |l| (l.saturating_sub(BESIDES) / 8).clamp(16, IN_MESSAGE));
        let chunks: Vec<&[u64]> = if seen.is_empty() { vec![&[]] } else { seen.chunks(size).collect() };
        let parts = chunks.len() as u64;
        for (part, seen) in chunks.into_iter().enumerate() {
            let own = if part == 0 { own.clone() } else { Vec::new() };
            let seen = seen.to_vec();
            let message = RoutingMessage { routing, part: part as u64, parts, wants_answer, own, seen };
            self.queue_message(now, contact, &peer, message, largest);
        }
        self.fill(now, contact);
    }

    /// The bundles that are here or were.
    fn list(&self) -> Vec<u64> {
        let held = self.items.values().map(|item| item.digest.short());
        // Those that live longest: others will soon be nowhere.
        let seen = self.seen_expiries.iter().rev().map(|(_, digest)| digest.short());
        held.chain(seen).take(MAX_TOLD).collect()
    }

    fn queue_message(
        &mut self,
        now: Time,
        to: ContactId,
        peer: &Eid,
        message: RoutingMessage,
        largest: Option<usize>,
    ) {
        let mut bundle = self.bundle(now, self.config.node.clone(), peer.node(), LIFETIME);
        bundle.flags = flags::ADMIN_RECORD;
        bundle.set_previous_node(&self.config.node.clone());
        bundle.payload = AdminRecord::Routing(message).encode();
        // A large table of a routing goes in fragments.
        let pieces = split(&bundle, largest.unwrap_or(usize::MAX)).unwrap_or_default();
        if let Some(neighbour) = self.neighbours.get_mut(&to) {
            neighbour.messages.extend(pieces.iter().map(Bundle::encode));
        }
    }

    pub(super) fn routing_message(&mut self, now: Time, source: &Eid, message: &RoutingMessage) {
        if self.routing.number() != Some(message.routing) {
            return;
        }
        let contacts: Vec<ContactId> =
            self.neighbours.values().filter(|n| n.contact.peer == *source).map(|n| n.contact.id).collect();
        if contacts.is_empty() {
            return;
        }
        if message.part == 0 {
            if self.routing.hear(now, source, &message.own).is_err() {
                return;
            }
            self.routing_changed = true;
        }
        for contact in contacts {
            self.told(now, contact, source, message);
        }
    }

    fn told(&mut self, now: Time, contact: ContactId, peer: &Eid, message: &RoutingMessage) {
        let Some(neighbour) = self.neighbours.get_mut(&contact) else { return };
        for short in &message.seen {
            neighbour.has(*short);
        }
        if message.parts <= (MAX_TOLD / 16) as u64 {
            neighbour.parts.insert(message.part);
        }
        let is_whole = neighbour.parts.len() as u64 == message.parts;
        let is_first = is_whole && !neighbour.has_told;
        if is_first {
            neighbour.has_told = true;
            neighbour.tell_at = Time::NEVER;
        }
        // A neighbour without our list gets it again, once for its whole list.
        let answers = message.wants_answer && message.part + 1 == message.parts && !is_first;
        if answers {
            self.tell(now, contact);
        }
        if is_first {
            self.drop_what_arrived(now, contact, peer);
            self.offer_all(now, contact);
        }
    }

    /// What is for the neighbour itself and has arrived there need not be kept.
    fn drop_what_arrived(&mut self, now: Time, contact: ContactId, peer: &Eid) {
        let Some(neighbour) = self.neighbours.get(&contact) else { return };
        let arrived: Vec<u64> = self
            .items
            .iter()
            .filter(|(_, item)| item.destination.is_singleton() && item.destination.same_node(peer))
            .filter(|(_, item)| {
                neighbour.knows(item.digest.short()) || neighbour.knows(Digest::of_whole(&item.id).short())
            })
            .map(|(number, _)| *number)
            .collect();
        for number in arrived {
            self.arrived(now, number);
        }
    }
}
