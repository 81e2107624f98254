//! Custody (CCSDS 734.6-O-1; draft-flentge-dtn-bpv7-custody-transfer-00): received and sent signals.

use wayhop_core::{BundleEventKind, Span, Time};

use crate::admin::{AdminRecord, CustodySignal, ranges};
use crate::agent::hold::Take;
use crate::agent::output::DropCause;
use crate::agent::state::{Agent, Signals};
use crate::eid::Eid;
use crate::fragment::piece;
use crate::store::Store;

/// How long a signal is wanted: a custodian that hears nothing sends again, and is told again.
const SIGNAL_LIFETIME: Span = Span::from_secs(86_400);
/// The most ranges in one signal, so that it fits into a datagram.
const RANGES_IN_SIGNAL: usize = 64;

impl<S: Store> Agent<S> {
    /// Another custodian says what it has taken.
    pub(super) fn custody_signal(&mut self, now: Time, signal: &CustodySignal) {
        for number in self.numbers_of(&signal.taken) {
            self.release(now, number);
        }
        for number in self.numbers_of(&signal.not_taken) {
            self.record(now, BundleEventKind::CustodyRefused, number, &Eid::None);
        }
    }

    /// The bundles here that ranges of this node's sequence mean.
    fn numbers_of(&self, ranges: &[(u64, u64, u64)]) -> Vec<u64> {
        let own = self.counters.custody_sequence;
        ranges
            .iter()
            .filter(|(sequence, ..)| *sequence == own)
            .flat_map(|&(_, first, count)| self.by_custody.range(first..first.saturating_add(count)))
            .map(|(_, number)| *number)
            .collect()
    }

    /// Another node is custodian now. Its copy here goes, unless routing spreads copies.
    fn release(&mut self, now: Time, number: u64) {
        let Some(item) = self.items.get(&number) else { return };
        let (custody, has_left) = (item.custody, item.waits_until > Time::ZERO);
        self.record(now, BundleEventKind::CustodyReleased, number, &Eid::None);
        if has_left || self.routing.number().is_none() {
            self.forget(now, number, true);
            return;
        }
        if let Some(custody) = custody {
            self.by_custody.remove(&custody);
        }
        self.change(number, |item| item.custody = None);
    }

    /// Another custodian has the first octets of a bundle's payload.
    pub(super) fn part_taken(&mut self, now: Time, (sequence, custody): (u64, u64), octets: u64) {
        if sequence != self.counters.custody_sequence {
            return;
        }
        let Some(&number) = self.by_custody.get(&custody) else { return };
        if self.items.get(&number).is_some_and(|item| octets >= item.payload) {
            self.release(now, number);
            return;
        }
        let Some(bundle) = self.load_bundle(number) else { return };
        if octets == 0 || !bundle.may_fragment() {
            return;
        }
        let rest = piece(&bundle, octets as usize, bundle.payload.len());
        self.record(now, BundleEventKind::CustodyReleased, number, &Eid::None);
        for number in self.replace(now, number, &[(rest, Take::New)]) {
            self.offer(now, number);
        }
    }

    /// The next custodian has a bundle, it seems: its signal is awaited.
    pub(super) fn await_signal(&mut self, now: Time, number: u64) {
        let until = now + self.config.custody_timeout;
        if let Some(item) = self.items.get_mut(&number) {
            self.waits.remove(&(item.waits_until, number));
            item.waits_until = until;
            self.waits.insert((until, number));
        }
    }

    /// No signal came in time: the bundle goes again.
    pub(super) fn signal_missed(&mut self, now: Time, number: u64) {
        let Some(item) = self.items.get_mut(&number) else { return };
        item.waits_until = Time::ZERO;
        let short = item.digest.short();
        self.record(now, BundleEventKind::CustodyTimeout, number, &Eid::None);
        for neighbour in self.neighbours.values_mut() {
            neighbour.may_lack(short);
        }
        self.offer(now, number);
    }

    /// The destination says itself that it has a bundle.
    pub(super) fn arrived(&mut self, now: Time, number: u64) {
        if self.items.get(&number).is_some_and(|item| item.custody.is_some()) {
            self.record(now, BundleEventKind::CustodyReleased, number, &Eid::None);
            self.forget(now, number, true);
        } else {
            self.drop_item(now, number, DropCause::Forwarded);
        }
    }

    /// Tells custodians what was taken since the last commit: one signal for many bundles.
    pub(super) fn send_signals(&mut self, now: Time) {
        for (custodian, signals) in std::mem::take(&mut self.signals) {
            // A node may be its own bundle's next custodian, after a loop.
            if custodian.same_node(&self.config.node) {
                continue;
            }
            for record in records(signals) {
                self.originate_record(now, &custodian, &record, SIGNAL_LIFETIME);
            }
        }
    }
}

fn records(signals: Signals) -> Vec<AdminRecord> {
    let all = |by_sequence: std::collections::BTreeMap<u64, Vec<u64>>| -> Vec<(u64, u64, u64)> {
        by_sequence.into_iter().flat_map(|(sequence, numbers)| ranges(sequence, numbers)).collect()
    };
    let mut records = Vec::new();
    for taken in all(signals.taken).chunks(RANGES_IN_SIGNAL) {
        records.push(AdminRecord::Custody(CustodySignal { taken: taken.to_vec(), not_taken: Vec::new() }));
    }
    for not_taken in all(signals.not_taken).chunks(RANGES_IN_SIGNAL) {
        records
            .push(AdminRecord::Custody(CustodySignal { taken: Vec::new(), not_taken: not_taken.to_vec() }));
    }
    for (sequence, number, octets) in signals.parts {
        records.push(AdminRecord::PartTaken { bundle: (sequence, number), octets });
    }
    records
}
