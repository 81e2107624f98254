//! What a row is about.

use wayhop_core::NodeId;

use crate::identity::Fnv;
use crate::{
    BundleEvent, ConnectionEvent, ContactEvent, Counter, GpsEvent, HopEvent, IdentityEvent, NoteEvent,
    PacketOutcome, PositionEvent, ReceptionEvent, SendEvent, SizeEvent, TcpEvent,
};

/// A record as the choice of rows sees it.
pub(crate) trait Subject {
    /// Whether it is about a chosen node. Tables without nodes keep all rows.
    fn is_of_node(&self, _is_chosen: &dyn Fn(NodeId) -> bool) -> bool {
        true
    }
    /// Whether it is about a chosen flow. Tables without flows keep all rows.
    fn is_of_flow(&self, _is_chosen: &dyn Fn(u32) -> bool) -> bool {
        true
    }
    /// The number of the packet, node or flow with which it is kept or left out when rows are thinned; `None` for rows that are
    /// always kept.
    fn thinned_by(&self) -> Option<u64>;
}

impl Subject for HopEvent {
    fn is_of_node(&self, is_chosen: &dyn Fn(NodeId) -> bool) -> bool {
        is_chosen(self.node)
    }
    fn is_of_flow(&self, is_chosen: &dyn Fn(u32) -> bool) -> bool {
        self.flow.is_some_and(|tag| is_chosen(tag.flow))
    }
    fn thinned_by(&self) -> Option<u64> {
        Some(self.packet.0)
    }
}

/// Of all flows: scenarios do not combine identities with a choice of flows.
impl Subject for IdentityEvent {
    fn is_of_node(&self, is_chosen: &dyn Fn(NodeId) -> bool) -> bool {
        is_chosen(self.node)
    }
    fn thinned_by(&self) -> Option<u64> {
        Some(self.packet.0)
    }
}

impl Subject for SendEvent {
    fn is_of_node(&self, is_chosen: &dyn Fn(NodeId) -> bool) -> bool {
        is_chosen(self.node)
    }
    fn thinned_by(&self) -> Option<u64> {
        Some(self.state.packet.0)
    }
}

impl Subject for ReceptionEvent {
    fn is_of_node(&self, is_chosen: &dyn Fn(NodeId) -> bool) -> bool {
        is_chosen(self.sender) || self.node.is_some_and(is_chosen)
    }
    fn is_of_flow(&self, is_chosen: &dyn Fn(u32) -> bool) -> bool {
        self.flow.is_some_and(|tag| is_chosen(tag.flow))
    }
    fn thinned_by(&self) -> Option<u64> {
        Some(self.packet.map_or(self.sender.0.into(), |p| p.0))
    }
}

impl Subject for TcpEvent {
    fn is_of_node(&self, is_chosen: &dyn Fn(NodeId) -> bool) -> bool {
        is_chosen(self.node)
    }
    fn is_of_flow(&self, is_chosen: &dyn Fn(u32) -> bool) -> bool {
        is_chosen(self.flow)
    }
    fn thinned_by(&self) -> Option<u64> {
        Some(self.flow.into())
    }
}

/// Always kept when others are thinned: short rows, and the only ones that add up to the summary's counts.
impl Subject for PacketOutcome {
    fn is_of_flow(&self, is_chosen: &dyn Fn(u32) -> bool) -> bool {
        is_chosen(self.packet.flow)
    }
    fn thinned_by(&self) -> Option<u64> {
        None
    }
}

impl Subject for BundleEvent {
    fn is_of_node(&self, is_chosen: &dyn Fn(NodeId) -> bool) -> bool {
        is_chosen(self.node)
    }
    fn thinned_by(&self) -> Option<u64> {
        Some(Fnv::new().add(self.bundle.as_bytes()).0)
    }
}

/// Rows about a node.
macro_rules! of_nodes {
    ($($record:ident)*) => {
        $(impl Subject for $record {
            fn is_of_node(&self, is_chosen: &dyn Fn(NodeId) -> bool) -> bool {
                is_chosen(self.node)
            }
            fn thinned_by(&self) -> Option<u64> {
                Some(self.node.0.into())
            }
        })*
    };
}
of_nodes! { PositionEvent NoteEvent Counter ContactEvent GpsEvent ConnectionEvent SizeEvent }
