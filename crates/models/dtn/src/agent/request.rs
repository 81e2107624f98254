//! An application sends (RFC 9171, section 5.2), and so does the node itself.

use wayhop_core::{BundleEventKind, Span, Time};

use crate::admin::AdminRecord;
use crate::agent::hold::{BundleArrival, Take};
use crate::agent::input::Request;
use crate::agent::output::{Output, RequestError};
use crate::agent::state::Agent;
use crate::bundle::{Bundle, Created, flags};
use crate::eid::Eid;
use crate::store::Store;

/// The flags that an application may set.
const OF_APPLICATIONS: u64 = flags::MUST_NOT_FRAGMENT
    | flags::ACK_REQUESTED
    | flags::STATUS_TIME
    | flags::REPORT_RECEPTION
    | flags::REPORT_FORWARDING
    | flags::REPORT_DELIVERY
    | flags::REPORT_DELETION;

impl<S: Store> Agent<S> {
    pub(super) fn request(&mut self, now: Time, request: Request) {
        let number = request.number;
        let output = match self.make(now, request) {
            Ok(id) => Output::Sent { number, id },
            Err(why) => Output::Rejected { number, why },
        };
        self.staged.push(output);
    }

    fn make(&mut self, now: Time, request: Request) -> Result<crate::bundle::BundleId, RequestError> {
        if !request.source.same_node(&self.config.node) {
            return Err(RequestError::ForeignSource(request.source));
        }
        if request.destination.is_none() {
            return Err(RequestError::NoDestination);
        }
        let limit = self.config.limits.adu_octets.min(self.config.limits.parse.octets as u64);
        let octets = request.payload.len() as u64;
        if octets > limit {
            return Err(RequestError::TooLarge { octets, limit });
        }
        let lifetime = request.lifetime.min(self.config.limits.lifetime);
        let mut bundle = self.bundle(now, request.source, request.destination, lifetime);
        bundle.flags = request.flags & OF_APPLICATIONS;
        bundle.report_to = request.report_to;
        bundle.payload = request.payload;
        let take = if request.custody { Take::New } else { Take::No };
        let number = self.originate(now, &bundle, lifetime, take).ok_or(RequestError::StoreFull(
            "confirm deliveries, wait for contacts, or raise the limits of the store",
        ))?;
        if request.custody {
            self.record(now, BundleEventKind::CustodyTaken, number, &Eid::None);
        }
        self.deliver_if_local(now, number);
        self.offer(now, number);
        Ok(bundle.id())
    }

    /// A bundle of this node, without a payload.
    pub(super) fn bundle(&mut self, now: Time, source: Eid, destination: Eid, lifetime: Span) -> Bundle {
        self.counters_changed = true;
        self.counters.created += 1;
        let mut bundle = Bundle {
            crc: self.config.crc,
            destination,
            source,
            created: Created { time_ms: self.dtn_time_ms(now), sequence: self.counters.created },
            lifetime_ms: lifetime.as_millis(),
            payload_crc: self.config.crc,
            ..Bundle::default()
        };
        // With an age, a bundle has a lifetime at nodes without a clock, too.
        bundle.set_age_ms(0);
        if self.config.hop_limit > 0 {
            bundle.set_hop_count(self.config.hop_limit.into(), 0);
        }
        bundle
    }

    /// Keeps a bundle of this node; `None` if there is no room.
    fn originate(&mut self, now: Time, bundle: &Bundle, lifetime: Span, custody: Take) -> Option<u64> {
        let octets = bundle.encode();
        if !self.make_room(now, octets.len() as u64) {
            return None;
        }
        let copies = self.routing.copies();
        let arrival =
            BundleArrival { received: now, expires: now + lifetime, previous: Eid::None, copies, custody };
        let number = self.hold(bundle, &octets, arrival);
        let kind =
            if bundle.is_admin_record() { BundleEventKind::Signal } else { BundleEventKind::Originate };
        self.record(now, kind, number, &Eid::None);
        Some(number)
    }

    /// Sends an administrative record of this node. If there is no room for it, it is not sent.
    pub(super) fn originate_record(&mut self, now: Time, to: &Eid, record: &AdminRecord, lifetime: Span) {
        if to.is_none() {
            return;
        }
        let mut bundle = self.bundle(now, self.config.node.clone(), to.clone(), lifetime);
        bundle.flags = flags::ADMIN_RECORD;
        bundle.payload = record.encode();
        if let Some(number) = self.originate(now, &bundle, lifetime, Take::No) {
            self.deliver_if_local(now, number);
            self.offer(now, number);
        }
    }
}
