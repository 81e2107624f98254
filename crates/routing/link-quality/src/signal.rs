//! Each neighbour's signal strength, and whether it grows or fades.

use std::net::Ipv4Addr;

use wayhop_core::{Span, Time};

use crate::table::SortedTable;

/// What is known of a neighbour's signal.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Signal {
    /// Mean received power, dBm: each frame moves it by an eighth of the difference.
    pub mean_dbm: f64,
    /// How fast the mean changes, dB/s; taken over stretches of at least a second. 0 until one has passed.
    pub trend_db_per_s: f64,
    /// When the last frame was heard.
    pub heard: Time,
    anchor: Time,
    anchor_dbm: f64,
}

/// The weight of a new frame in the mean.
const GAIN: f64 = 1.0 / 8.0;
/// The shortest stretch over which a trend is taken.
const STRETCH: Span = Span::from_secs(1);
/// The weight of a new stretch in the trend.
const TREND_GAIN: f64 = 0.5;

/// The signals of this node's neighbours.
#[derive(Clone, Debug)]
pub struct Signals {
    rows: SortedTable<Ipv4Addr, Signal>,
}

impl Signals {
    /// A table of at most `capacity` neighbours; a new one then replaces the one silent for longest.
    pub fn new(capacity: usize) -> Self {
        Self { rows: SortedTable::new(capacity) }
    }

    /// A frame of `neighbour` was received at this power in dBm. A power that is no number is not noted.
    pub fn heard(&mut self, neighbour: Ipv4Addr, dbm: f64, now: Time) {
        if !dbm.is_finite() {
            return;
        }
        let fresh = Signal { mean_dbm: dbm, trend_db_per_s: 0.0, heard: now, anchor: now, anchor_dbm: dbm };
        let s = self.rows.touch(neighbour, now, || fresh);
        s.heard = now;
        s.mean_dbm += GAIN * (dbm - s.mean_dbm);
        let stretch = now.since(s.anchor);
        if stretch >= STRETCH {
            let slope = (s.mean_dbm - s.anchor_dbm) / stretch.as_secs_f64();
            s.trend_db_per_s += TREND_GAIN * (slope - s.trend_db_per_s);
            (s.anchor, s.anchor_dbm) = (now, s.mean_dbm);
        }
    }

    /// The signal of a neighbour; `None` if it was never heard or is forgotten.
    pub fn of(&self, neighbour: Ipv4Addr) -> Option<&Signal> {
        self.rows.get(neighbour)
    }
    /// Every neighbour, by address.
    pub fn iter(&self) -> impl Iterator<Item = (Ipv4Addr, &Signal)> {
        self.rows.iter()
    }
}
