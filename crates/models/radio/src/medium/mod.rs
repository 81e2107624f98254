//! Who hears a transmission, and what overlapping ones do to each other.
//!
//! A transmission costs two events, however many stations hear it: at its first bit stations in range are
//! told when, by their own distance, the frame begins and ends there; at its last bit those that were receiving
//! it find out how it went. Those that only sense it are told when they need to know, where the reception model
//! allows it ([`deferred`]). Stations are told up to 2 us ahead of their own time (550 m at the speed of
//! light). Nothing they do in that time can be heard before a SIFS (10 us) has passed, and
//! [`crate::station::PhyState::is_idle`] knows a carrier that has not begun.

mod cells;
mod deferred;
mod layout;
mod legs;
mod meeting;
mod neighbours;
mod overrides;
mod pause;
mod reach;
mod sinr;
mod stations;
mod telling;
mod threshold;
mod transmission;
mod watch;
mod watching;

use wayhop_core::{Span, Time};

use crate::config::{RadioConfig, Reception};
use crate::host::Motions;
use crate::meter::Meters;
use crate::phy::{FrameKind, Phy};
use crate::propagation::Propagation;
use crate::site::{End, Site};
use crate::station::{NONE, PhyState};
use crate::units::dbm_to_watts;
use deferred::Deferred;
use legs::Legs;
use neighbours::Neighbours;
pub use overrides::LinkOverride;
use overrides::{Overrides, Powers};
pub(crate) use pause::Pause;
use reach::Reach;
use sinr::Sinr;
pub(crate) use stations::Stations;
use threshold::Threshold;
use transmission::{Arrival, Audible, Start};
pub(crate) use transmission::{Receiver, Transmission};
pub use watch::Watching;
pub(crate) use watch::{AtStation, FateRecord, FrameInfo};

pub(crate) struct Medium {
    propagation: Propagation,
    site: Option<Box<Site>>,
    /// Links changed by hand; none in most runs.
    pub(crate) overrides: Option<Box<Overrides>>,
    /// By station, whether it is switched off; `None` while none ever was.
    off: Option<Box<[bool]>>,
    /// Of stations with batteries; `None` where none has one.
    pub(crate) meters: Option<Box<Meters>>,
    /// What becomes of frames, where somebody asks for it.
    pub(crate) watch: Option<Box<FateRecord>>,
    /// Weaker signals are not computed any further.
    reach: Reach,
    /// Before antennas.
    transmitter_watts: f64,
    /// The power of a jammer as a ratio to the radio's; 1 for frames.
    pub(crate) gain: f64,
    /// Whom the transmission that begins now reaches, for reuse.
    audible: Vec<Audible>,
    legs: Legs,
    pub(crate) neighbours: Neighbours,
    /// Transmissions that some stations have not been notified of; `None` where all are told at once.
    deferred: Option<Box<Deferred>>,
    /// All are to be told at once.
    tells_all: bool,
    slots: Vec<Option<Transmission>>,
    free: Vec<u32>,
    spare: Vec<Vec<Receiver>>,
    model: Model,
}

/// A link that is up by order is as good as over this distance, metres.
const NEAR_M: f64 = 50.0;

enum Model {
    Threshold(Threshold),
    Sinr(Sinr),
}

impl Medium {
    pub(crate) fn new(c: &RadioConfig, phy: &Phy, stations: usize, seed: u64) -> Self {
        let propagation = Propagation::new(c, seed);
        let (floor_watts, model) = match c.reception {
            Reception::Threshold => {
                let t = Threshold::new(c, phy);
                (dbm_to_watts(c.carrier_sense_threshold_dbm), Model::Threshold(t))
            }
            Reception::Sinr => {
                (dbm_to_watts(c.interference_floor_dbm), Model::Sinr(Sinr::new(c, stations, seed)))
            }
        };
        let site = c.site.as_deref().map(|s| Box::new(Site::new(s, c, stations, seed)));
        let margin_db = propagation.random_margin_db() + site.as_ref().map_or(0.0, |s| s.margin_db());
        let range_m = propagation.range_m(floor_watts, margin_db);
        let mut neighbours = Neighbours::new(stations, range_m);
        let mut deferred = None;
        if let Model::Threshold(m) = &model
            && site.is_none()
            && !propagation.is_random()
        {
            let watts = m.receive_watts.max(floor_watts);
            // A hair more, for rounding.
            let decoded_m = propagation.range_m(watts, 0.0) * 1.000_001;
            neighbours.list_within(decoded_m);
            let decoded = Reach::new(watts, decoded_m);
            let (eifs, difs) = m.eifs_and_difs();
            deferred = Some(Box::new(Deferred::new(decoded, range_m, eifs, difs)));
        }
        Self {
            neighbours,
            deferred,
            tells_all: false,
            overrides: None,
            off: None,
            meters: None,
            watch: None,
            propagation,
            transmitter_watts: dbm_to_watts(c.tx_power_dbm),
            site,
            reach: Reach::new(floor_watts, range_m),
            gain: 1.0,
            audible: Vec::new(),
            legs: Legs::new(stations),
            slots: Vec::new(),
            free: Vec::new(),
            spare: Vec::new(),
            model,
        }
    }

