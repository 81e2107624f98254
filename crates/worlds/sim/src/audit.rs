//! The conservation of packets: at the end of a run each one is delivered, dropped with a reason, or found somewhere.

use core::fmt::Display;

use wayhop_core::{FlowTag, Inspect, Packet};

use crate::ledger::PacketEndings;

/// What an audit found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// How the data packets ended.
    pub ends: PacketEndings,
    /// What each flow's own ends counted: sent, and received.
    pub counted: Vec<(u64, u64)>,
    /// Packets go through hosts on their way, which may have lost or still have some.
    pub in_hosts: bool,
    /// Packet buffers in use, data and control.
    pub buffers_in_use: u64,
    /// Packets found in protocols' buffers, queues, on the way between layers and on the air.
    pub packets_found: u64,
}

impl Audit {
    /// What is wrong, if anything: a defect of Wayhop, not of the scenario.
    pub fn defect(&self) -> Option<String> {
        if let Some(t) = self.ends.lost_track_of.first() {
            let n = self.ends.lost_track_of.len();
            return Some(format!(
                "{n} data packets are neither delivered, dropped nor held; the first is number {} of flow \
                 {}",
                t.seq, t.flow
            ));
        }
        for (flow, (e, (sent, received))) in self.ends.flows.iter().zip(&self.counted).enumerate() {
            let entered = if self.in_hosts { e.sent <= *sent } else { e.sent == *sent };
            if !entered || e.delivered != *received || e.sent != e.delivered + e.dropped + e.held {
                return Some(format!(
                    "flow {flow} counted {sent} sent and {received} received, its packets {e:?}"
                ));
            }
        }
        (self.buffers_in_use != self.packets_found).then(|| {
            format!(
                "{} packet buffers are in use but {} packets were found",
                self.buffers_in_use, self.packets_found
            )
        })
    }
}

/// Counts the packets that parts of the run hold.
#[derive(Default)]
pub(crate) struct Census {
    pub(crate) tags: Vec<FlowTag>,
    pub(crate) packets: u64,
}

impl Census {
    pub(crate) fn count(&mut self, p: &Packet) {
        self.packets += 1;
        self.tags.extend(p.meta.flow);
    }
}

impl Inspect for Census {
    fn row(&mut self, _: &'static str, _: &[(&'static str, &dyn Display)]) {}
    fn counted(&mut self, _: &'static str, _: usize) -> bool {
        true
    }
    fn held(&mut self, _: &'static str, p: &Packet) {
        self.count(p);
    }
}
