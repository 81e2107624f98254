//! The state of a run for its watchers: events not yet fetched, and subscribers of frames.

use std::collections::VecDeque;

use wayhop_core::{Addr, DropReason, Prefix, Time, TraceNote};
use wayhop_trace::{FrameEvent, HopEvent};

/// A node went down, or came back.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PowerChange {
    /// Who.
    pub node: u32,
    /// It is up now.
    pub on: bool,
    /// It loses its tables, or has lost them.
    pub lost: bool,
}

/// Something that happened at a node, for those who watch.
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// The protocol's remark.
    Note(TraceNote),
    /// A packet ended undelivered: why, and its source, destination and length.
    Drop(DropReason, Addr, Addr, u32),
    /// A row of the forwarding table came or changed (next hop and metric), or went.
    Route(Prefix, Option<(Addr, u32)>),
    /// A row of the table `packets`, with the first 320 octets of the packet.
    Packet(Box<HopEvent>, Box<[u8]>),
}

/// How much of a packet those see who watch packets, octets from the IP header on: what a node on a real interface tells.
pub(crate) const PACKET_HEAD: usize = 320;

/// Is given each frame that a node sends and hears, until it returns false.
pub type Tap = Box<dyn FnMut(&FrameEvent<'_>) -> bool + Send>;

/// What those who watch have not fetched.
#[derive(Default)]
pub(crate) struct Watchers {
    /// Nodes that went down or came back.
    pub(crate) powered: VecDeque<PowerChange>,
    /// Whether anybody watches what happens.
    pub(crate) watched: bool,
    /// Whether anybody watches each packet.
    pub(crate) packets_watched: bool,
    pub(crate) happenings: VecDeque<(Time, u32, Happening)>,
    /// What nobody fetched in time.
    pub(crate) missed: u64,
    /// Those who see the frames of a node.
    pub(crate) taps: Vec<(u32, Tap)>,
}

impl Watchers {
    /// More do not wait for a watcher; what comes then is counted.
    const MOST_HAPPENINGS: usize = 4_096;

    /// Whether anybody sees a node's frames.
    pub(crate) fn is_tapped(&self, node: u32) -> bool {
        self.taps.iter().any(|(n, _)| *n == node)
    }
    /// Shows a frame to those who see its node's.
    pub(crate) fn captured(&mut self, f: &FrameEvent<'_>) {
        self.taps.retain_mut(|(node, tap)| *node != f.node.0 || tap(f));
    }

    /// Notes what happened, for a watcher.
    pub(crate) fn happened(&mut self, at: Time, node: u32, what: Happening) {
        if self.happenings.len() == Self::MOST_HAPPENINGS {
            self.missed += 1;
            return;
        }
        self.happenings.push_back((at, node, what));
    }
}
