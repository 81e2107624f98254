//! A bundle came from a neighbour, or its first octets (RFC 9171, section 5.6).

use wayhop_core::{BundleEventKind, Span, Time};

use crate::admin::AdminRecord;
use crate::agent::hold::{BundleArrival, Take};
use crate::agent::input::{ContactId, Refusal, TransferId};
use crate::agent::item::Digest;
use crate::agent::output::{BundleEvent, DropCause, Output};
use crate::agent::state::Agent;
use crate::bundle::{Bundle, BundleId, Custody, block_kind, flags};
use crate::eid::Eid;
use crate::store::Store;

/// What becomes of a bundle that came.
enum Taken {
    /// It is safe, or not wanted any more: the neighbour need not send it again.
    Yes,
    /// It is not taken.
    No(Refusal),
}

impl<S: Store> Agent<S> {
    /// A whole bundle came.
    pub(super) fn received(&mut self, now: Time, contact: ContactId, transfer: TransferId, octets: &[u8]) {
        let taken = if let Ok(bundle) = Bundle::parse(octets, &self.config.limits.parse) {
            self.take(now, contact, bundle, octets)
        } else {
            let length = octets.len() as u64;
            self.record_drop(now, BundleId::default(), Eid::None, length, DropCause::Malformed);
            Taken::No(Refusal::NotAcceptable)
        };
        self.staged.push(match taken {
            Taken::Yes => Output::Accept { contact, transfer },
            Taken::No(reason) => Output::Refuse { contact, transfer, reason },
        });
    }

    /// The first octets of a bundle came, and no more: they become a fragment.
    pub(super) fn received_part(&mut self, now: Time, contact: ContactId, octets: &[u8]) {
        let Ok(Some(prefix)) = Bundle::parse_prefix(octets, &self.config.limits.parse) else { return };
        let mut bundle = prefix.bundle;
        if !bundle.may_fragment() || bundle.fragment.is_none() {
            return;
        }
        // The custodian has custody of the bundle as a whole: it is told which part of it is here, if that is kept.
        let custody = bundle.custody();
        let id = bundle.id();
        let octets = bundle.encode();
        bundle.remove_block(block_kind::CUSTODY);
        let bare = if custody.is_some() { bundle.encode() } else { octets };
        let held_before = self.is_held(&id);
        let taken = self.take_with(now, contact, bundle, &bare, custody.is_some());
        if let (Taken::Yes, Some(custody)) = (taken, custody)
            && (self.is_held(&id) || held_before || self.was_delivered(&id))
        {
            let length = id.fragment.map_or(0, |(_, length)| length);
            let signals = self.signals.entry(custody.custodian).or_default();
            signals.parts.push((custody.sequence, custody.number, length));
        }
    }

    fn is_held(&self, id: &BundleId) -> bool {
        self.by_digest.contains_key(&Digest::of(id))
    }

    fn take(&mut self, now: Time, contact: ContactId, bundle: Bundle, octets: &[u8]) -> Taken {
        let custody = bundle.custody();
        let id = bundle.id();
        let taken = self.take_with(now, contact, bundle, octets, custody.is_some());
        if let Some(Custody { number, sequence, custodian }) = custody {
            // Custody is signalled for what is held with custody, or has reached its application.
            let is_safe = self.was_delivered(&id)
                || self
                    .by_digest
                    .get(&Digest::of(&id))
                    .is_some_and(|number| self.items.get(number).is_some_and(|item| item.custody.is_some()));
            let signals = self.signals.entry(custodian).or_default();
            let of = if is_safe { &mut signals.taken } else { &mut signals.not_taken };
            of.entry(sequence).or_default().push(number);
        }
        taken
    }

    /// Takes a bundle into the store, with custody if it is asked for.
    fn take_with(
        &mut self,
        now: Time,
        contact: ContactId,
        mut bundle: Bundle,
        octets: &[u8],
        custody: bool,
    ) -> Taken {
        let peer = self.neighbours.get(&contact).map(|n| n.contact.peer.clone()).unwrap_or_default();
        let id = bundle.id();
        let digest = Digest::of(&id);
        if let Some(neighbour) = self.neighbours.get_mut(&contact) {
            neighbour.has(digest.short());
        }
        if bundle.destination == self.config.node && bundle.fragment.is_none() && bundle.is_admin_record() {
            self.admin_record(now, &bundle);
            return Taken::Yes;
        }
        if self.was_delivered(&id) || self.is_duplicate(digest, custody) {
            self.record_arrival(now, BundleEventKind::Duplicate, &bundle, &peer, octets.len());
            self.take_custody_of_held(now, digest, custody);
            return Taken::Yes;
        }
        if let Some(taken) = self.not_wanted(now, &mut bundle, octets.len()) {
            return taken;
        }
        let left = self.lifetime_left(now, &bundle);
        // What was discarded of it is not kept.
        let kept = bundle.encode();
        if !self.make_room(now, kept.len() as u64) {
            self.record_drop(now, id, bundle.destination, octets.len() as u64, DropCause::StoreFull);
            return Taken::No(Refusal::NoResources);
        }
        let copies = bundle.spray_copies().unwrap_or(u32::from(self.routing.copies() > 0));
        let take = if custody { Take::New } else { Take::No };
        let arrival = BundleArrival {
            received: now,
            expires: now + left,
            previous: peer.clone(),
            copies,
            custody: take,
        };
        let number = self.hold(&bundle, &kept, arrival);
        self.record(now, BundleEventKind::Receive, number, &peer);
        self.report(now, number, 0);
        if custody {
            self.record(now, BundleEventKind::CustodyTaken, number, &peer);
        }
        self.deliver_if_local(now, number);
        self.offer(now, number);
        Taken::Yes
    }

