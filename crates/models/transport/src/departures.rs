//! Counting the packets that a flow has sent.

use wayhop_core::{Span, Time};

use crate::{FlowConfig, FlowKind};

/// The packets that left a flow's source, counted by its host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departures {
    packets: u64,
    last: Option<Time>,
}

impl Departures {
    /// Counts a packet that leaves at `now`. Returns its number in the flow.
    pub fn count(&mut self, now: Time) -> u32 {
        self.packets += 1;
        self.last = Some(now);
        (self.packets - 1) as u32
    }

    /// How many packets have left.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// How long the flow was active, if the run ends at `end`: from its start to its stop or to the end of the run. A flow
    /// that sent all of its packets was active until one mean interval after the last of them.
    pub fn active_time(&self, config: &FlowConfig, end: Time) -> Span {
        let mut until = config.stop.map_or(end, |stop| stop.min(end));
        let is_exhausted = config.max_packets.is_some_and(|n| self.packets >= n);
        if let Some(last) = self.last.filter(|_| is_exhausted || is_played(config, end)) {
            until = until.min(last + config.kind.mean_interval());
        }
        until.since(config.start)
    }
}

/// Whether the last packet of a schedule was due by `end`.
fn is_played(config: &FlowConfig, end: Time) -> bool {
    let FlowKind::Trace(schedule) = &config.kind else { return false };
    schedule.packets().last().is_some_and(|last| {
        let due = config.start + last.after;
        due <= end && config.stop.is_none_or(|stop| due < stop)
    })
}
