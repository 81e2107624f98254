//! Records on their way to the writer.

use wayhop_core::Time;

use crate::{FlowSummary, FrameEvent, Outputs, Summary};

/// Records in a batch.
pub(crate) const RECORDS: usize = 8_192;
/// Records of any one kind in a batch that waits for a slow writer.
const MOST_RECORDS: usize = 16 * RECORDS;
/// Octets of frames in a batch.
const FRAME_BYTES: usize = 1 << 20;

/// Calls a macro with each kind of record: its list in [`Batch`], type, table, columns, and whether a run with some outputs has it.
macro_rules! each_record {
    ($with:ident) => {
        $with! {
            hops: HopEvent, "packets", PACKETS, |_| true;
            positions: PositionEvent, "positions", POSITIONS, |_| true;
            notes: NoteEvent, "events", EVENTS, |_| true;
            sends: SendEvent, "sends", SENDS, |_| true;
            tcp: TcpEvent, "tcp", TCP, |_| true;
            counters: Counter, "counters", COUNTERS, |_| true;
            outcomes: PacketOutcome, "outcomes", OUTCOMES, |_| true;
            receptions: ReceptionEvent, "receptions", RECEPTIONS, |o| o.receptions;
            bundles: BundleEvent, "bundles", BUNDLES, |o| o.bundles;
            contacts: ContactEvent, "contacts", CONTACTS, |o| o.bundles;
            gps: GpsEvent, "gps", GPS, |o| o.gps;
            connections: ConnectionEvent, "connections", CONNECTIONS, |o| o.connections;
            sizes: SizeEvent, "sizes", SIZES, |o| o.sizes;
            // One for each of `hops`.
            identities: IdentityEvent, "identities", IDENTITIES, |o| o.identities;
        }
    };
}
pub(crate) use each_record;

macro_rules! kept {
    ($($field:ident: $record:ident, $name:literal, $columns:ident, $has:expr;)*) => {
        /// The kinds of records that a run keeps.
        #[derive(Copy, Clone, Default)]
        pub(crate) struct Kept {
            $(pub(crate) $field: bool,)*
        }

        impl Kept {
            /// Those that become tables.
            pub(crate) fn in_tables(outputs: &Outputs) -> Self {
                let could = Self::without_selection(outputs);
                Self { $($field: could.$field && outputs.has($name),)* }
            }

            /// Those that would become tables if all were wanted.
            fn without_selection(outputs: &Outputs) -> Self {
                let has = |of: fn(&Outputs) -> bool| of(outputs);
                Self { $($field: has($has),)* }
            }

            /// The tables that the run would have and does not write, by name.
            pub(crate) fn left_out(outputs: &Outputs) -> Vec<String> {
                let could = Self::without_selection(outputs);
                let all = [$((could.$field, $name),)* (true, "flows"), (true, "nodes")];
                let names = all.into_iter().filter(|(could, name)| *could && !outputs.selection.has(name));
                names.map(|(_, name)| name.to_owned()).collect()
            }
        }
    };
}
each_record!(kept);

macro_rules! batch {
    ($($field:ident: $record:ident, $name:literal, $columns:ident, $has:expr;)*) => {
        /// Records that travel to the writer together; each kind is in order.
        #[derive(Default)]
        pub(crate) struct Batch {
            $(pub(crate) $field: Vec<crate::$record>,)*
            /// Flows that have begun, for the checkpoint.
            pub(crate) flows: Vec<FlowSummary>,
            /// The summary as it is now, for the checkpoint.
            pub(crate) summary: Option<Box<Summary>>,
            /// Whether a checkpoint is due once the batch is written.
            pub(crate) checkpoint: bool,
            /// The run's clock, if the size of the tables is to be compared with their limit once the batch is written.
            pub(crate) measured_at: Option<Time>,
            frames: Vec<Frame>,
            frame_bytes: Vec<u8>,
        }

        impl Batch {
            fn longest(&self) -> usize {
                0 $(.max(self.$field.len()))*
            }
            fn sum(&self) -> usize {
                0 $(+ self.$field.len())*
            }
            /// Forgets all but what only the checkpoint has.
            pub(crate) fn clear_records(&mut self) {
                $(self.$field.clear();)*
                self.drop_frames();
            }
        }
    };
}
each_record!(batch);

/// A frame whose octets and remark are in the batch's common buffer.
struct Frame {
    /// Without them.
    event: FrameEvent<'static>,
    captured_len: usize,
    comment_len: usize,
}

impl Batch {
    /// Whether it is time to send the batch.
    pub(crate) fn is_full(&self) -> bool {
        self.frame_bytes.len() >= FRAME_BYTES || self.frames.len() >= RECORDS || self.longest() >= RECORDS
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
        self.longest() >= MOST_RECORDS
    }

    /// Rows of tables in it; an identity is part of its packet's row.
    pub(crate) fn records(&self) -> u64 {
        (self.sum() - self.identities.len()) as u64
    }

    /// Adds a frame, of whose octets at most `snaplen` are kept.
    pub(crate) fn push_frame(&mut self, f: &FrameEvent<'_>, snaplen: usize) {
        let kept = &f.bytes[..f.bytes.len().min(snaplen)];
        self.frame_bytes.extend_from_slice(kept);
        self.frame_bytes.extend_from_slice(f.comment.as_bytes());
        let event = FrameEvent { bytes: &[], comment: "", ..*f };
        self.frames.push(Frame { event, captured_len: kept.len(), comment_len: f.comment.len() });
    }

    pub(crate) fn frames(&self) -> impl Iterator<Item = FrameEvent<'_>> {
        let mut at = 0;
        self.frames.iter().map(move |f| {
            let (bytes, rest) = self.frame_bytes[at..].split_at(f.captured_len);
            let comment = &rest[..f.comment_len];
            at += bytes.len() + comment.len();
            FrameEvent { bytes, comment: std::str::from_utf8(comment).unwrap_or_default(), ..f.event }
        })
    }
}