    /// Whether it is not to be stored again. Custody of a bundle that passed through here and comes round again is taken again:
    /// the next custodian has lost sight of it, or routes make a loop.
    fn is_duplicate(&self, digest: Digest, custody: bool) -> bool {
        self.by_digest.contains_key(&digest) || (!custody && self.seen.contains_key(&digest))
    }

    /// A bundle that is held without custody comes again, with it.
    fn take_custody_of_held(&mut self, now: Time, digest: Digest, custody: bool) {
        let Some(&number) = self.by_digest.get(&digest) else { return };
        if !custody || self.items[&number].custody.is_some() {
            return;
        }
        let own = self.new_custody_number();
        self.change(number, |item| item.custody = Some(own));
        self.by_custody.insert(own, number);
        self.record(now, BundleEventKind::CustodyTaken, number, &Eid::None);
    }

    /// Why a bundle ends here, if it does; blocks that are to be discarded are.
    fn not_wanted(&mut self, now: Time, bundle: &mut Bundle, octets: usize) -> Option<Taken> {
        let unknown = |block: &crate::bundle::Block| !Bundle::knows(block.kind);
        let drop = |agent: &mut Self, bundle: &Bundle, cause| {
            agent.record_drop(now, bundle.id(), bundle.destination.clone(), octets as u64, cause);
        };
        if bundle.blocks.iter().any(|b| unknown(b) && b.flags & flags::BLOCK_DELETE_BUNDLE != 0) {
            drop(self, bundle, DropCause::UnintelligibleBlock);
            return Some(Taken::No(Refusal::ExtensionFailure));
        }
        bundle.blocks.retain(|b| !unknown(b) || b.flags & flags::BLOCK_DISCARD == 0);
        if self.lifetime_left(now, bundle) == Span::ZERO {
            drop(self, bundle, DropCause::LifetimeExpired);
            return Some(Taken::Yes);
        }
        if bundle.destination.is_none() {
            drop(self, bundle, DropCause::NoDestination);
            return Some(Taken::Yes);
        }
        let is_local = self.is_local(&bundle.destination);
        if bundle.hop_count().is_some_and(|(limit, count)| count > limit || (count == limit && !is_local)) {
            drop(self, bundle, DropCause::HopLimit);
            return Some(Taken::Yes);
        }
        let total = bundle.fragment.map_or(bundle.payload.len() as u64, |f| f.total);
        if is_local && total > self.config.limits.adu_octets {
            drop(self, bundle, DropCause::TooLarge);
            return Some(Taken::No(Refusal::NotAcceptable));
        }
        None
    }

    /// How much of its lifetime is left (sections 4.2.7, 4.3.1 and 4.4.2).
    pub(super) fn lifetime_left(&self, now: Time, bundle: &Bundle) -> Span {
        let own = self.dtn_time_ms(now);
        let past_ms = if bundle.created.time_ms > 0 && own > 0 {
            own.saturating_sub(bundle.created.time_ms)
        } else {
            // Without two clocks the age tells; without an age, nobody does.
            bundle.age_ms().unwrap_or(0)
        };
        Span::from_millis(bundle.lifetime_ms.saturating_sub(past_ms)).min(self.config.limits.lifetime)
    }

    fn record_arrival(
        &mut self,
        at: Time,
        kind: BundleEventKind,
        bundle: &Bundle,
        peer: &Eid,
        octets: usize,
    ) {
        self.staged.push(Output::Record(BundleEvent {
            at,
            kind,
            id: bundle.id(),
            destination: bundle.destination.clone(),
            peer: peer.clone(),
            octets: octets as u64,
            cause: None,
        }));
    }

    /// A record for this node itself.
    pub(super) fn admin_record(&mut self, now: Time, bundle: &Bundle) {
        match AdminRecord::parse(&bundle.payload) {
            Some(AdminRecord::Custody(signal)) => self.custody_signal(now, &signal),
            Some(AdminRecord::PartTaken { bundle, octets }) => self.part_taken(now, bundle, octets),
            Some(AdminRecord::Routing(message)) => self.routing_message(now, &bundle.source.node(), &message),
            // Reports go to the requester, which is never the node itself.
            Some(AdminRecord::Status(_)) => {}
            None => {
                let octets = bundle.payload.len() as u64;
                let destination = bundle.destination.clone();
                self.record_drop(now, bundle.id(), destination, octets, DropCause::NotUnderstood);
            }
        }
    }
}
