//! A bundle came from a neighbour, or its first octets (RFC 9171, section 5.6).

use wayhop_core::{BundleEventKind, Span, Time};

use crate::admin::AdminRecord;
use crate::agent::hold::{BundleArrival, Take};
use crate::agent::input::{ContactId, Refusal, TransferId};
use crate::agent::item::Digest;
use crate::agent::output::{BundleRecord, DropCause, Output};
use crate::agent::state::Agent;
use crate::bundle::{Block, Bundle, BundleId, Custody, block_kind, flags};
use crate::eid::Eid;
use crate::store::Store;

impl<S: Store> Agent<S> {
    /// A whole bundle came.
    pub(super) fn received(&mut self, now: Time, contact: ContactId, transfer: TransferId, octets: &[u8]) {
        let taken = if let Ok(bundle) = Bundle::parse(octets, &self.config.limits.parse) {
            self.take(now, contact, bundle, octets)
        } else {
            let length = octets.len() as u64;
            self.record_drop(now, &BundleId::default(), Eid::None, length, DropCause::Malformed);
            Err(Refusal::NotAcceptable)
        };
        self.staged.push(match taken {
            Ok(()) => Output::Accept(contact, transfer),
            Err(reason) => Output::Refuse(contact, transfer, reason),
        });
    }

    /// The first octets of a bundle came, and no more: they become a fragment.
    pub(super) fn received_part(&mut self, now: Time, contact: ContactId, octets: &[u8]) {
        let Ok(Some(mut bundle)) = Bundle::parse_prefix(octets, &self.config.limits.parse) else { return };
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
        if let (Ok(()), Some(custody)) = (taken, custody)
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

    /// `Ok` if the neighbour need not send the bundle again: it is safe, or not wanted any more.
    fn take(&mut self, now: Time, contact: ContactId, bundle: Bundle, octets: &[u8]) -> Result<(), Refusal> {
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
    ) -> Result<(), Refusal> {
        let peer = self.neighbours.get(&contact).map(|n| n.contact.peer.clone()).unwrap_or_default();
        let id = bundle.id();
        let digest = Digest::of(&id);
        if let Some(neighbour) = self.neighbours.get_mut(&contact) {
            neighbour.has(digest.short());
        }
        if bundle.destination == self.config.node && bundle.fragment.is_none() && bundle.is_admin_record() {
            self.admin_record(now, &bundle);
            return Ok(());
        }
        if self.was_delivered(&id) || self.is_duplicate(digest, custody) {
            let kind = BundleEventKind::Duplicate;
            let row = BundleRecord::new(now, kind, &id, bundle.destination, octets.len() as u64);
            self.staged.push(Output::Record(BundleRecord { peer, ..row }));
            self.take_custody_of_held(now, digest, custody);
            return Ok(());
        }
        if let Some((cause, answer)) = self.why_unwanted(now, &bundle) {
            self.record_drop(now, &id, bundle.destination, octets.len() as u64, cause);
            return answer;
        }
        bundle.blocks.retain(|b| Bundle::knows(b.kind) || b.flags & flags::BLOCK_DISCARD == 0);
        let left = self.lifetime_left(now, &bundle);
        // What was discarded of it is not kept.
        let kept = bundle.encode();
        if !self.make_room(now, kept.len() as u64) {
            self.record_drop(now, &id, bundle.destination, octets.len() as u64, DropCause::StoreFull);
            return Err(Refusal::NoResources);
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
        Ok(())
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

    /// Why a bundle ends here, if it does, and what its neighbour is told.
    fn why_unwanted(&self, now: Time, bundle: &Bundle) -> Option<(DropCause, Result<(), Refusal>)> {
        let deletes = |b: &Block| !Bundle::knows(b.kind) && b.flags & flags::BLOCK_DELETE_BUNDLE != 0;
        if bundle.blocks.iter().any(deletes) {
            return Some((DropCause::UnintelligibleBlock, Err(Refusal::ExtensionFailure)));
        }
        if self.lifetime_left(now, bundle) == Span::ZERO {
            return Some((DropCause::LifetimeExpired, Ok(())));
        }
        if bundle.destination.is_none() {
            return Some((DropCause::NoDestination, Ok(())));
        }
        let is_local = self.is_local(&bundle.destination);
        if bundle.hop_count().is_some_and(|(limit, count)| count > limit || (count == limit && !is_local)) {
            return Some((DropCause::HopLimit, Ok(())));
        }
        let total = bundle.fragment.map_or(bundle.payload.len() as u64, |f| f.total);
        let is_too_large = is_local && total > self.config.limits.adu_octets;
        is_too_large.then_some((DropCause::TooLarge, Err(Refusal::NotAcceptable)))
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
                self.record_drop(now, &bundle.id(), destination, octets, DropCause::NotUnderstood);
            }
        }
    }
}
