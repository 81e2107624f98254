//! Beacons on the air, and stations that are not associated.

use wayhop_core::Time;

use crate::fate::Fate;
use crate::host::{EVERYONE, FrameAt, FrameHead, Host, RadioEvent};
use crate::phy::FrameKind;
use crate::radio::Radio;
use crate::station::{Backoff, Sending};

impl Radio {
    /// The run begins: the access point has its first beacon due.
    pub fn begin(&mut self, now: Time, host: &mut impl Host) {
        if let Some(a) = &self.associations {
            host.schedule(now, a.access_point, RadioEvent::Beacon);
        }
    }

    /// Whether a station is associated, or is the access point; without one, always.
    pub fn is_associated(&self, now: Time, station: u32) -> bool {
        self.associations.as_ref().is_none_or(|a| a.is_in(now, station))
    }

    /// Whether the network takes a packet at all.
    pub(crate) fn may_send(&self, now: Time, from: u32, to: u32) -> bool {
        self.associations.as_ref().is_none_or(|a| a.may_send(now, from, to))
    }

    /// A beacon is due: it goes when the station next has the medium, ahead of the packet that waits.
    pub(crate) fn beacon_event(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let Some(a) = &self.associations else { return };
        host.schedule(now + a.interval, station, RadioEvent::Beacon);
        if self.medium.is_off(station) {
            return;
        }
        self.macs[station as usize].beacon_due = true;
        let phy_state = &self.phy_states[station as usize];
        let is_free = phy_state.backoff == Backoff::Off && phy_state.sending == Sending::Nothing;
        if is_free && self.macs[station as usize].answer.is_none() {
            self.seek_access(now, station, host);
        }
    }

    /// The medium is the access point's: sends its beacon.
    pub(crate) fn send_beacon(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &mut self.macs[station as usize];
        mac.beacon_due = false;
        mac.sequence = mac.sequence.wrapping_add(1);
        let rate = self.phy.rate_mbps(FrameKind::Beacon);
        let head = FrameHead::new(FrameKind::Beacon, station, EVERYONE, rate);
        let head = FrameHead { sequence: mac.sequence, ..head };
        let wait = self.phy.airtime(FrameKind::Beacon, 0);
        self.set_sending(now, station, Sending::Beacon, host);
        self.transmit(now, head, 0, wait, host);
    }

    pub(crate) fn accept_beacon(&mut self, f: &FrameAt<'_>) {
        if let Some(a) = &mut self.associations {
            a.hear(f.at, f.station, f.watts);
        }
    }

    /// Whether a station ignores a data frame because it, or its sender, does not take part in the network.
    pub(crate) fn is_stranger(&self, f: &FrameAt<'_>) -> Option<Fate> {
        let is_in = |s| self.is_associated(f.at, s);
        (f.head.kind.is_data() && !(is_in(f.station) && is_in(f.head.from))).then_some(Fate::Refused)
    }
}
