//! Watching a run from inside the program.

use std::any::Any;

use crate::{
    BundleEvent, ContactEvent, FrameEvent, HopEvent, NoteEvent, PositionEvent, ReceptionEvent, SendEvent,
    TcpEvent,
};

/// Sees the records of a run as they are created, in addition to or instead of files; see [`crate::Recorder::observed_by`].
///
/// It is called on the run's own thread, in the order in which the run makes the records.
pub trait Observer: Any + Send {
    /// Whether [`Observer::frame`] has a use. Frames are made for the nodes that write a capture, which costs time.
    fn wants_frames(&self) -> bool {
        false
    }
    /// A packet's event.
    fn hop(&mut self, _: &HopEvent) {}
    /// A frame in the capture of a node, whole.
    fn frame(&mut self, _: &FrameEvent<'_>) {}
    /// What became of a frame at a node that should have received it.
    fn reception(&mut self, _: &ReceptionEvent) {}
    /// The state in which a protocol sent a packet.
    fn sent(&mut self, _: &SendEvent) {}
    /// What happened at a TCP sender.
    fn tcp(&mut self, _: &TcpEvent) {}
    /// What happened to a bundle.
    fn bundle(&mut self, _: &BundleEvent) {}
    /// What a contact of two agents carried, as each of its ends saw it.
    fn contact(&mut self, _: &ContactEvent) {}
    /// A protocol's remark.
    fn note(&mut self, _: &NoteEvent) {}
    /// A leg of a node's motion.
    fn position(&mut self, _: &PositionEvent) {}
}
