//! ns-2's reception rules (`mac/wireless-phy.cc`, `Mac802_11::recv`): thresholds, and capture by the earlier frame.

use wayhop_core::Span;

use super::meeting::Meeting;
use super::pause::Pause;
use super::transmission::Arrival;
use crate::config::RadioConfig;
use crate::fate::Fate;
use crate::phy::Phy;
use crate::station::{NONE, PhyState};
use crate::units::{db_to_ratio, dbm_to_watts};

pub(crate) struct Threshold {
    /// The power that a frame needs to be understood, W.
    pub(crate) receive_watts: f64,
    capture_ratio: f64,
    eifs: Span,
    difs: Span,
}

impl Threshold {
    pub(crate) fn new(c: &RadioConfig, phy: &Phy) -> Self {
        let sifs = Span::from_micros(u64::from(c.sifs_us));
        let difs = sifs + Span::from_micros(u64::from(c.slot_us)) * 2;
        Self {
            receive_watts: dbm_to_watts(c.receive_threshold_dbm),
            capture_ratio: db_to_ratio(c.capture_db),
            eifs: phy.eifs(sifs, difs),
            difs,
        }
    }

    /// For how long a damaged frame keeps a station from sending, and how long the medium has to be idle before one does.
    pub(crate) fn eifs_and_difs(&self) -> (Span, Span) {
        (self.eifs, self.difs)
    }

    /// Whether a station that receives a frame of so much power is not disturbed by another one.
    #[inline]
    fn ignores(&self, phy_state: &PhyState, watts: f64) -> bool {
        phy_state.watts >= self.capture_ratio * watts
    }

    /// What [`Threshold::arrive`] will do.
    pub(crate) fn judge(&self, phy_state: &PhyState, a: &Arrival) -> Meeting {
        let sends = (phy_state.on_air_until > a.from).then_some(Fate::Sending);
        if phy_state.locked == NONE {
            return Meeting { newcomer: sends, ..Meeting::default() };
        }
        let ignored = self.ignores(phy_state, a.watts);
        let newcomer = sends.or(Some(if ignored { Fate::Receiving } else { Fate::Collision }));
        let earlier = (!ignored).then_some(Fate::Collision);
        Meeting { newcomer, locked: Some(phy_state.locked), earlier, strongest: None }
    }

    /// A frame strong enough to be sensed begins at a station. Returns whether the station shall look at it when it ends.
    #[inline]
    pub(crate) fn arrive(&self, phy_state: &mut PhyState, a: &Arrival, airtime: Span, pause: Pause) -> bool {
        let errored = a.watts < self.receive_watts || phy_state.on_air_until > a.from;
        if phy_state.locked == NONE {
            // An idle receiver locks on the first audible frame, even one too weak to understand.
            pause.apply(phy_state, a.from);
            phy_state.locked = a.slot;
            phy_state.watts = a.watts;
            phy_state.errored = errored;
            phy_state.collided = false;
            phy_state.busy_from = a.from;
            phy_state.busy_until = a.until;
            true
        } else if self.ignores(phy_state, a.watts) {
            // The new frame does not disturb; ns-2 takes the medium for busy until it is over.
            phy_state.nav = phy_state.nav.max(a.from + self.eifs + airtime);
            false
        } else {
            // Both are lost. The one that lasts longer is followed to its end.
            phy_state.collided = true;
            if a.until > phy_state.busy_until {
                phy_state.locked = a.slot;
                phy_state.watts = a.watts;
                phy_state.errored = errored;
                phy_state.busy_until = a.until;
                true
            } else {
                false
            }
        }
    }
}
