//! What the connections of runs carried.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wayhop_trace::{Observer, Summary, TcpEvent};

use super::plan::Mechanism;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Transfer {
    /// Octets that arrived in order, times 8, over the run's length, kb/s.
    pub(crate) kbps: f64,
    pub(crate) resent: u64,
    pub(crate) timeouts: u64,
    /// Notices of a lost route that the sender believed.
    pub(crate) notices: u64,
    pub(crate) probes: u64,
    /// How long the run took on this machine, seconds.
    pub(crate) wall_s: f64,
    /// Bytes acknowledged in each second of the run; empty if they are not drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) acknowledged: Vec<u32>,
}

impl Transfer {
    pub(crate) fn new(summary: &Summary, seen: Seconds, wall_s: f64) -> Self {
        let mut t = Self { wall_s, acknowledged: seen.octets, ..Self::default() };
        if let Some(flow) = summary.flows.first() {
            // Every transfer of the experiment has time.
            t.kbps = flow.goodput_bps.unwrap_or_default() / 1e3;
            if let Some(tcp) = &flow.tcp {
                (t.resent, t.timeouts) = (tcp.retransmissions, tcp.timeouts);
                (t.notices, t.probes) = (tcp.notices, tcp.probes);
            }
        }
        t
    }
}

/// Counts what is acknowledged, second by second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seconds {
    octets: Vec<u32>,
    until: u64,
}

impl Seconds {
    /// For a run of this length, seconds.
    pub(crate) fn new(length_s: f64) -> Self {
        Self { octets: vec![0; length_s.ceil() as usize], until: 0 }
    }
}

impl Observer for Seconds {
    fn tcp(&mut self, e: &TcpEvent) {
        let more = e.acked.saturating_sub(self.until);
        let second = (e.time.as_nanos() / 1_000_000_000) as usize;
        if let Some(octets) = self.octets.get_mut(second).filter(|_| more > 0) {
            *octets += more as u32;
        }
        self.until += more;
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Transfers(BTreeMap<(u64, u32, Mechanism), Transfer>);

impl Transfers {
    pub(crate) fn add(&mut self, pattern: u64, speed_mps: u32, mechanism: Mechanism, transfer: Transfer) {
        self.0.insert((pattern, speed_mps, mechanism), transfer);
    }

    pub(crate) fn of(&self, pattern: u64, speed_mps: u32, mechanism: Mechanism) -> Option<&Transfer> {
        self.0.get(&(pattern, speed_mps, mechanism))
    }

    /// How many there are of a mechanism, and the time that they took one after the other, seconds.
    pub(crate) fn time(&self, mechanism: Mechanism) -> (usize, f64) {
        let of = self.0.iter().filter(|((_, _, m), _)| *m == mechanism);
        of.fold((0, 0.0), |(n, s), (_, t)| (n + 1, s + t.wall_s))
    }
}
