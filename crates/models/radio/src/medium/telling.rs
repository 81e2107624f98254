//! Which stations are notified of a transmission, and when: see [`super::deferred`].

use wayhop_core::{Span, Time};

use super::deferred::{Deferred, Kept};
use super::stations::Stations;
use super::transmission::{Arrival, Receiver, Start};
use super::{Medium, Model, audible_among};
use crate::host::Motions;
use crate::station::{Backoff, NONE, PhyState};

impl Medium {
    /// Whether some stations are notified of transmissions later.
    #[inline]
    pub(crate) fn is_deferred(&self) -> bool {
        self.deferred.is_some()
    }

    /// A station has a backoff from now on.
    #[inline]
    pub(crate) fn contend(&mut self, station: u32) {
        if let Some(d) = &mut self.deferred {
            d.contending.put(station, self.neighbours.place(station));
        }
    }

    /// A station has no backoff any more.
    #[inline]
    pub(crate) fn stop_contending(&mut self, station: u32) {
        if let Some(d) = &mut self.deferred {
            d.contending.remove(station, self.neighbours.place(station));
        }
    }

    /// Tells those stations of a transmission that have to know, and keeps it for the others. `s.here` is its sender's place.
    pub(super) fn start_deferred(
        &mut self,
        s: &Start<'_>,
        receivers: &mut Vec<Receiver>,
        stations: &mut Stations<'_>,
        motions: &mut impl Motions,
    ) -> u32 {
        let Some(mut d) = self.deferred.take() else { return 0 };
        d.forget_until(s.now);
        let sensed_m = self.neighbours.sensed_within_m();
        // From a sender to a station, to the sender of another frame that it senses.
        let is_known = d.find(s.here, 2.0 * sensed_m) || d.old_on_air > 0;
        let number = d.next;
        let mut candidates = std::mem::take(&mut d.candidates);
        candidates.clear();
        if is_known {
            candidates.extend_from_slice(self.neighbours.everyone_near(s.sender));
            self.tell_candidates(s, &d, &candidates, receivers, stations, motions);
        } else {
            if s.t.is_read_by_all {
                let near = self.neighbours.near(s.sender);
                let (legs, audible) = (&mut self.legs, &mut self.audible);
                audible_among(near, s, d.decoded, &self.propagation, legs, audible, motions);
                self.tell_audible(s, &d, receivers, stations, motions);
            } else if self.neighbours.has_radio(s.t.head.to) {
                self.tell_candidates(s, &d, &[s.t.head.to], receivers, stations, motions);
            }
            let is_new = |i: u32, states: &[PhyState]| i != s.sender && states[i as usize].told <= number;
            d.contending.around(s.here, sensed_m, |i| {
                candidates.extend(Some(i).filter(|i| is_new(*i, stations.phy_states)));
            });
            self.tell_candidates(s, &d, &candidates, receivers, stations, motions);
        }
        // A sender has just looked at the medium.
        stations.phy_states[s.sender as usize].told = number + 1;
        let Start { sender, slot, now: from, airtime, here, .. } = *s;
        let reserved = Span::from_micros(u64::from(s.t.head.duration_us));
        let k = d.keep(Kept { number, sender, slot, is_known, from, airtime, reserved, here });
        d.next += 1;
        d.candidates = candidates;
        self.deferred = Some(d);
        k
    }

    /// Tells those of some stations that sense it of a transmission.
    fn tell_candidates(
        &mut self,
        s: &Start<'_>,
        d: &Deferred,
        candidates: &[u32],
        receivers: &mut Vec<Receiver>,
        stations: &mut Stations<'_>,
        motions: &mut impl Motions,
    ) {
        if !candidates.is_empty() {
            let (legs, audible) = (&mut self.legs, &mut self.audible);
            audible_among(candidates, s, self.reach, &self.propagation, legs, audible, motions);
            self.tell_audible(s, d, receivers, stations, motions);
        }
    }

    /// Tells the audible stations of a transmission, after what they have not been told yet.
    fn tell_audible(
        &mut self,
        s: &Start<'_>,
        d: &Deferred,
        receivers: &mut Vec<Receiver>,
        stations: &mut Stations<'_>,
        motions: &mut impl Motions,
    ) {
        if let Some(last) = d.nearby.last() {
            let audible = std::mem::take(&mut self.audible);
            for a in &audible {
                // Many of them know all of these: a third with 50 DSR nodes.
                if stations.phy_states[a.station as usize].told <= last.number {
                    self.replay(&d.nearby, a.station, stations, motions);
                }
            }
            self.audible = audible;
        }
        self.tell(s, d.next + 1, receivers, stations);
    }

