//! What a node requires of the world around it.

use std::net::Ipv6Addr;

use wayhop_core::{
    Addr, DropReason, Effect, Frame, HopKind, IfaceId, Input, Interface, Mac, Packet, Prefix, Rng, Route,
    RxMeta, SendState, Time, TimerKey, TraceNote,
};

use crate::table::InstalledRoute;
use crate::workspace::Workspace;

/// What happened to a packet at a node: one row of the trace's `packets` table.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Hop {
    /// What; [`HopKind::Transmit`] and [`HopKind::Recall`] are for the medium to tell.
    pub kind: HopKind,
    /// The neighbour that it came from or goes to; [`Addr::UNSPECIFIED`] where there is none.
    pub peer: Addr,
    /// The interface that it came on or leaves by; [`IfaceId::ANY`] where there is none.
    pub iface: IfaceId,
    /// Received power, dBm; NaN where nobody tells.
    pub signal_dbm: f32,
    /// Why it ended, of a drop.
    pub reason: Option<DropReason>,
}

/// Where on its way down a scheduled frame goes on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its next hop's link address is to be resolved.
    Resolve,
    /// It enters the interface queue.
    Enqueue,
}

/// What an engine sees with an input, for a log that is to make it do the same again.
#[derive(Copy, Clone, Debug)]
pub struct InputContext<'a> {
    /// What the interfaces tell.
    pub interface: Interface,
    /// The neighbours for whom the opposite of `interface.acknowledges` holds, in order.
    pub exceptions: &'a [Addr],
    /// The number of the next packet that is made.
    pub next_id: u64,
    /// The engine's stream of random numbers.
    pub rng: &'a Rng,
}

/// The medium below a node.
pub trait Below {
    /// A frame finds the queue of its interface empty. A medium that is free takes it at once; any other gives it back, and
    /// it enters the queue.
    fn offer(&mut self, at: Time, frame: Frame) -> Option<Frame> {
        let _ = at;
        Some(frame)
    }
    /// A frame entered the queue of this interface: [`crate::Node::pull`] takes it as soon as the medium is free.
    fn ready(&mut self, at: Time, iface: IfaceId);
    /// The link address of the neighbour with this IPv6 address, on an interface with [`crate::Resolution::Derived`]; `None` if
    /// there is no such neighbour. Where the medium does not know, addresses with an EUI-64 tell.
    fn link_address(&self, iface: IfaceId, neighbour: Ipv6Addr) -> Option<Mac> {
        let _ = iface;
        wayhop_wire::ipv6::eui64_mac(neighbour)
    }
    /// A protocol wants the packets for this neighbour back: those that the medium has taken with [`crate::Node::pull`]
    /// but can still give back, in order.
    fn recall(&mut self, iface: IfaceId, next_hop: Addr, taken: &mut Vec<Frame>) {
        let _ = (iface, next_hop, taken);
    }
}

/// What a host's own network layer does with a packet that came by an interface.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum HostTakes {
    /// Nothing: the node continues.
    Nothing,
    /// It has the packet.
    Packet,
    /// It is for the host's programs: the node delivers it.
    ForPrograms,
}

/// The applications above a node.
pub trait Above {
    /// Whether the host's network layer takes a packet that came by an interface, before the node looks at it.
    fn host_takes(&mut self, at: Time, packet: &Packet, rx: &RxMeta) -> HostTakes {
        let _ = (at, packet, rx);
        HostTakes::Nothing
    }
    /// Whether an application takes this packet. Asked once for each packet, just before [`Above::deliver`].
    fn listens(&mut self, at: Time, packet: &Packet) -> bool;
    /// Whether the applications may get this packet at all; one that they may not ends as [`DropReason::Policy`].
    fn may_deliver(&mut self, at: Time, packet: &Packet) -> bool {
        let _ = (at, packet);
        true
    }
    /// A packet for an application. What applications send in answer comes by [`crate::Node::originate`], after the call
    /// of the node that led to this one.
    fn deliver(&mut self, at: Time, packet: Packet);
    /// A packet of an application at this node, or of a source outside for which this node's host is a gateway, ended because no route to
    /// its destination was found: its sender is to hear of it (RFC 792, host unreachable).
    fn unreachable(&mut self, at: Time, packet: Packet, why: DropReason);
}

/// Everything that a node needs.
pub trait World: Above + Below {
    /// Packet buffers and lists that the nodes of a world share.
    fn workspace(&mut self) -> &mut Workspace;

    /// Call [`crate::Node::timer`] with this at that time.
    fn schedule_timer(&mut self, at: Time, engine: u8, key: TimerKey);
    /// Call [`crate::Node::frame_due`] with this at that time.
    fn schedule_frame(&mut self, at: Time, stage: Stage, frame: Frame);
    /// Whether one more frame may wait for its delay to pass. Where time is real, a flood must not fill the memory; a
    /// frame that may not wait ends as [`wayhop_core::TxStatus::QueueFull`].
    fn may_wait(&mut self) -> bool {
        true
    }
    /// Whether the books of a host account for each copy of this packet, so that none may wait outside of what
    /// [`crate::Node::held`] and [`crate::Node::inspect`] show.
    fn accounts_for(&self, p: &Packet) -> bool {
        p.meta.flow.is_some()
    }
    /// Call [`crate::Node::resolve_due`] with this at that time.
    fn schedule_resolution(&mut self, at: Time, iface: IfaceId);

    /// The class of a routing packet of which the node takes a limited number from each neighbour; `None` for all others. Asked only
    /// where there are limits. A world that does not know has none.
    fn limited_class(&self, packet: &[u8]) -> Option<u8> {
        let _ = packet;
        None
    }

    /// Something happened to a packet.
    fn record(&mut self, at: Time, packet: &Packet, hop: Hop);
    /// A protocol's remark.
    fn note(&mut self, at: Time, note: TraceNote);
    /// The state in which a protocol sent a packet.
    fn state(&mut self, at: Time, state: SendState);
    /// Whether a route may enter the forwarding table. One that may not leaves the table as it is.
    fn admits(&mut self, at: Time, route: &Route) -> bool {
        let _ = (at, route);
        true
    }
    /// A row of the forwarding table came or changed.
    fn route_installed(&mut self, at: Time, row: &InstalledRoute);
    /// A prefix has no row any more.
    fn route_removed(&mut self, at: Time, destination: Prefix);

    /// Whether [`World::log_input`] and [`World::log_effects`] are wanted.
    fn logs_inputs(&self) -> bool {
        false
    }
    /// An engine is about to be given this, and sees `seen` besides.
    fn log_input(&mut self, at: Time, engine: u8, seen: &InputContext<'_>, input: &Input<'_>) {
        let _ = (at, engine, seen, input);
    }
    /// What the engine asked for in answer.
    fn log_effects(&mut self, effects: &[Effect]) {
        let _ = effects;
    }
}
