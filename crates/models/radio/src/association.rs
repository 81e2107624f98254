//! Stations and their access point: association.
//!
//! The access point sends beacons as frames on the air. A station that hears a strong one
//! associates; it leaves after a weak one, or after none for a while. The two thresholds differ, so
//! that an approaching station associates closer to the access point than a departing one leaves.
//! Authentication and association take no time, and the access point knows its stations at once.

use wayhop_core::{Span, Time};

use crate::config::RadioConfig;
use crate::host::EVERYONE;
use crate::units::dbm_to_watts;

/// Who is associated.
#[derive(Debug)]
pub(crate) struct Associations {
    pub(crate) access_point: u32,
    join_watts: f64,
    leave_watts: f64,
    /// From one beacon to the next.
    pub(crate) interval: Span,
    /// As long as this without a beacon ends an association.
    patience: Span,
    /// By station: when the last beacon came, if it is associated.
    last_beacon: Vec<Option<Time>>,
}

impl Associations {
    /// `None` for an ad hoc network.
    pub(crate) fn new(c: &RadioConfig, stations: usize) -> Option<Box<Self>> {
        let access_point = c.access_point?;
        let interval = Span::from_nanos((c.beacon_interval_ms * 1e6) as u64);
        Some(Box::new(Self {
            access_point,
            join_watts: dbm_to_watts(c.join_dbm),
            leave_watts: dbm_to_watts(c.leave_dbm),
            interval,
            patience: interval * u64::from(c.missed_beacons),
            last_beacon: vec![None; stations],
        }))
    }

    /// Whether a station takes part: the access point always does.
    pub(crate) fn is_in(&self, now: Time, station: u32) -> bool {
        station == self.access_point
            || self.last_beacon[station as usize].is_some_and(|t| now <= t + self.patience)
    }

    /// Whether a station may send to another, or to all.
    pub(crate) fn may_send(&self, now: Time, from: u32, to: u32) -> bool {
        let is_there = to == EVERYONE || (to as usize) < self.last_beacon.len() && self.is_in(now, to);
        is_there && self.is_in(now, from)
    }

    pub(crate) fn hear(&mut self, now: Time, station: u32, watts: f64) {
        let needed = if self.is_in(now, station) { self.leave_watts } else { self.join_watts };
        self.last_beacon[station as usize] = (watts >= needed).then_some(now);
    }

    pub(crate) fn forget(&mut self, station: u32) {
        self.last_beacon[station as usize] = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::dbm_to_watts;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_station_joins_above_one_threshold_and_leaves_below_a_lower_one() {
        let mut a = Associations::new(&RadioConfig::preset("meshtest").unwrap(), 2).unwrap();
        let hear = |a: &mut Associations, ms, dbm| {
            a.hear(at(ms), 1, dbm_to_watts(dbm));
            a.is_in(at(ms), 1)
        };
        assert!(a.is_in(at(0), 0), "the access point");
        assert!(!hear(&mut a, 100, -76.1));
        assert!(
            !a.may_send(at(100), 0, 1) && !a.may_send(at(100), 1, 0) && !a.may_send(at(100), 1, EVERYONE)
        );
        assert!(a.may_send(at(100), 0, EVERYONE));
        assert!(hear(&mut a, 200, -75.9));
        assert!(a.may_send(at(200), 0, 1) && a.may_send(at(200), 1, 0) && a.may_send(at(200), 1, EVERYONE));
        // Between the thresholds it stays, and does not come back.
        assert!(hear(&mut a, 300, -81.9));
        assert!(!hear(&mut a, 400, -82.1));
        assert!(!hear(&mut a, 500, -81.9));
        // Ten intervals of 102.4 ms without a beacon.
        assert!(hear(&mut a, 600, -70.0));
        assert!(a.is_in(at(1624), 1));
        assert!(!a.is_in(at(1625), 1));
        assert!(!a.may_send(at(0), 0, 7), "an address that no station has");
    }
}
