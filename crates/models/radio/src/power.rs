//! A station whose radio is switched off, and on again.
//!
//! Its transmission is truncated. Its receivers find the frame damaged when the whole of it would have been
//! over: a PHY that loses the carrier keeps the medium busy for the length that the frame's header announced
//! (IEEE 802.11, the PLCP's receive procedure). Nobody hears from the station any more, so frames for it are
//! not answered, and their senders retry and give up as usual; what its last frames reserved stays reserved.
//!
//! It comes back like a new station: no backoff, no NAV, no memory of received frames. It neither hears nor
//! senses the frames on the air at that moment, which end within milliseconds. Its sequence numbers and
//! random streams continue: a receiver must not take its first frame for the repetition of an old one.

use wayhop_core::{Time, TxStatus};

use crate::host::Host;
use crate::radio::Radio;
use crate::station::PhyState;

impl Radio {
    /// Switches a station off. The packets in it and in its card come back by [`Host::finished`]. Switching off one that
    /// is off changes nothing.
    pub fn switch_off(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let i = station as usize;
        let (medium, mut stations) = self.split();
        medium.tell_everyone(&mut stations, host);
        self.medium.silence(station, &mut self.phy_states);
        self.medium.forget_fates(station);
        self.sleep(now, station, true, host);
        self.phy_states[i] = PhyState::new();
        if let Some(a) = &mut self.associations {
            a.forget(station);
        }
        let mac = &mut self.macs[i];
        mac.reset(self.config.cw_min);
        let held: Vec<_> =
            mac.current.take().into_iter().chain(mac.card.iter_mut().flat_map(|c| c.empty())).collect();
        self.forget_wish(station);
        for out in held {
            host.finished(now, station, out, TxStatus::NoAck { tries: 0 });
        }
    }

    /// Switches a station on again.
    pub fn switch_on(&mut self, now: Time, station: u32, host: &mut impl Host) {
        self.medium.set_off(station, false);
        self.sleep(now, station, false, host);
    }
}

impl crate::medium::Medium {
    /// A station sends and hears nothing from now on. What it is sending is damaged for all who receive it.
    fn silence(&mut self, station: u32, phy_states: &mut [PhyState]) {
        self.set_off(station, true);
        for (slot, receiver) in self.heard_from(station) {
            let phy_state = &mut phy_states[receiver as usize];
            if phy_state.locked == slot {
                phy_state.errored = true;
            }
        }
    }
    /// What becomes of the frames at a station that is switched off, and of its own.
    fn forget_fates(&mut self, station: u32) {
        let Some(mut watch) = self.watch.take() else { return };
        watch.switched_off(station, |slot| self.is_on_air(slot));
        self.watch = Some(watch);
    }
}
