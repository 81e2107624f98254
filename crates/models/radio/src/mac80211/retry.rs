//! What happens when no answer comes.

use wayhop_core::{Time, TxStatus};

use crate::host::{EVERYONE, Host};
use crate::radio::Radio;
use crate::station::{Backoff, Sending};

impl Radio {
    /// The wait for an answer, or a transmission that expects none, is over (ns-2's `send_timer`).
    pub(crate) fn timed_out(&mut self, now: Time, station: u32, host: &mut impl Host) {
        self.catch_up(now, station, host);
        let i = station as usize;
        match self.phy_states[i].sending {
            Sending::Rts => self.rts_failed(now, station, host),
            Sending::Data => self.data_over(now, station, host),
            Sending::Cts | Sending::Ack => self.macs[i].answer = None,
            // A packet that came meanwhile has its backoff already.
            Sending::Beacon if self.phy_states[i].backoff != Backoff::Off => {}
            Sending::Beacon => self.start_backoff(now, station, host),
            Sending::Nothing => {}
        }
        self.go_on(now, station, host);
    }

    /// No CTS (10.3.4.4).
    fn rts_failed(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &mut self.macs[station as usize];
        mac.short_retries += 1;
        if mac.short_retries >= self.config.short_retry_limit {
            mac.short_retries = 0;
            self.give_up(now, station, host);
        } else {
            self.widen(station);
            self.start_backoff(now, station, host);
        }
    }

    /// No ACK, or none expected.
    fn data_over(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let i = station as usize;
        let out = self.macs[i].current.as_ref().expect("data was sent");
        if out.to == EVERYONE || !self.config.acknowledge {
            self.narrow(station);
            self.start_backoff(now, station, host);
            self.finish(now, station, TxStatus::Unknown, host);
            return;
        }
        let (long, rts) = (self.is_long(out), self.wants_rts(out));
        if self.rates.is_some() {
            self.report_rate(station, false);
        }
        let mac = &mut self.macs[i];
        let (count, limit) = if long {
            (&mut mac.long_retries, self.config.long_retry_limit)
        } else {
            (&mut mac.short_retries, self.config.short_retry_limit)
        };
        *count += 1;
        if *count >= limit {
            *count = 0;
            self.give_up(now, station, host);
        } else {
            mac.rts_wanted = rts;
            self.widen(station);
            self.start_backoff(now, station, host);
        }
    }

    fn give_up(&mut self, now: Time, station: u32, host: &mut impl Host) {
        let mac = &mut self.macs[station as usize];
        mac.rts_wanted = false;
        mac.counters.failures += 1;
        let tries = mac.tries;
        self.narrow(station);
        self.finish(now, station, TxStatus::NoAck { tries }, host);
    }
}
