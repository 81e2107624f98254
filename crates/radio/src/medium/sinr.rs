//! Reception by signal to interference and noise: all that overlaps with a frame is added up, over the frame's life.

use wayhop_core::{Purpose, Time, draw};

use super::pause::Pause;
use super::transmission::{Arrival, Transmission};
use crate::config::RadioConfig;
use crate::phy::Phy;
use crate::station::{NONE, PhyState};
use crate::units::{db_to_ratio, dbm_to_watts};

pub(crate) struct Sinr {
    noise_watts: f64,
    receive_watts: f64,
    carrier_sense_watts: f64,
    capture_ratio: f64,
    seed: u64,
    /// For each station, what is or was on the air since the frame that it is receiving began.
    signals: Vec<Vec<Signal>>,
    /// Changes of interference during a frame, for reuse.
    changes: Vec<(Time, f64)>,
}

#[derive(Copy, Clone, Debug)]
struct Signal {
    slot: u32,
    from: Time,
    until: Time,
    watts: f64,
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
        signals.push(Signal { slot: a.slot, from: a.from, until: a.until, watts: a.watts });

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
        let locks = understandable
            && if phy_state.locked == NONE {
                a.watts >= PREAMBLE_RATIO * rest
            } else {
                // The stronger later frame takes the receiver over.
                a.watts >= self.capture_ratio * rest
            };
        if locks {
            phy_state.locked = a.slot;
            phy_state.watts = a.watts;
            phy_state.errored = false;
            phy_state.collided = false;
        }
        locks || sensed
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
        let u = (draw(self.seed, Purpose::FrameError, [u64::from(t.head.from), u64::from(station), t.number])
            >> 11) as f64
            / (1u64 << 53) as f64;
        u < libm::exp(log_success)
    }
}
