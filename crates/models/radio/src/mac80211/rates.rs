//! The rate of a frame.

use wayhop_core::{Span, Time};

use crate::host::Outgoing;
use crate::phy::FrameKind;
use crate::radio::Radio;

impl Radio {
    /// How often sending the present packet's data has failed.
    fn data_failures(&self, station: u32, out: &Outgoing) -> u8 {
        let mac = &self.macs[station as usize];
        if self.is_long(out) { mac.long_retries } else { mac.short_retries }
    }

    /// The rate of the next data frame of the present packet, Mb/s.
    pub(crate) fn data_rate_mbps(&mut self, station: u32, kind: FrameKind) -> f64 {
        let fixed = self.phy.rate_mbps(kind);
        if kind != FrameKind::Data || self.rates.is_none() {
            return fixed;
        }
        let current = self.macs[station as usize].current.as_ref();
        let Some((to, failures)) = current.map(|out| (out.to, self.data_failures(station, out))) else {
            return fixed;
        };
        self.rates.as_mut().map_or(fixed, |r| r.rate_mbps(station, to, failures))
    }

    /// How long an RTS of this rate occupies the air.
    pub(crate) fn rts_airtime(&self, rate_mbps: f64) -> Span {
        self.phy.airtime_at(self.phy.frame_bytes(FrameKind::Rts, 0), rate_mbps)
    }

    /// A packet that will be acknowledged begins.
    pub(crate) fn begin_rates(&mut self, now: Time, station: u32) {
        let current = self.macs[station as usize].current.as_ref();
        let Some(to) = current.filter(|out| self.is_acknowledged(out)).map(|out| out.to) else { return };
        if let Some(rates) = &mut self.rates {
            rates.begin(now, station, to);
        }
    }

    /// The present packet's data frame was acknowledged, or was not. Called before that is counted.
    pub(crate) fn report_rate(&mut self, station: u32, acknowledged: bool) {
        let current = self.macs[station as usize].current.as_ref();
        let Some((to, failures)) = current.map(|out| (out.to, self.data_failures(station, out))) else {
            return;
        };
        if let Some(rates) = &mut self.rates {
            rates.report(station, to, failures, acknowledged);
        }
    }
}
