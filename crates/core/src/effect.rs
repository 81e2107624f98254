//! What a protocol asks of its host.

use crate::{Addr, DropReason, Packet, SendState, Span, Time};

/// A protocol's own number for a transmission, returned with its status.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxId(pub u64);

/// A protocol's own name for a timer. Setting a timer again under the same key moves it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerKey(pub u64);

/// Where in the interface queue a packet goes: the class that is earlier here leaves first.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Priority {
    /// Routing messages.
    Control,
    /// Latency-sensitive data.
    High,
    /// Everything else.
    #[default]
    Data,
}

/// How to send a packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TxSpec {
    /// The neighbour that shall receive it, or [`crate::BROADCAST`] for all.
    pub next_hop: Addr,
    /// Its place in the interface queue.
    pub priority: Priority,
    /// How long to wait before it enters the queue (broadcast jitter).
    pub delay: Span,
    /// The number under which [`crate::Protocol::on_tx_status`] reports its fate; `None` for no report.
    pub report: Option<TxId>,
}

impl TxSpec {
    /// A routing message to all neighbours.
    pub const fn broadcast() -> Self {
        Self { next_hop: crate::BROADCAST, priority: Priority::Control, delay: Span::ZERO, report: None }
    }
    /// A packet to one neighbour, in the data class.
    pub const fn unicast(next_hop: Addr) -> Self {
        Self { next_hop, priority: Priority::Data, delay: Span::ZERO, report: None }
    }
    /// In this class.
    #[must_use]
    pub const fn with_priority(mut self, p: Priority) -> Self {
        self.priority = p;
        self
    }
    /// After this wait.
    #[must_use]
    pub const fn after(mut self, d: Span) -> Self {
        self.delay = d;
        self
    }
    /// Report its fate under this number.
    #[must_use]
    pub const fn reported(mut self, id: TxId) -> Self {
        self.report = Some(id);
        self
    }
}

/// A row of the host's forwarding table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where to.
    pub destination: Addr,
    /// By which neighbour.
    pub next_hop: Addr,
    /// Distance in hops.
    pub hops: u8,
}

/// A protocol's remark for the trace's `events` table: a name and two numbers or addresses that belong to it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TraceNote {
    /// What happened; `lower_snake_case`, from a fixed set that the protocol documents.
    pub what: &'static str,
    /// Whom it concerns.
    pub about: Addr,
    /// A figure that belongs to it.
    pub value: u64,
}

/// One request of a handler to its host. The host applies them in order, after the handler has returned.
#[derive(Debug)]
pub enum Effect {
    /// Put the packet into the interface queue.
    Send(Packet, TxSpec),
    /// Hand the packet to the local stack; its first header is IP and carries no routing header any more.
    Deliver(Packet),
    /// End the packet, with the cause.
    Drop(Packet, DropReason),
    /// End a packet that has served (a routing message that was read, a copy that was acknowledged).
    Consume(Packet),
    /// Call `on_timer` with this key at this time.
    SetTimer(TimerKey, Time),
    /// Forget that timer.
    ClearTimer(TimerKey),
    /// Add or replace a row of the forwarding table.
    Install(Route),
    /// Remove the row for this destination.
    Uninstall(Addr),
    /// Take every queued packet for this neighbour out of the interface queue; each comes back by `on_tx_status`
    /// as [`crate::TxStatus::Recalled`].
    Recall(Addr),
    /// Write a remark into the trace.
    Note(TraceNote),
    /// Write down what the protocol knew and decided when it sent a packet.
    State(SendState),
}
