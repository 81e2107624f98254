//! What one run's connection carried.

use serde::{Deserialize, Serialize};
use wayhop_trace::{Observer, Summary, TcpEvent};

/// One run's result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Transfer {
    /// Octets that arrived in order, times 8, over the run's length, kb/s.
    pub(crate) kbps: f64,
    /// Segments sent again.
    pub(crate) resent: u64,
    /// How often the retransmission timer ran out.
    pub(crate) timeouts: u64,
    /// Notices of a lost route that the sender believed.
    pub(crate) notices: u64,
    /// Segments sent to look for the route.
    pub(crate) probes: u64,
    /// How long the run took on this machine, seconds.
    pub(crate) wall_s: f64,
    /// Bytes acknowledged in each second of the run; empty if they are not drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) acknowledged: Vec<u32>,
}

impl Transfer {
    /// From a run's summary and what was seen of it.
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
