//! A node's counters since its start.

use std::collections::BTreeMap;

use wayhop_core::DropReason;
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{Lengths, Messages, PacketClass, Totals};

/// The counters of one node. They only grow.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Packets that programs of this host sent into the mesh, as far as this process sees them.
    pub originated: u64,
    /// Packets given to programs of this host.
    pub delivered: u64,
    /// Packets of others that went on from here.
    pub forwarded: u64,
    /// Frames of the protocol that the interface took.
    pub sent_frames: u64,
    /// Frames of the protocol that were received, for this node or for all.
    pub received_frames: u64,
    /// Frames for others that were heard.
    pub overheard_frames: u64,
    /// Frames that were not what their type says, or told nothing of their sender.
    pub strange_frames: u64,
    /// Frames that the kernel had no room for before this process took them.
    pub missed_frames: u64,
    /// Routes that were not set because they lead out of the mesh, or to this node.
    pub refused_routes: u64,
    /// Times that the interface refused packets.
    pub send_errors: u64,
    /// Frames that the capture had no room for.
    pub capture_drops: u64,
    /// Rows that are missing in the run directory's tables.
    pub lost_rows: u64,
    /// Reports that are not in the monitor's own log.
    pub lost_reports: u64,
    /// Routing packets sent, forwarded ones too.
    pub routing_packets: u64,
    /// Their length with the IP header, octets.
    pub routing_bytes: u64,
    /// The routing protocol's headers in data packets sent, octets.
    routing_header_bytes: u64,
    /// Routing messages sent, by name.
    by_type: BTreeMap<&'static str, u64>,
    /// What authentication counted, at a node with keys.
    pub auth: Option<wayhop_auth::BlockCounts>,
    /// Drops in the order of [`DropReason::ALL`].
    drops: [u64; DropReason::ALL.len()],
}

impl Counters {
    /// A packet ended.
    pub(crate) fn dropped(&mut self, why: DropReason) {
        self.drops[why as usize] += 1;
    }

    /// A packet went out.
    pub(crate) fn sent(&mut self, packet: &[u8], class: Option<PacketClass>, messages: Messages) {
        self.sent_frames += 1;
        if class.is_some() {
            self.routing_packets += 1;
            self.routing_bytes += packet.len() as u64;
        } else if let Some(lengths) = Lengths::of(packet, CLASSIFIER) {
            self.routing_header_bytes += u64::from(lengths.routing_header);
        }
        for name in messages.names() {
            *self.by_type.entry(name).or_default() += 1;
        }
    }

    /// Those with fixed names.
    pub(crate) fn named(&self) -> [(&'static str, u64); 15] {
        [
            ("originated", self.originated),
            ("delivered", self.delivered),
            ("forwarded", self.forwarded),
            ("sent_frames", self.sent_frames),
            ("received_frames", self.received_frames),
            ("overheard_frames", self.overheard_frames),
            ("strange_frames", self.strange_frames),
            ("missed_frames", self.missed_frames),
            ("refused_routes", self.refused_routes),
            ("send_errors", self.send_errors),
            ("capture_drops", self.capture_drops),
            ("lost_rows", self.lost_rows),
            ("lost_reports", self.lost_reports),
            ("routing_packets", self.routing_packets),
            ("routing_bytes", self.routing_bytes),
        ]
    }

    /// As a run's summary has them.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals {
            sent: self.originated,
            received: self.delivered,
            routing_packets: self.routing_packets,
            routing_bytes: self.routing_bytes,
            // What kernels forward has no such header.
            routing_header_bytes: Some(self.routing_header_bytes),
            by_type: self.by_type.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect(),
            ..Totals::default()
        };
        totals.set_drops(&self.drops);
        totals
    }
}
