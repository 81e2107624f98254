//! How far, and how soon, what happens at a station may matter to others: for hosts that handle what is far apart out of order.

use wayhop_core::{Position, Span, Time};

use crate::host::RadioEvent;
use crate::radio::Radio;
use crate::station::Backoff;

/// The bounds of what happens on account of a packet that stations received. Distances are those between places at the last
/// renewal ([`Radio::renewed_place`]).
#[derive(Copy, Clone, Debug)]
pub struct Bounds {
    /// Stations that decode a frame are within this distance of its sender, metres.
    pub decoded_m: f64,
    /// Stations that notice a frame are within this distance of its sender, metres.
    pub sensed_m: f64,
    /// No station sends anything on account of a packet sooner than this after the packet reached its network layer.
    pub idle: Span,
    /// No frame is shorter.
    pub shortest_airtime: Span,
}

impl Radio {
    /// The bounds of what happens on account of a packet.
    pub fn bounds(&self) -> Bounds {
        let (decoded_m, sensed_m) = self.medium.neighbours.reach_m();
        // The medium was busy until the frame ended, and must be idle for a DIFS.
        let link_delay = Span::from_micros(u64::from(self.config.link_delay_us));
        let idle = self.times.difs.saturating_sub(link_delay);
        let shortest_airtime = self.phy.shortest_airtime(self.rates.is_some());
        Bounds { decoded_m, sensed_m, idle, shortest_airtime }
    }

    /// Whether an event that was scheduled changes other stations than its own: a frame begins or ends.
    pub fn changes_others(&self, now: Time, station: u32, event: RadioEvent) -> bool {
        let i = station as usize;
        match event {
            RadioEvent::Backoff => {
                let state = &self.phy_states[i];
                self.macs[i].backoff_queued == now
                    && state.backoff == Backoff::Running
                    && self.times.expiry(state) <= now
            }
            RadioEvent::Idle | RadioEvent::Timeout | RadioEvent::Loaded => false,
            _ => true,
        }
    }

    /// Whether the next frame, at `now`, has all places renewed.
    pub fn renews_places(&self, now: Time) -> bool {
        self.medium.neighbours.is_due(now)
    }

    /// Where a station was at the last renewal.
    #[inline]
    pub fn renewed_place(&self, station: u32) -> Position {
        self.medium.neighbours.place(station)
    }

    /// Events may come that are as early as this one, even after later ones: [`Time::NEVER`] if all come in order.
    pub fn expect_from(&mut self, earliest: Time) {
        self.medium.expect_from(earliest);
    }
}
