//! What transmissions change of the stations.

use wayhop_core::{Span, Time};

use super::pause::Pause;
use crate::macs::Macs;
use crate::station::{NONE, PhyState};

/// All stations, as far as transmissions change them.
pub(crate) struct Stations<'a> {
    pub(crate) phy_states: &'a mut [PhyState],
    pub(crate) macs: &'a mut Macs,
    pub(crate) pause: Pause,
    pub(crate) eifs: Span,
    /// A damaged frame puts off the DIFS, and does not count as a reservation.
    pub(crate) eifs_replaces_difs: bool,
}

impl Stations<'_> {
    /// A station has heard the end of a frame that it did not understand.
    #[inline]
    pub(crate) fn wait_eifs(&mut self, at: Time, station: u32) {
        let i = station as usize;
        if self.eifs_replaces_difs {
            self.macs[i].eifs_until = at + (self.eifs - self.pause.difs);
        } else {
            let phy_state = &mut self.phy_states[i];
            phy_state.nav = phy_state.nav.max(at + self.eifs);
        }
    }

    /// The end of a frame that is not for a station, and that no other frame met there. Understood, it reserves the medium for
    /// so long. As `Radio::heard`, of a frame that the station's host has no use for.
    #[inline]
    pub(super) fn end_alone(&mut self, at: Time, station: u32, reserved: Span) {
        let i = station as usize;
        let phy_state = &mut self.phy_states[i];
        phy_state.locked = NONE;
        if phy_state.on_air_until > at {
            // Its own transmitter drowned the frame: it never knew of it.
            return;
        }
        if phy_state.errored {
            return self.wait_eifs(at, station);
        }
        phy_state.nav = phy_state.nav.max(at + reserved);
        if self.eifs_replaces_difs && self.macs[i].eifs_until != Time::ZERO {
            self.macs[i].eifs_until = Time::ZERO;
        }
    }
}
