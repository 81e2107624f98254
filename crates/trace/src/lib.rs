//! What a run leaves behind: run directories, captures, tables and summaries.
//!
//! A world hands plain records ([`HopEvent`], [`FrameEvent`], [`NoteEvent`], [`PositionEvent`], [`Counter`]) to a
//! [`Recorder`], which hashes them and has a background thread write them.

mod class;
mod error;
mod event;
#[cfg(test)]
mod fixture;
mod hash;
mod manifest;
mod recorder;
mod run_dir;
mod summary;

pub use class::{Messages, PacketClass};
pub use error::Error;
pub use event::{Counter, Direction, FrameEvent, HopEvent, HopKind, NoteEvent, PositionEvent};
pub use hash::TraceHash;
pub use manifest::RunStatus;
pub use recorder::{NodeInfo, Outputs, Recorder};
pub use run_dir::RunDir;
pub use summary::{FlowSummary, LatencyMs, Lateness, Summary, Topology, Totals, ratio};
