//! The results of a run: run directories, captures, tables and summaries.
//!
//! * A world hands plain records ([`HopEvent`], [`FrameEvent`], [`NoteEvent`], [`SendEvent`], [`PositionEvent`], [`Counter`]) to a
//!   [`Recorder`], which hashes the hop events ([`TraceHash`]) and has a background thread write them into a [`RunDir`].
//!   An [`Observer`] sees the records as they are made, for programs that want no files.
//! * [`Summary`] is the run in numbers; [`human_table`] shows it to people. [`Conversations`] makes flows of programs' packets.
//! * [`CaptureReader`] reads anyone's pcap and pcapng files, [`Decoder`] the routing messages in them.
//! * [`CaptureIndex`] finds a moment in a capture, [`dissect`] decodes a frame, [`Excerpt`] is a
//!   capture of chosen frames.
//! * [`diff`] compares what one capture sent with what another one received.
//! * [`stories`] describes what happened to a packet across nodes; [`lost`] lists those that did
//!   not arrive.
//! * [`PacketIndex`] has the counts of the table `packets` over time, without reading its rows.
//! * [`export_csv`] turns the tables of a run into text, [`export_parquet`] those of a killed run into
//!   whole files; [`searches`] gives the durations of route
//!   searches, [`packet_rows`] and [`outcome_rows`] the fate of each packet.
//!
//! Files from outside are hostile: nothing here panics on them, and memory stays bounded.

mod batch;
mod bundle_books;
mod bundle_summary;
mod capture;
mod class;
mod conversations;
mod decode;
pub mod diff;
mod echoes;
mod error;
mod event;
mod fates;
#[cfg(test)]
mod fixture;
mod hash;
mod human;
mod identity;
mod killed;
mod left_out;
mod load;
mod manifest;
mod ns2;
mod outputs;
mod packet_index;
mod recent;
mod reception;
mod recorder;
mod run_dir;
mod selection;
mod status;
mod story;
mod summary;
mod tables;
mod transmissions;
mod writer;

pub use bundle_books::BundleBooks;
pub use bundle_summary::{BundleFlowSummary, BundleSummary, ContactSummary, DelayS};
pub use capture::{
    CaptureError, CaptureIndex, CaptureReader, CapturedFrame, EthernetFrame, Excerpt, FrameStream,
    put_ethernet_frame, put_ethernet_headers,
};
pub use class::PacketClass;
pub use conversations::{Conversation, ConversationEnds, Conversations, is_for_all, is_for_neighbours};
pub use decode::{DecodedFrame, Decoder, LINKTYPE_IEEE802_11, NoPacket, PassedOver, dissect, network};
pub use echoes::{EchoReply, Echoes};
pub use error::Error;
pub use event::{
    BundleEvent, ConnectionEvent, ContactEvent, Counter, Direction, FrameEvent, GpsEvent, GpsSource,
    HopEvent, NoteEvent, Outcome, PacketOutcome, PositionEvent, SendEvent, SizeEvent, TcpEvent,
};
pub use hash::TraceHash;
pub use human::human_table;
pub use identity::{Echo, Identity, IdentityEvent, Lengths, carried, ends};
pub use killed::{Recovery, how_it_ended, recover};
pub use left_out::what_is_left_out;
pub use manifest::{
    ClockFit, ClockSegment, InputFile, LibraryRecord, Manifest, MergeRecord, MergedRun, RunStatus, civil,
};
pub use outputs::{InterfaceInfo, LinkKind, NodeInfo, Outputs};
pub use packet_index::{CountOf, IndexedLoss, IndexedRow, PacketIndex, TableStamp};
pub use recent::Recent;
pub use reception::ReceptionEvent;
pub use recorder::{Observer, Recorder};
pub use run_dir::{RunDir, lock_file, lock_folder};
pub use selection::{PartialRecord, Selection, SizeLimit, Thinning};
pub use status::Status;
pub use story::{At, LostPacket, PacketQuery, PathBetween, Step, Story, lost, stories};
pub use summary::{
    ApplicationSummary, AttackNodes, FlowSummary, LatencyMs, Lateness, NodeEnergy, NodeOutages, Origin,
    ProgramExit, Programs, Summary, TcpSummary, Topology, Totals, named_drops, ratio,
};
pub use tables::{
    ColumnCells, OutcomeRow, PacketRow, PowerChange, RouteSearch, TABLES, TableFile, Tables, addresses,
    export_csv, export_parquet, motion, node_names, open_table, outcome_rows, packet_rows, power, searches,
};
pub use transmissions::{OverheadFrames, Rfc2501, Transmissions};
pub use wayhop_core::{Classifier, HopKind, MessageCounts, Messages};
