//! Services of a host's network layer besides the engines, for applications that are part of it:
//! packets by a chosen interface, ARP, and an address that moves.

use std::net::Ipv4Addr;

use wayhop_core::{
    Addr, DropReason, Frame, HopKind, IfaceId, Mac, Packet, Protocol, Reporting, Time, TxSpec,
};
use wayhop_wire::arp;
use wayhop_wire::ipv4;

use crate::forward::Ends;
use crate::node::Node;
use crate::world::{Hop, World};

impl<P: Protocol> Node<P> {
    /// A packet goes to the applications of this node.
    pub fn hand_up<W: World>(&mut self, w: &mut W, at: Time, p: Packet) {
        self.deliver(w, at, p);
        self.settle(w, at);
    }

    /// A packet that came to the host by a way of its own goes on by the node's routes.
    pub fn forward<W: World>(&mut self, w: &mut W, at: Time, p: Packet) {
        match ipv4::ends(p.bytes()) {
            Some((_, to)) if to == self.addr => self.deliver(w, at, p),
            Some((from, to)) => {
                self.route(w, at, p, &Ends { source: from.into(), destination: to.into() }, None);
            }
            None => self.drop_packet(w, at, p, DropReason::Malformed),
        }
        self.settle(w, at);
    }

    /// A frame of the host's own network stack, which knows the link address that it is for, enters the interface queue.
    pub fn send_frame<W: World>(&mut self, w: &mut W, at: Time, frame: Frame, kind: HopKind) {
        let frame = Frame { life: self.life, ..frame };
        if !self.is_up {
            return self.end_with_node(w, at, frame);
        }
        let Frame { next_hop: peer, iface, .. } = frame;
        w.record(at, &frame.packet, Hop { kind, peer, iface, ..Hop::HERE });
        if frame.packet.len() > self.interfaces[iface.index()].config.mtu {
            self.drop_packet(w, at, frame.packet, DropReason::TooLong);
        } else {
            self.enqueue(w, at, frame);
        }
        self.settle(w, at);
    }

    /// A packet leaves by an interface, to a neighbour or to all.
    pub fn send_to_neighbour<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        p: Packet,
        (iface, next_hop): (IfaceId, Addr),
    ) {
        self.send_down(w, at, p, &TxSpec::unicast(next_hop).on(iface), Reporting::Nobody);
        self.settle(w, at);
    }

    /// An ARP message leaves by an interface.
    pub fn send_arp<W: World>(&mut self, w: &mut W, at: Time, iface: IfaceId, to: Mac, message: arp::Repr) {
        let next_hop = if to == Mac::BROADCAST { Addr::BROADCAST } else { message.target.into() };
        let frame = self.arp_frame(w, at, message, iface, (next_hop, to));
        self.go_on(w, at, frame);
        self.settle(w, at);
    }

    /// An interface has an address of its own besides the node's, or no more: there it answers for it, and asks in its name.
    pub fn set_interface_address(&mut self, iface: IfaceId, addr: Option<Ipv4Addr>) {
        self.interfaces[iface.index()].addr = addr;
    }
}
