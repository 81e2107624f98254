//! Records on their way to the writer.

use crate::{
    BundleEvent, ConnectionEvent, ContactEvent, Counter, Direction, FlowSummary, FrameEvent, GpsEvent,
    HopEvent, IdentityEvent, NoteEvent, PacketOutcome, PositionEvent, ReceptionEvent, SendEvent, SizeEvent,
    Summary, TcpEvent,
};
use wayhop_core::{IfaceId, NodeId, Time};

/// Records of any one kind in a batch.
const RECORDS: usize = 8_192;
/// Records of any one kind in a batch that waits for a slow writer.
const MOST_RECORDS: usize = 16 * RECORDS;
/// Octets of frames in a batch.
const FRAME_BYTES: usize = 1 << 20;

/// Records that travel to the writer together; each kind is in order.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) hops: Vec<HopEvent>,
    pub(crate) notes: Vec<NoteEvent>,
    pub(crate) sends: Vec<SendEvent>,
    pub(crate) tcp: Vec<TcpEvent>,
    pub(crate) connections: Vec<ConnectionEvent>,
    pub(crate) positions: Vec<PositionEvent>,
    pub(crate) gps: Vec<GpsEvent>,
    pub(crate) sizes: Vec<SizeEvent>,
    pub(crate) counters: Vec<Counter>,
    pub(crate) outcomes: Vec<PacketOutcome>,
    pub(crate) receptions: Vec<ReceptionEvent>,
    pub(crate) bundles: Vec<BundleEvent>,
    pub(crate) contacts: Vec<ContactEvent>,
    /// One for each of `hops`, if they are wanted.
    pub(crate) identities: Vec<IdentityEvent>,
    /// Flows that have begun, for the checkpoint.
    pub(crate) flows: Vec<FlowSummary>,
    /// The summary as it is now, for the checkpoint.
    pub(crate) summary: Option<Box<Summary>>,
    /// Whether a checkpoint is due once the batch is written.
    pub(crate) checkpoint: bool,
    frames: Vec<Frame>,
    frame_bytes: Vec<u8>,
}

/// A [`FrameEvent`] whose octets are in the batch's common buffer.
struct Frame {
    time: Time,
    node: NodeId,
    iface: IfaceId,
    captured_len: u32,
    original_len: u32,
    signal_dbm: f32,
    noise_dbm: f32,
    rate_100kbps: u16,
    channel_mhz: u16,
    retries: u8,
    direction: Direction,
    bad_fcs: bool,
    comment_len: u32,
}

impl Batch {
    /// Adds a hop event; says whether it is time to send the batch.
    #[inline]
    pub(crate) fn push_hop(&mut self, e: &HopEvent) -> bool {
        self.hops.push(*e);
        self.hops.len() >= RECORDS
    }

    /// Whether it is time to send the batch, after any other record.
    pub(crate) fn is_full(&self) -> bool {
        self.frame_bytes.len() >= FRAME_BYTES
            || self.frames.len() >= RECORDS
            || self.notes.len() >= RECORDS
            || self.sends.len() >= RECORDS
            || self.tcp.len() >= RECORDS
            || self.connections.len() >= RECORDS
            || self.positions.len() >= RECORDS
            || self.gps.len() >= RECORDS
            || self.sizes.len() >= RECORDS
            || self.counters.len() >= RECORDS
            || self.outcomes.len() >= RECORDS
            || self.receptions.len() >= RECORDS
            || self.bundles.len() >= RECORDS
            || self.contacts.len() >= RECORDS
    }

    /// Whether there is so much in it that it should be sent.
    pub(crate) fn has_to_go(&self) -> bool {
        self.is_full() || self.hops.len() >= RECORDS
    }

    /// Forgets the frames, and tells how many there were.
    pub(crate) fn drop_frames(&mut self) -> u64 {
        let count = self.frames.len() as u64;
        self.frames.clear();
        self.frame_bytes.clear();
        count
    }

    /// Whether there is so much in it that it must be sent, even if somebody has to wait for that.
    pub(crate) fn is_overfull(&self) -> bool {
        self.lengths().into_iter().any(|n| n >= MOST_RECORDS)
    }

    /// Rows of tables in it.
    pub(crate) fn records(&self) -> u64 {
        self.lengths().into_iter().sum::<usize>() as u64
    }

    fn lengths(&self) -> [usize; 13] {
        [
            self.hops.len(),
            self.notes.len(),
            self.sends.len(),
            self.tcp.len(),
            self.connections.len(),
            self.positions.len(),
            self.gps.len(),
            self.sizes.len(),
            self.counters.len(),
            self.outcomes.len(),
            self.receptions.len(),
            self.bundles.len(),
            self.contacts.len(),
        ]
    }

    /// Forgets all but what only the checkpoint has.
    pub(crate) fn clear_records(&mut self) {
        self.hops.clear();
        self.notes.clear();
        self.sends.clear();
        self.tcp.clear();
        self.connections.clear();
        self.positions.clear();
        self.gps.clear();
        self.sizes.clear();
        self.counters.clear();
        self.outcomes.clear();
        self.receptions.clear();
        self.bundles.clear();
        self.contacts.clear();
        self.identities.clear();
        self.drop_frames();
    }

    /// Adds a frame, of whose octets at most `snaplen` are kept.
    pub(crate) fn push_frame(&mut self, f: &FrameEvent<'_>, snaplen: usize) {
        let kept = &f.bytes[..f.bytes.len().min(snaplen)];
        self.frame_bytes.extend_from_slice(kept);
        self.frame_bytes.extend_from_slice(f.comment.as_bytes());
        self.frames.push(Frame {
            time: f.time,
            node: f.node,
            iface: f.iface,
            captured_len: kept.len() as u32,
            original_len: f.original_len,
            signal_dbm: f.signal_dbm,
            noise_dbm: f.noise_dbm,
            rate_100kbps: f.rate_100kbps,
            channel_mhz: f.channel_mhz,
            retries: f.retries,
            direction: f.direction,
            bad_fcs: f.bad_fcs,
            comment_len: f.comment.len() as u32,
        });
    }

    /// The frames, in order.
    pub(crate) fn frames(&self) -> impl Iterator<Item = FrameEvent<'_>> {
        let mut at = 0;
        self.frames.iter().map(move |f| {
            let (bytes, rest) = self.frame_bytes[at..].split_at(f.captured_len as usize);
            let comment = &rest[..f.comment_len as usize];
            at += bytes.len() + comment.len();
            FrameEvent {
                time: f.time,
                node: f.node,
                iface: f.iface,
                direction: f.direction,
                bytes,
                original_len: f.original_len,
                signal_dbm: f.signal_dbm,
                noise_dbm: f.noise_dbm,
                rate_100kbps: f.rate_100kbps,
                channel_mhz: f.channel_mhz,
                retries: f.retries,
                bad_fcs: f.bad_fcs,
                comment: std::str::from_utf8(comment).unwrap_or_default(),
            }
        })
    }
}