    /// Tells a station of transmissions that it has not been notified of, if it senses them. They must be in the order of their
    /// numbers, without those that everybody knows.
    fn replay(
        &mut self,
        transmissions: &[Kept],
        station: u32,
        stations: &mut Stations<'_>,
        motions: &mut impl Motions,
    ) {
        // Of the other model all are told at once.
        let Model::Threshold(model) = &self.model else { return };
        let told = stations.phy_states[station as usize].told;
        // Most of them were told before, and only the last few are new.
        let new = transmissions.iter().rposition(|kept| kept.number < told).map_or(0, |last| last + 1);
        for kept in &transmissions[new..] {
            if kept.sender == station {
                continue;
            }
            let there = self.legs.place_then(station, kept.from, motions);
            let d2 = there.distance_squared(kept.here);
            let Some(a) = self.reach.heard_plainly(&self.propagation, station, d2) else { continue };
            let from = kept.from + Span::from_nanos(u64::from(a.delay_ns));
            let Kept { slot, sender, airtime, reserved, .. } = *kept;
            let arrival = Arrival { slot, sender, from, until: from + airtime, watts: a.watts };
            let phy_state = &mut stations.phy_states[station as usize];
            debug_assert!(slot != NONE || phy_state.locked == NONE, "frames that meet are told at once");
            let listens = model.arrive(phy_state, &arrival, airtime, stations.pause);
            if slot == NONE {
                debug_assert!(phy_state.backoff == Backoff::Off, "contending stations are told at once");
                stations.end_alone(arrival.until, station, reserved);
            } else if listens && let Some(t) = &mut self.slots[slot as usize] {
                t.receivers.push(Receiver { station, delay_ns: a.delay_ns });
            }
        }
    }

    /// Brings a station up to date.
    pub(crate) fn catch_up(
        &mut self,
        now: Time,
        station: u32,
        stations: &mut Stations<'_>,
        motions: &mut impl Motions,
    ) {
        let i = station as usize;
        let Some(mut d) = self.deferred.take() else { return };
        if stations.phy_states[i].told != d.next {
            d.forget_until(now);
            d.find(self.neighbours.place(station), self.neighbours.sensed_within_m());
            self.replay(&d.nearby, station, stations, motions);
            stations.phy_states[i].told = d.next;
        }
        self.deferred = Some(d);
    }

    /// Tells everybody of everything that is kept.
    fn settle(&mut self, d: &mut Deferred, stations: &mut Stations<'_>, motions: &mut impl Motions) {
        d.nearby.clear();
        d.nearby.extend(d.kept.iter().flatten().filter(|k| !k.is_known));
        d.nearby.sort_unstable_by_key(|k| k.number);
        for kept in &d.nearby {
            d.candidates.clear();
            self.neighbours.around(kept.here, self.neighbours.sensed_within_m(), &mut d.candidates);
            for &station in &d.candidates {
                self.replay(&[*kept], station, stations, motions);
                let told = &mut stations.phy_states[station as usize].told;
                *told = (*told).max(kept.number + 1);
            }
        }
    }

    /// Makes the grid of stations again if it is out of date.
    pub(super) fn renew(&mut self, now: Time, stations: &mut Stations<'_>, motions: &mut impl Motions) {
        if self.tells_all && self.is_deferred() {
            self.tell_everyone(stations, motions);
        }
        if let Some(mut d) = self.deferred.take_if(|d| d.next == NONE) {
            self.settle(&mut d, stations, motions);
            d.restart_numbers(stations.phy_states);
            self.deferred = Some(d);
        }
        if !self.neighbours.is_due(now) {
            return;
        }
        let mut deferred = self.deferred.take();
        if let Some(d) = &mut deferred {
            self.settle(d, stations, motions);
        }
        self.neighbours.renew(now, &mut self.legs, motions);
        if let Some(d) = &mut deferred {
            d.settled(&self.neighbours, stations.phy_states);
        }
        self.deferred = deferred;
    }

    /// From the next transmission on, all stations are notified of each at once.
    pub(crate) fn tell_all(&mut self) {
        self.tells_all = true;
    }

    /// Tells all stations of everything, now and of each transmission from now on.
    pub(crate) fn tell_everyone(&mut self, stations: &mut Stations<'_>, motions: &mut impl Motions) {
        self.tells_all = true;
        if let Some(mut d) = self.deferred.take() {
            self.settle(&mut d, stations, motions);
            self.neighbours.list_everyone();
        }
    }
}

#[cfg(test)]
#[path = "telling_tests.rs"]
mod tests;
