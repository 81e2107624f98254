//! Status reports (RFC 9171, section 6.1.1): for bundles that request them, at nodes that send them.

use wayhop_core::{Span, Time};

use crate::admin::{AdminRecord, Reason, StatusReport};
use crate::agent::item::StoredBundle;
use crate::agent::output::DropCause;
use crate::agent::state::Agent;
use crate::bundle::flags;
use crate::store::Store;

/// How long a report is wanted.
const LIFETIME: Span = Span::from_secs(86_400);
/// The flags that ask for reports, in the order of what a report asserts.
const ASKED_BY: [u64; 4] =
    [flags::REPORT_RECEPTION, flags::REPORT_FORWARDING, flags::REPORT_DELIVERY, flags::REPORT_DELETION];

impl<S: Store> Agent<S> {
    /// Reports of a bundle that is held: 0 received, 1 forwarded.
    pub(super) fn report(&mut self, now: Time, number: u64, what: usize) {
        if let Some(item) = self.items.get(&number).cloned() {
            self.report_of(now, &item, what, Reason::NoInformation);
        }
    }

    /// Reports that a bundle ended here.
    pub(super) fn report_drop(&mut self, now: Time, item: &StoredBundle, cause: DropCause) {
        let reason = match cause {
            DropCause::LifetimeExpired => Reason::LifetimeExpired,
            DropCause::HopLimit => Reason::HopLimitExceeded,
            DropCause::StoreFull | DropCause::Evicted => Reason::DepletedStorage,
            DropCause::UnintelligibleBlock => Reason::BlockUnintelligible,
            // It goes on elsewhere.
            DropCause::Forwarded => return,
            _ => Reason::NoInformation,
        };
        self.report_of(now, item, 3, reason);
    }

    /// Of a bundle that need not be held any more: 2 delivered, 3 deleted.
    pub(super) fn report_of(&mut self, now: Time, item: &StoredBundle, what: usize, reason: Reason) {
        let is_asked = item.flags & ASKED_BY[what] != 0 && item.flags & flags::ADMIN_RECORD == 0;
        if !self.config.status_reports || !is_asked || item.report_to.is_none() {
            return;
        }
        let time = if item.flags & flags::STATUS_TIME == 0 { 0 } else { self.dtn_time_ms(now) };
        let mut asserted = [None; 4];
        asserted[what] = Some(time);
        let record = AdminRecord::Status(StatusReport { asserted, reason, bundle: item.id.clone() });
        self.originate_record(now, &item.report_to, &record, LIFETIME);
    }
}
