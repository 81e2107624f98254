//! Which stations should receive a frame, and what prevents it from the start.

use wayhop_core::Span;

use super::transmission::{Arrival, Start, Transmission};
use super::watch::{AtStation, FateRecord, FrameInfo};
use super::{Medium, Model};
use crate::fate::Fate;
use crate::host::{EVERYONE, Motions, NOBODY};
use crate::phy::{FrameKind, Phy};
use crate::site::End;
use crate::station::PhyState;

impl Medium {
    /// The power that a frame needs to be understood, W.
    pub(crate) fn needed_watts(&self) -> f64 {
        let needed = match &self.model {
            Model::Threshold(m) => m.receive_watts,
            Model::Sinr(m) => m.receive_watts,
        };
        needed.max(self.reach.floor_watts)
    }

    /// A frame goes on the air: `audible` has those whom it reaches. Called before they are told.
    #[cold]
    pub(super) fn watch_start(
        &mut self,
        s: &Start<'_>,
        about: FrameInfo,
        phy_states: &[PhyState],
        motions: &mut impl Motions,
    ) {
        let Some(mut watch) = self.watch.take() else { return };
        let (slot, sender) = (s.slot, s.sender);
        watch.begin(slot, about, s.now);
        self.add_receivers(s, &about, &mut watch, motions);
        for a in &self.audible {
            if !watch.is_watched_at(a.station) {
                continue;
            }
            let from = s.now + Span::from_nanos(u64::from(a.delay_ns));
            let arrival = Arrival { slot, sender, from, until: from + s.airtime, watts: a.watts };
            let phy_state = &phy_states[a.station as usize];
            let meeting = match &self.model {
                Model::Threshold(m) => m.judge(phy_state, &arrival),
                Model::Sinr(m) => m.judge(a.station, phy_state, &arrival),
            };
            watch.meet(slot, a.station, a.watts, &meeting);
        }
        self.watch = Some(watch);
    }

    fn add_receivers(
        &mut self,
        s: &Start<'_>,
        about: &FrameInfo,
        watch: &mut FateRecord,
        motions: &mut impl Motions,
    ) {
        if s.t.head.kind == FrameKind::Noise {
            // A jammer's, meant for nobody.
            return;
        }
        let (sender, to, needed) = (s.sender, s.t.head.to, self.needed_watts());
        if to == NOBODY && about.everywhere {
            watch.add(s.slot, AtStation::lost(to, Fate::NoStation));
        }
        if to != EVERYONE && to != NOBODY {
            let is_meant = watch.wants(about, to);
            if is_meant || watch.who.listeners[to as usize] {
                let entry = self.entry(s, to, is_meant, motions);
                watch.add(s.slot, entry);
            }
        }
        if to != EVERYONE && !watch.has_listeners {
            return;
        }
        for i in 0..self.neighbours.near(sender).len() {
            let station = self.neighbours.near(sender)[i];
            let is_meant = to == EVERYONE && watch.wants(about, station);
            if station != to && (is_meant || watch.who.listeners[station as usize]) {
                let entry = self.entry(s, station, is_meant, motions);
                // Those out of range are not meant.
                if entry.mean_watts >= needed || entry.watts >= needed {
                    watch.add(s.slot, entry);
                }
            }
        }
    }

    fn entry(
        &mut self,
        s: &Start<'_>,
        station: u32,
        is_meant: bool,
        motions: &mut impl Motions,
    ) -> AtStation {
        let Start { now, here, t, .. } = *s;
        let there = self.legs.place(station, now, motions);
        let d2 = there.distance_squared(here);
        let mean_watts = match &self.site {
            None => self.propagation.mean_watts(d2),
            Some(site) => {
                let from = End { station: t.head.from, at: here };
                site.watts(&self.propagation, now, from, End { station, at: there }, d2)
            }
        };
        let mut watts = mean_watts;
        if self.propagation.is_random() {
            watts *= self.propagation.random_gain(t.head.from, station, t.number);
        }
        let mut entry = AtStation::new(station, watts, mean_watts, is_meant);
        let needed = self.needed_watts();
        let weak = if mean_watts >= needed { Fate::Faded } else { Fate::TooWeak };
        let by_order = self.overrides.as_ref().is_some_and(|o| o.has(t.head.from, station));
        match self.audible.iter().find(|a| a.station == station) {
            Some(a) => {
                entry.is_audible = true;
                entry.watts = a.watts;
                entry.delay_ns = a.delay_ns;
                entry.fate = (a.watts < needed).then_some(weak);
            }
            None if self.off.as_ref().is_some_and(|off| off[station as usize]) => {
                entry.fate = Some(Fate::NodeDown);
            }
            None if by_order && watts >= self.reach.floor_watts => entry.fate = Some(Fate::Link),
            None => entry.fate = Some(weak),
        }
        entry
    }

    /// How the reception of a frame that did not come through noise and interference failed.
    #[cold]
    pub(crate) fn why_lost(&self, station: u32, t: &Transmission, watts: f64, phy: &Phy) -> Fate {
        match &self.model {
            Model::Sinr(m) if !m.survives_noise(station, t, watts, phy) => Fate::Noise,
            _ => Fate::Collision,
        }
    }
}
