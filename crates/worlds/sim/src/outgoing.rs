//! What hosts send: the way from their programs and their network layer to their nodes.

use std::net::Ipv4Addr;

use wayhop_core::{Addr, HopKind, IfaceId, Mac, NetworkInput, Packet, Time};
use wayhop_node::{Hop, World as _};
use wayhop_wire::arp;

use crate::net::Net;
use crate::network_layer::HostRoute;
use crate::world::SimulationWorld;

/// Something that a host sends, or a change of its interfaces in the order of what it sends.
pub(crate) enum Outgoing {
    /// A packet of a program.
    Originate(Packet),
    /// A packet that the host passes on.
    Forward(Packet),
    /// A packet for a neighbour, or for all.
    By(Packet, IfaceId, Addr),
    /// An ARP message.
    Arp(IfaceId, Mac, arp::Repr),
    /// An interface has this address of its own.
    Address(IfaceId, Option<Ipv4Addr>),
}

impl Net {
    /// A host sends something.
    pub(crate) fn send_out(&mut self, at: Time, node: u32, what: Outgoing) {
        let n = &mut self.nodes[node as usize];
        let w = &mut SimulationWorld { common: &mut self.common, node };
        let (p, is_new) = match what {
            Outgoing::Originate(p) => (p, true),
            Outgoing::Forward(p) => (p, false),
            Outgoing::By(p, iface, next_hop) => return n.send_to_neighbour(w, at, p, (iface, next_hop)),
            Outgoing::Arp(iface, to, message) => return n.send_arp(w, at, iface, to, message),
            Outgoing::Address(iface, addr) => return n.set_interface_address(iface, addr),
        };
        let route = w.common.host_route(node, p.bytes());
        if matches!(route, HostRoute::Node) || !n.is_up() {
            return if is_new { n.originate(w, at, p) } else { n.forward(w, at, p) };
        }
        if is_new {
            w.record(at, &p, Hop { kind: HopKind::Originate, ..Hop::HERE });
        }
        match route {
            HostRoute::By(iface, next_hop) => n.send_to_neighbour(w, at, p, (iface, next_hop)),
            HostRoute::Tunnel(number) => {
                w.common.network_input(at, number, NetworkInput::Outbound(p.bytes().into()), Some(&p));
                w.common.work.pool.recycle(p);
            }
            HostRoute::Here | HostRoute::Node => n.hand_up(w, at, p),
        }
    }
}
