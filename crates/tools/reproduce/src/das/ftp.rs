//! What one transfer shows at its destination and at its source.

use std::collections::{BTreeMap, VecDeque};

use wayhop_core::{NodeId, PacketId};
use wayhop_trace::{HopEvent, HopKind, Observer, Summary, TcpEvent};

/// The stretch of the stream that Figure 4 enlarges, octets.
pub(super) const BLOWUP: std::ops::RangeInclusive<u64> = 2_000_000..=2_025_000;
const SOURCE: NodeId = NodeId(0);
/// The least time between two points of the progress, seconds.
const STEP_S: f64 = 1.0;
/// Octets of the IP and the TCP header without options.
const HEADERS: u64 = 40;

/// A stretch of the source's stream.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Segment {
    from: u64,
    len: u64,
    again: bool,
}

/// One transfer from the first node of a chain to the last.
///
/// The trace has the octets of a segment at the sender's side only, so the packet that follows the sender's remark is
/// followed to the destination, whose stream is put together again from what arrives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ftp {
    /// The number of the last node; the source is number 0.
    destination: u32,
    /// Segments that TCP has announced and whose packets are still to be made.
    announced: VecDeque<Segment>,
    segments: BTreeMap<PacketId, Segment>,
    /// Octets that arrived without a gap before them.
    in_order: u64,
    /// Begin and end of what arrived beyond a gap.
    beyond: BTreeMap<u64, u64>,
    /// Seconds, and the octets received in order until then, when they last grew.
    latest: [f64; 2],
    /// The same for the whole run, with [`STEP_S`] between two points.
    pub(super) progress: Vec<[f64; 2]>,
    /// Seconds and first octet of the segments of [`BLOWUP`] as they left the source, for the first time and again.
    pub(super) sent: Vec<[f64; 2]>,
    pub(super) sent_again: Vec<[f64; 2]>,
    /// Seconds and number of the acknowledgements of [`BLOWUP`] that the source received, new ones and duplicates.
    pub(super) acks: Vec<[f64; 2]>,
    pub(super) duplicate_acks: Vec<[f64; 2]>,
    pub(super) kbytes_per_s: Option<f64>,
}

impl Ftp {
    pub(crate) fn new(hops: usize) -> Self {
        Self { destination: hops as u32, ..Self::default() }
    }

    /// With what the run's summary has.
    #[must_use]
    pub(crate) fn closed(mut self, summary: &Summary) -> Self {
        self.kbytes_per_s = summary.flows.first().and_then(|f| Some(f.goodput_bps? / 8e3));
        self.segments.clear();
        if self.progress.last().is_some_and(|last| *last != self.latest) {
            self.progress.push(self.latest);
        }
        self
    }

    fn arrived(&mut self, s: Segment, at_s: f64) {
        let end = self.beyond.entry(s.from).or_default();
        *end = (*end).max(s.from + s.len);
        let before = self.in_order;
        while let Some(first) = self.beyond.first_entry().filter(|e| *e.key() <= self.in_order) {
            self.in_order = self.in_order.max(first.remove());
        }
        if self.in_order > before {
            self.latest = [at_s, self.in_order as f64];
            if self.progress.last().is_none_or(|[last, _]| at_s >= last + STEP_S) {
                self.progress.push(self.latest);
            }
        }
    }
}

impl Observer for Ftp {
    fn tcp(&mut self, e: &TcpEvent) {
        if e.node != SOURCE {
            return;
        }
        let ack = [e.time.as_secs_f64(), e.acked as f64];
        match e.event {
            // The segment's packet is made next.
            "send" | "resend" if e.bytes > 0 => {
                let again = e.event == "resend";
                self.announced.push_back(Segment { from: e.octet, len: u64::from(e.bytes), again });
            }
            "ack" if BLOWUP.contains(&e.acked) => self.acks.push(ack),
            "duplicate" if BLOWUP.contains(&e.acked) => self.duplicate_acks.push(ack),
            _ => {}
        }
    }

    fn hop(&mut self, e: &HopEvent) {
        let at_s = e.time.as_secs_f64();
        match e.kind {
            HopKind::Originate if e.node == SOURCE && e.flow.is_some() => {
                // Acknowledgements of the handshake and of the end are shorter than any announced segment.
                let is_data = |s: &&Segment| u64::from(e.bytes) >= HEADERS + s.len;
                if let Some(&s) = self.announced.front().filter(is_data) {
                    self.announced.pop_front();
                    self.segments.insert(e.packet, s);
                }
            }
            HopKind::Send if e.node == SOURCE => {
                if let Some(s) = self.segments.get(&e.packet).filter(|s| BLOWUP.contains(&s.from)) {
                    let list = if s.again { &mut self.sent_again } else { &mut self.sent };
                    list.push([at_s, s.from as f64]);
                }
            }
            HopKind::Deliver if e.node.0 == self.destination => {
                if let Some(s) = self.segments.remove(&e.packet) {
                    self.arrived(s, at_s);
                }
            }
            _ => {}
        }
    }
}
