//! A protocol's effects, for its node.

use serde::{Deserialize, Serialize};

use crate::{Addr, DropReason, IfaceId, Opened, Packet, Prefix, Refused, Route, SendState, Span, Time};

/// A protocol's own number for a transmission, returned with its status.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TxId(pub u64);

/// A protocol's own name for a timer. Setting a timer again under the same key moves it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TimerKey(pub u64);

/// Where in the interface queue a packet goes: the class that is earlier here leaves first.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TxSpec {
    /// The neighbour that shall receive it, or [`Addr::BROADCAST`] for all.
    pub next_hop: Addr,
    /// The interface; [`IfaceId::ANY`] leaves the choice to the node.
    pub iface: IfaceId,
    /// Its place in the interface queue.
    pub priority: Priority,
    /// How long to wait before it enters the queue (broadcast jitter).
    pub delay: Span,
    /// The number under which [`crate::Input::TxStatus`] reports its end; `None` for no report.
    pub report: Option<TxId>,
}

impl TxSpec {
    /// A routing message to all neighbours on all interfaces.
    pub const fn broadcast() -> Self {
        Self {
            next_hop: Addr::BROADCAST,
            iface: IfaceId::ANY,
            priority: Priority::Control,
            delay: Span::ZERO,
            report: None,
        }
    }
    /// A packet to one neighbour, in the data class, on the interface on which it was heard last.
    pub fn unicast(next_hop: impl Into<Addr>) -> Self {
        Self {
            next_hop: next_hop.into(),
            iface: IfaceId::ANY,
            priority: Priority::Data,
            delay: Span::ZERO,
            report: None,
        }
    }
    /// On this interface.
    #[must_use]
    pub const fn on(mut self, iface: IfaceId) -> Self {
        self.iface = iface;
        self
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
    /// Report its end under this number.
    #[must_use]
    pub const fn reported(mut self, id: TxId) -> Self {
        self.report = Some(id);
        self
    }
}

/// A protocol's remark for the trace's `events` table: a name and two numbers or addresses that belong to it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceNote {
    /// What happened; `lower_snake_case`, from a fixed set that the protocol documents.
    pub what: &'static str,
    /// Whom it concerns.
    pub about: Addr,
    /// A figure that belongs to it.
    pub value: u64,
}

/// One request of a handler to its node. The node applies them in order, after the handler has returned; what they
/// provoke (a status, a packet from an application) comes after all of them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Put the packet into the interface queue.
    Send(Packet, TxSpec),
    /// Hand the packet to the local stack; its first header is IP and carries no routing header any more.
    Deliver(Packet),
    /// End the packet, with the cause.
    Drop(Packet, DropReason),
    /// End a packet that has served (a routing message that was read, a copy that was acknowledged).
    Consume(Packet),
    /// Give [`crate::Input::Timer`] with this key at this time.
    SetTimer(TimerKey, Time),
    /// Forget that timer.
    ClearTimer(TimerKey),
    /// Listen to this.
    Open(Opened),
    /// Add or replace this protocol's row for a prefix.
    Install(Route),
    /// Remove this protocol's row for a prefix.
    Uninstall(Prefix),
    /// Replace all rows of this protocol, in one step.
    ReplaceRoutes(Vec<Route>),
    /// Take every packet for this neighbour out of the queue of this interface ([`IfaceId::ANY`]: of all), and what
    /// waits for its link address; each comes back as [`crate::TxStatus::Recalled`], or ends as `MAC_RETRIES` where the
    /// protocol wanted no report.
    Recall(IfaceId, Addr),
    /// Write a remark into the trace.
    Note(TraceNote),
    /// Write down what the protocol knew and decided when it sent a packet.
    State(SendState),
    /// The order that was given is not carried out.
    Refuse(Refused),
}