    /// Puts a frame on the air at `now` for `airtime` and tells those in range who have to know. Returns its slot.
    pub(crate) fn start(
        &mut self,
        now: Time,
        airtime: Span,
        mut t: Transmission,
        stations: &mut Stations<'_>,
        motions: &mut impl Motions,
    ) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        let sender = t.head.from;
        self.renew(now, stations, motions);
        let here = self.legs.place(sender, now, motions);
        let mut receivers = self.spare.pop().unwrap_or_default();
        let s = Start { now, airtime, sender, here, slot, t: &t };
        let kept = if self.is_deferred() {
            self.start_deferred(&s, &mut receivers, stations, motions)
        } else {
            self.start_told(&s, &mut receivers, stations, motions);
            NONE
        };
        t.kept = kept;
        t.receivers = receivers;
        self.slots[slot as usize] = Some(t);
        slot
    }

    /// Tells everyone in range of a transmission.
    fn start_told(
        &mut self,
        s: &Start<'_>,
        receivers: &mut Vec<Receiver>,
        stations: &mut Stations<'_>,
        motions: &mut impl Motions,
    ) {
        let Start { now, airtime, sender, t, .. } = *s;
        if self.site.is_none() {
            let (near, legs) = (self.neighbours.near(sender), &mut self.legs);
            audible_among(near, s, self.reach, &self.propagation, legs, &mut self.audible, motions);
        } else {
            self.find_audible_on_site(s, motions);
        }
        if let Some(overrides) = &self.overrides {
            overrides.apply(sender, t.number, &mut self.audible);
        }
        if t.head.kind == FrameKind::Noise {
            self.weaken();
        }
        if let Some(off) = &self.off {
            self.audible.retain(|a| !off[a.station as usize]);
        }
        if let Some(about) = t.about {
            self.watch_start(s, about, stations.phy_states, motions);
        }
        self.tell(s, 0, receivers, stations);
        if let Some(meters) = &mut self.meters {
            meters.send(now, sender, now + airtime);
            let sensed_watts = meters.sensed_watts;
            for a in self.audible.iter().filter(|a| a.watts >= sensed_watts) {
                let from = now + Span::from_nanos(u64::from(a.delay_ns));
                meters.hear(now, a.station, from, from + airtime);
            }
        }
    }

    /// Tells the audible stations of a transmission. `told` is the number of the next one.
    fn tell(&mut self, s: &Start<'_>, told: u32, receivers: &mut Vec<Receiver>, stations: &mut Stations<'_>) {
        let (airtime, pause, audible) = (s.airtime, stations.pause, &self.audible);
        let states = &mut *stations.phy_states;
        // A loop for each model: which one it is does not change on the way.
        match &mut self.model {
            Model::Threshold(m) => {
                tell_each(audible, s, told, states, receivers, |_, p, a| m.arrive(p, a, airtime, pause));
            }
            Model::Sinr(m) => {
                tell_each(audible, s, told, states, receivers, |station, p, a| {
                    m.arrive(station, p, a, pause)
                });
            }
        }
    }

    /// As [`audible_among`], of the stations in range, with what the site does. Apart, so that runs without a site pay nothing
    /// for it.
    fn find_audible_on_site(&mut self, s: &Start<'_>, motions: &mut impl Motions) {
        self.audible.clear();
        let Some(site) = &self.site else { return };
        let Start { now, sender, here, t, .. } = *s;
        let from = End { station: sender, at: here };
        for &station in self.neighbours.near(sender) {
            let there = self.legs.place(station, now, motions);
            let d2 = there.distance_squared(here);
            if !self.reach.includes(d2) {
                continue;
            }
            let to = End { station, at: there };
            let mut watts = site.watts(&self.propagation, now, from, to, d2);
            if self.propagation.is_random() {
                watts *= self.propagation.random_gain(sender, station, t.number);
            }
            self.audible.extend(self.reach.heard(station, d2, watts));
        }
    }

    #[cold]
    fn weaken(&mut self) {
        let (gain, floor) = (self.gain, self.reach.floor_watts);
        self.audible.iter_mut().for_each(|a| a.watts *= gain);
        self.audible.retain(|a| a.watts >= floor);
    }
    /// How long the last transmission takes to a station, if that senses it.
    pub(crate) fn delay_to(&self, station: u32) -> Option<Span> {
        let heard = self.audible.iter().find(|a| a.station == station)?;
        Some(Span::from_nanos(u64::from(heard.delay_ns)))
    }
    pub(crate) fn is_off(&self, station: u32) -> bool {
        self.off.as_ref().is_some_and(|off| off[station as usize])
    }

    /// Overrides a link one way, or leaves it to the model again.
    pub(crate) fn set_link(&mut self, seed: u64, from: u32, to: u32, state: Option<LinkOverride>) {
        let powers = Powers {
            up: self.propagation.mean_watts(NEAR_M * NEAR_M),
            transmitter: self.transmitter_watts,
            floor: self.reach.floor_watts,
        };
        self.tell_all();
        self.overrides.get_or_insert_with(|| Box::new(Overrides::new(seed, powers))).set(from, to, state);
    }
    /// Whether a station hears anything.
    pub(crate) fn set_off(&mut self, station: u32, is_off: bool) {
        let stations = self.legs.len();
        let off = self.off.get_or_insert_with(|| vec![false; stations].into());
        off[station as usize] = is_off;
    }
    /// What a station is sending: each transmission's slot with each of those who will look at it when it ends.
    pub(crate) fn heard_from(&self, sender: u32) -> impl Iterator<Item = (u32, u32)> {
        let slots = self.slots.iter().enumerate();
        let own = slots.filter_map(move |(k, t)| Some((k, t.as_ref().filter(|t| t.head.from == sender)?)));
        own.flat_map(|(k, t)| t.receivers.iter().map(move |r| (k as u32, r.station)))
    }
    /// Events may come that are as early as this one, even after later ones.
    pub(crate) fn expect_from(&mut self, earliest: Time) {
        if let Some(d) = &mut self.deferred {
            d.earliest = earliest;
        }
    }
    /// Stations are not where their legs said: queries all positions again.
    pub(crate) fn forget_places(&mut self) {
        self.neighbours.forget();
    }

    pub(crate) fn is_on_air(&self, slot: usize) -> bool {
        self.slots.get(slot).is_some_and(Option::is_some)
    }

    /// Takes a transmission whose last bit was sent.
    pub(crate) fn take(&mut self, slot: u32) -> Transmission {
        let t = self.slots[slot as usize].take().expect("a transmission ends once");
        if let Some(d) = &mut self.deferred {
            d.end(t.kept);
        }
        t
    }

    /// Returns its memory, and its slot for reuse.
    pub(crate) fn give_back(&mut self, slot: u32, t: Transmission) {
        let mut receivers = t.receivers;
        receivers.clear();
        self.spare.push(receivers);
        self.free.push(slot);
    }

    /// Whether the frame that `station` was receiving came through noise and interference.
    pub(crate) fn survives(
        &mut self,
        station: u32,
        slot: u32,
        t: &Transmission,
        watts: f64,
        phy: &Phy,
    ) -> bool {
        match &mut self.model {
            Model::Threshold(_) => true,
            Model::Sinr(m) => m.survives(station, slot, t, watts, phy),
        }
    }
}

