//! Reception by signal to interference and noise: all that overlaps with a frame is added up, over the frame's life.

use wayhop_core::{Purpose, Time, draw};

use super::meeting::{HeardFrame, Meeting};
use super::pause::Pause;
use super::transmission::{Arrival, Transmission};
use crate::config::RadioConfig;
use crate::fate::Fate;
use crate::phy::Phy;
use crate::station::{NONE, PhyState};
use crate::units::{db_to_ratio, dbm_to_watts};

pub(crate) struct Sinr {
    noise_watts: f64,
    /// The power that a frame needs to be looked at, W.
    pub(crate) receive_watts: f64,
    carrier_sense_watts: f64,
    capture_ratio: f64,
    seed: u64,
    /// For each station, what is or was on the air since the frame that it is receiving began.
    signals: Vec<Vec<Arrival>>,
    /// Changes of interference during a frame, for reuse.
    changes: Vec<(Time, f64)>,
}

/// Below this ratio of signal to everything else a receiver does not find a preamble: -4 dB, what 1 Mb/s DBPSK with its
/// 11-chip spreading still synchronises on.
const PREAMBLE_RATIO: f64 = 0.4;

impl Sinr {
    pub(crate) fn new(c: &RadioConfig, stations: usize, seed: u64) -> Self {
        // Thermal noise at 290 K is -174 dBm/Hz.
        let noise_dbm = -174.0 + 10.0 * libm::log10(c.bandwidth_mhz * 1e6) + c.noise_figure_db;
        Self {
            noise_watts: dbm_to_watts(noise_dbm),
            receive_watts: dbm_to_watts(c.receive_threshold_dbm),
            carrier_sense_watts: dbm_to_watts(c.carrier_sense_threshold_dbm),
            capture_ratio: db_to_ratio(c.capture_db),
            seed,
            signals: vec![Vec::new(); stations],
            changes: Vec::new(),
        }
    }

    /// A frame begins at a station. Returns whether the station shall look at it, or at the medium, when it ends.
    pub(crate) fn arrive(
        &mut self,
        station: u32,
        phy_state: &mut PhyState,
        a: &Arrival,
        pause: Pause,
    ) -> bool {
        let signals = &mut self.signals[station as usize];
        let since = if phy_state.locked == NONE { a.from } else { phy_state.busy_from.min(a.from) };
        signals.retain(|s| s.until > since || s.slot == phy_state.locked);
        let others: f64 = signals.iter().filter(|s| s.until > a.from).map(|s| s.watts).sum();
        signals.push(*a);

        let sensed = others + a.watts >= self.carrier_sense_watts;
        if sensed {
            pause.apply(phy_state, a.from);
            if phy_state.busy_until <= a.from {
                phy_state.busy_from = a.from;
                phy_state.busy_until = a.until;
            } else {
                phy_state.busy_until = phy_state.busy_until.max(a.until);
            }
        }
        let rest = others + self.noise_watts;
        let understandable = a.watts >= self.receive_watts && phy_state.on_air_until <= a.from;
        let locks = understandable && self.is_found(phy_state, a.watts, rest);
        if locks {
            phy_state.locked = a.slot;
            phy_state.watts = a.watts;
            phy_state.errored = false;
            phy_state.collided = false;
        }
        locks || sensed
    }

    /// Whether a receiver finds a frame's preamble beside the rest, or turns to it.
    fn is_found(&self, phy_state: &PhyState, watts: f64, rest_watts: f64) -> bool {
        if phy_state.locked == NONE {
            watts >= PREAMBLE_RATIO * rest_watts
        } else {
            // The stronger later frame takes the receiver over.
            watts >= self.capture_ratio * rest_watts
        }
    }

    /// What [`Sinr::arrive`] will do.
    pub(crate) fn judge(&self, station: u32, phy_state: &PhyState, a: &Arrival) -> Meeting {
        let others = || self.signals[station as usize].iter().filter(|s| s.until > a.from);
        let rest = others().map(|s| s.watts).sum::<f64>() + self.noise_watts;
        let found = self.is_found(phy_state, a.watts, rest);
        let locked = (phy_state.locked != NONE).then_some(phy_state.locked);
        let is_weak = a.watts < self.receive_watts;
        let sends = phy_state.on_air_until > a.from;
        let strongest = others().max_by(|a, b| a.watts.total_cmp(&b.watts));
        let strongest = strongest.map(|s| HeardFrame { slot: s.slot, sender: s.sender, watts: s.watts });
        let newcomer = match locked {
            _ if is_weak => Some(Fate::TooWeak),
            _ if sends => Some(Fate::Sending),
            _ if found => None,
            Some(_) => Some(Fate::Receiving),
            None if strongest.is_some() => Some(Fate::Collision),
            None => Some(Fate::Noise),
        };
        let earlier = (newcomer.is_none() && locked.is_some()).then_some(Fate::Collision);
        Meeting { newcomer, locked, earlier, strongest }
    }

    /// Whether the frame would come through if there were noise only: by the same draw.
    pub(crate) fn survives_noise(&self, station: u32, t: &Transmission, watts: f64, phy: &Phy) -> bool {
        let bits = f64::from(t.bytes) * 8.0;
        let log_success = phy.log_success(watts / self.noise_watts, t.rate_mbps, bits);
        self.drawn(station, t) < libm::exp(log_success)
    }

    /// The number, from 0 to 1, that decides about a frame at a station.
    fn drawn(&self, station: u32, t: &Transmission) -> f64 {
        let key = [u64::from(t.head.from), u64::from(station), t.number];
        (draw(self.seed, Purpose::FrameError, key) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Whether the frame in `slot` came through, by the product over its life of the chances that each stretch of
    /// constant interference leaves it.
    pub(crate) fn survives(
        &mut self,
        station: u32,
        slot: u32,
        t: &Transmission,
        watts: f64,
        phy: &Phy,
    ) -> bool {
        let signals = &self.signals[station as usize];
        let own = signals.iter().find(|s| s.slot == slot && s.watts == watts);
        let Some(own) = own.copied() else { return false };
        self.changes.clear();
        let mut level = self.noise_watts;
        for s in signals.iter().filter(|s| s.slot != slot || s.from != own.from) {
            if s.until <= own.from || s.from >= own.until {
                continue;
            }
            if s.from <= own.from {
                level += s.watts;
            } else {
                self.changes.push((s.from, s.watts));
            }
            if s.until < own.until {
                self.changes.push((s.until, -s.watts));
            }
        }
        self.changes.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        self.changes.push((own.until, 0.0));

        // The PLCP preamble and header go at the lowest rate, which survives whatever lets the rest survive: only the
        // body counts.
        let body_from = own.from + phy.preamble();
        let body_ns = own.until.since(body_from).as_nanos().max(1) as f64;
        let bits_per_ns = f64::from(t.bytes) * 8.0 / body_ns;
        let mut log_success = 0.0;
        let mut at = own.from;
        for &(until, step) in &self.changes {
            let begin = at.max(body_from);
            if until > begin {
                let bits = until.since(begin).as_nanos() as f64 * bits_per_ns;
                log_success += phy.log_success(watts / level, t.rate_mbps, bits);
            }
            // Rounding may leave a hair less than the noise.
            level = (level + step).max(self.noise_watts);
            at = until;
        }
        self.drawn(station, t) < libm::exp(log_success)
    }
}
