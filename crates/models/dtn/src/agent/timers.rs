//! What happens when time passes.

use wayhop_core::Time;

use crate::agent::contact::Neighbour;
use crate::agent::input::ContactId;
use crate::agent::output::DropCause;
use crate::agent::state::Agent;
use crate::store::Store;

impl<S: Store> Agent<S> {
    /// When [`crate::Input::Timer`] is to come, if nothing else comes before.
    pub fn next_timer(&self) -> Option<Time> {
        let first = [
            self.expiries.first().map(|(at, _)| *at),
            self.waits.first().map(|(at, _)| *at),
            self.delivery_expiries.first().map(|(at, ..)| *at),
            self.seen_expiries.first().map(|(at, _)| *at),
            self.neighbours.values().filter_map(|n| n.retries.first()).map(|(at, _)| *at).min(),
            self.neighbours.values().map(|n| n.tell_at).filter(|at| *at < Time::NEVER).min(),
        ];
        first.into_iter().flatten().min()
    }

    /// Does what is due.
    pub(super) fn pass_time(&mut self, now: Time) {
        while let Some(&(at, number)) = self.expiries.first()
            && at <= now
        {
            self.expiries.pop_first();
            self.drop_item(now, number, DropCause::LifetimeExpired);
        }
        while let Some(&(at, number)) = self.waits.first()
            && at <= now
        {
            self.waits.pop_first();
            self.signal_missed(now, number);
        }
        while let Some((at, endpoint, number)) = self.delivery_expiries.first().cloned()
            && at <= now
        {
            self.end_delivery(&endpoint, number);
        }
        while self.seen_expiries.first().is_some_and(|(at, _)| *at <= now) {
            self.forget_seen();
        }
        let refused = |n: &&Neighbour| n.retries.first().is_some_and(|(at, _)| *at <= now);
        let refused: Vec<ContactId> =
            self.neighbours.values().filter(refused).map(|n| n.contact.id).collect();
        for contact in refused {
            self.offer_refused(now, contact);
        }
        let silent: Vec<ContactId> =
            self.neighbours.values().filter(|n| n.tell_at <= now).map(|n| n.contact.id).collect();
        for contact in silent {
            self.tell(now, contact);
        }
    }
}