/// Has a frame begin at each of some stations. `arrive` returns whether the station shall look at it, or at the medium, when it
/// ends.
#[inline]
fn tell_each(
    audible: &[Audible],
    s: &Start<'_>,
    told: u32,
    phy_states: &mut [PhyState],
    receivers: &mut Vec<Receiver>,
    mut arrive: impl FnMut(u32, &mut PhyState, &Arrival) -> bool,
) {
    for &Audible { station, delay_ns, watts } in audible {
        let from = s.now + Span::from_nanos(u64::from(delay_ns));
        let arrival = Arrival { slot: s.slot, sender: s.sender, from, until: from + s.airtime, watts };
        let phy_state = &mut phy_states[station as usize];
        phy_state.told = told;
        if arrive(station, phy_state, &arrival) {
            receivers.push(Receiver { station, delay_ns });
        }
    }
}

/// Fills `audible` with those of some stations that a transmission reaches. A loop of its own, so that the processor fetches the
/// next stations' places while it computes with these.
fn audible_among(
    stations: &[u32],
    s: &Start<'_>,
    reach: Reach,
    propagation: &Propagation,
    legs: &mut Legs,
    audible: &mut Vec<Audible>,
    motions: &mut impl Motions,
) {
    audible.clear();
    let random = propagation.is_random();
    for &station in stations {
        let d2 = legs.place(station, s.now, motions).distance_squared(s.here);
        if !reach.includes(d2) {
            continue;
        }
        let mut watts = propagation.mean_watts(d2);
        if random {
            watts *= propagation.random_gain(s.sender, station, s.t.number);
        }
        if let Some(a) = reach.heard(station, d2, watts) {
            audible.push(a);
        }
    }
}
