//! Where the node is, and where other nodes reported to be.

use std::collections::BTreeMap;
use std::time::Instant;

use wayhop_control::gpsd::GpsReport;
use wayhop_core::{Addr, Fix, FixQuality, Time};

use crate::position::fix_time::FixClock;

/// Where the node is, as far as it was told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whereabouts {
    /// By the control socket: it outdoes the receiver.
    pub(crate) told: Option<Fix>,
    /// By gpsd.
    pub(crate) receiver: Option<GpsReport>,
    /// When the report came that was looked at last.
    seen: Option<Instant>,
    /// What the protocol knows.
    known: Option<Fix>,
    /// When the node began; `None` before.
    pub(crate) clock: Option<FixClock>,
}

impl Whereabouts {
    /// What gpsd says now. Returns whether it is another report than before, or the receiver has lost its place.
    pub(crate) fn hear(&mut self, received: Option<GpsReport>) -> bool {
        let at = received.map(|r| r.at);
        self.receiver = received;
        std::mem::replace(&mut self.seen, at) != at
    }

    /// Since when the place that counts is so, looked at now.
    pub(crate) fn since(&mut self, now: Time) -> Time {
        match (&mut self.clock, &self.receiver) {
            (Some(clock), Some(report)) if self.told.is_none() => clock.taken(report).min(now),
            _ => now,
        }
    }

    /// The place that counts.
    pub(crate) fn fix(&self) -> Option<Fix> {
        self.told.or(self.receiver.map(|r| r.fix))
    }

    /// How good that is, if it is the receiver's.
    pub(crate) fn quality(&self) -> Option<FixQuality> {
        self.receiver.filter(|_| self.told.is_none()).map(|r| r.quality)
    }

    /// It, if it is news for the protocol.
    pub(crate) fn news(&mut self) -> Option<Fix> {
        let fix = self.fix().filter(|f| self.known != Some(*f))?;
        self.known = Some(fix);
        Some(fix)
    }
}

/// The places of more nodes are not remembered: engines bound their tables themselves.
const MOST: usize = 4_096;

/// Where other nodes said that they are.
#[derive(Debug, Default)]
pub(crate) struct NodePlaces(BTreeMap<Addr, Fix>);

impl NodePlaces {
    /// Takes notice of a node's place. Returns whether it is news.
    pub(crate) fn learn(&mut self, node: Addr, fix: Fix) -> bool {
        if self.0.len() >= MOST && !self.0.contains_key(&node) {
            return false;
        }
        self.0.insert(node, fix) != Some(fix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn each_report_is_news_once_and_so_is_the_loss_of_the_place() {
        let at = Instant::now();
        let report = |ms| GpsReport {
            fix: Fix { latitude_deg: 1.0, ..Fix::default() },
            quality: FixQuality::default(),
            at: at + Duration::from_millis(ms),
        };
        let mut w = Whereabouts::default();
        assert!(!w.hear(None), "nothing was known before");
        assert!(w.hear(Some(report(0))));
        assert!(!w.hear(Some(report(0))));
        assert!(w.hear(Some(report(1000))), "the same place, reported again");
        assert!(w.quality().is_some());
        w.told = Some(Fix::default());
        assert_eq!(w.quality(), None, "a told place is nobody's measurement");
        assert!(w.hear(None));
    }
}
