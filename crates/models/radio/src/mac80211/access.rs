//! Access to the medium: when a station may begin to send.

use wayhop_core::{Span, Time};

use crate::host::{Host, Outgoing, RadioEvent};
use crate::medium::Pause;
use crate::radio::{Radio, Times};
use crate::station::{Backoff, PhyState, Sending};

/// Longer than any frame travels: light goes 30 km in it.
const LONGEST_WAY: Span = Span::from_micros(100);

impl Times {
    /// What a carrier does to backoffs.
    pub(crate) fn pause(&self) -> Pause {
        Pause { difs: self.difs, slot_ns: self.slot_ns, cca: self.cca }
    }

    /// When a running backoff ends.
    pub(crate) fn expiry(&self, phy_state: &PhyState) -> Time {
        phy_state.since + self.difs + Span::from_nanos(self.slot_ns * u64::from(phy_state.slots))
    }
}

impl Radio {
    /// A station's MAC is about to look at the medium: brings what the station knows of it up to date.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time, station: u32, host: &mut impl Host) {
        if self.medium.is_deferred() {
            let (medium, mut stations) = self.split();
            medium.catch_up(now, station, &mut stations, host);
        }
    }

    /// A packet becomes the one that the station sends next.
    pub(crate) fn offer(&mut self, now: Time, station: u32, out: Outgoing, host: &mut impl Host) {
        let i = station as usize;
        let rts = self.wants_rts(&out);
        let mac = &mut self.macs[i];
        mac.current = Some(out);
        mac.rts_wanted = rts;
        mac.sequence = mac.sequence.wrapping_add(1);
        if self.rates.is_some() {
            self.begin_rates(now, station);
        }
        if self.phy_states[i].backoff == Backoff::Off {
            self.seek_access(now, station, host);
        }
    }

    /// Lets a station without a backoff have the medium: at once if it is free, else by a backoff.
    pub(crate) fn seek_access(&mut self, now: Time, station: u32, host: &mut impl Host) {
        self.catch_up(now, station, host);
        let i = station as usize;
        if self.config.immediate_access
            && self.phy_states[i].is_idle(now, self.times.cca)
            && self.phy_states[i].busy_until <= now
        {
            self.begin_at_once(now, station, host);
        } else {
            self.start_backoff(now, station, host);
        }
    }

    /// IEEE 802.11 10.3.4.2: a medium that has been idle for DIFS may be used at once.
    fn begin_at_once(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let phy_state = &mut self.phy_states[station as usize];
        let eifs_until = self.macs[station as usize].eifs_until;
        let idle_since = phy_state
            .busy_until
            .min(now)
            .max(phy_state.nav)
            .max(phy_state.on_air_until.min(now))
            .max(eifs_until);
        phy_state.backoff = Backoff::Running;
        phy_state.immediate = true;
        phy_state.slots = 0;
        phy_state.since = idle_since.max(now - self.times.difs);
        self.medium.contend(station);
        self.schedule_backoff(station, host);
    }

    /// Draws a backoff; it counts while the medium is idle.
    pub(crate) fn start_backoff(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let slots = self.draw_slots(station);
        let phy_state = &mut self.phy_states[station as usize];
        debug_assert!(phy_state.backoff == Backoff::Off);
        phy_state.slots = slots;
        phy_state.immediate = false;
        phy_state.backoff = Backoff::Paused;
        self.medium.contend(station);
        self.resume_if_idle(now, station, host);
    }

    /// Lets a paused backoff run again, DIFS after the medium went idle, or after the NAV if that ends later.
    pub(crate) fn resume_if_idle(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let phy_state = &self.phy_states[station as usize];
        if phy_state.backoff != Backoff::Paused || phy_state.sending != Sending::Nothing {
            return;
        }
        if phy_state.busy_until > now {
            // The end of a frame is handled when its last bit leaves the sender. A wait that ends between that and the
            // bit's arrival would find nothing else to resume it (ns-2's `recv_timer` runs at the arrival).
            if phy_state.busy_until.since(now) < LONGEST_WAY {
                host.schedule(phy_state.busy_until, station, RadioEvent::Idle);
            }
            return;
        }
        if phy_state.immediate {
            // Interrupted while it was about to send at once: now it must draw.
            let slots = self.draw_slots(station);
            let phy_state = &mut self.phy_states[station as usize];
            phy_state.slots = slots;
            phy_state.immediate = false;
        }
        let phy_state = &mut self.phy_states[station as usize];
        phy_state.since = now.max(phy_state.nav).max(self.macs[station as usize].eifs_until);
        phy_state.backoff = Backoff::Running;
        self.schedule_backoff(station, host);
    }

    /// Makes sure that an event comes up by the time that the running backoff ends.
    fn schedule_backoff(&mut self, station: u32, host: &mut impl Host) {
        let expiry = self.times.expiry(&self.phy_states[station as usize]);
        let mac = &mut self.macs[station as usize];
        if expiry < mac.backoff_queued {
            mac.backoff_queued = expiry;
            host.schedule(expiry, station, RadioEvent::Backoff);
        }
    }

    pub(crate) fn backoff_event(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &mut self.macs[station as usize];
        if mac.backoff_queued != now {
            // One that was overtaken by an earlier one.
            return;
        }
        mac.backoff_queued = Time::NEVER;
        let phy_state = &mut self.phy_states[station as usize];
        if phy_state.backoff != Backoff::Running {
            // It will be resumed, and scheduled then.
            return;
        }
        if self.times.expiry(phy_state) > now {
            self.schedule_backoff(station, host);
        } else {
            phy_state.backoff = Backoff::Off;
            phy_state.immediate = false;
            self.medium.stop_contending(station);
            self.backoff_over(now, station, host);
        }
    }

    fn backoff_over(&mut self, now: Time, station: u32, host: &mut impl Host) {
        if self.macs[station as usize].answer.is_some() {
            // The answer goes first; what follows it starts a new backoff.
            return;
        }
        if !self.macs[station as usize].beacon_due {
            self.send_current(now, station, host);
        } else if self.phy_states[station as usize].is_idle(now, self.times.cca) {
            self.send_beacon(now, station, host);
        } else {
            self.start_backoff(now, station, host);
        }
    }

    /// At most the largest contention window, 32,767.
    fn draw_slots(&mut self, station: u32) -> u16 {
        let mac = &mut self.macs[station as usize];
        let n = mac.cw + u32::from(self.config.backoff_includes_cw);
        mac.rng.below(u64::from(n)) as u16
    }

    /// Doubles the contention window (10.3.3).
    pub(crate) fn widen(&mut self, station: u32) {
        let mac = &mut self.macs[station as usize];
        mac.cw = (mac.cw * 2 + 1).min(self.config.cw_max);
    }

    pub(crate) fn narrow(&mut self, station: u32) {
        self.macs[station as usize].cw = self.config.cw_min;
    }
}
