//! Stations with batteries.

use wayhop_core::Time;

use crate::host::{Host, RadioEvent};
use crate::meter::{EnergyUsed, Meters, Supply};
use crate::radio::Radio;
use crate::units::dbm_to_watts;

impl Radio {
    /// Gives stations batteries: one entry a station. Before the run begins.
    pub fn set_supplies(&mut self, supplies: &[Option<Supply>], host: &mut impl Host) {
        let sensed_watts = dbm_to_watts(self.config.carrier_sense_threshold_dbm);
        self.medium.meters = Some(Box::new(Meters::new(supplies, sensed_watts)));
        self.medium.tell_all();
        self.queue_checks(host);
    }

    /// [`RadioEvent::Battery`] is due: whether the station's battery has just run empty. The host then switches it off.
    pub fn check_battery(&mut self, now: Time, station: u32, host: &mut impl Host) -> bool {
        let is_empty = self.medium.meters.as_mut().is_some_and(|m| m.check(now, station));
        self.queue_checks(host);
        is_empty
    }

    /// What a station with a battery has used by `now`; `None` for others.
    pub fn energy(&self, now: Time, station: u32) -> Option<EnergyUsed> {
        self.medium.meters.as_ref()?.used(now, station)
    }

    pub(crate) fn sleep(&mut self, now: Time, station: u32, is_off: bool, host: &mut impl Host) {
        if let Some(meters) = &mut self.medium.meters {
            meters.set_off(now, station, is_off);
        }
        self.queue_checks(host);
    }

    /// Queues the events that changes of state asked for.
    pub(crate) fn queue_checks(&mut self, host: &mut impl Host) {
        if let Some(meters) = &mut self.medium.meters {
            for (at, station) in meters.checks.drain(..) {
                host.schedule(at, station, RadioEvent::Battery);
            }
        }
    }
}
