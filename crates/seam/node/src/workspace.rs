//! Memory that the nodes of a world share: after a short warm-up nothing on the packet path allocates.

use std::collections::VecDeque;

use wayhop_core::{Effect, Frame, Packet, PacketId, PacketMeta, Pool, Time, TxReport};

/// Packet buffers, the next packet's number, and lists for reuse.
#[derive(Default)]
pub struct Workspace {
    /// Packet buffers.
    pub pool: Pool,
    /// The number of the next packet that is made.
    pub next_id: u64,
    /// The effects of the handler at work.
    pub(crate) effects: Vec<Effect>,
    /// What effects provoked at the node at work: reports for its engines.
    pub(crate) provoked: VecDeque<(u8, TxReport)>,
    /// Frames that a recall took out.
    pub(crate) recalled: Vec<Frame>,
    /// Why the order at hand is not carried out.
    pub(crate) refused: Option<wayhop_core::Refused>,
}

impl Workspace {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }
    /// A packet of this many zeros that is made now and belongs to no flow.
    pub fn new_packet(&mut self, now: Time, len: usize) -> Packet {
        let meta = self.new_meta(now);
        self.pool.zeroed(len, meta)
    }

    /// Notes for a packet that is made now and belongs to no flow.
    pub fn new_meta(&mut self, now: Time) -> PacketMeta {
        let id = PacketId(self.next_id);
        self.next_id += 1;
        PacketMeta { id, flow: None, born: now }
    }
}
