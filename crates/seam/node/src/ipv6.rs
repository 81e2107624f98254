//! IPv6 at the node: its addresses, packets from applications and from the medium, forwarding, and errors.
//!
//! A packet goes by the longest prefix of the forwarding table, which has static routes and those of engines that want
//! [`wayhop_core::Interests::ipv6`]. Without a route it is such an engine's; without such an engine the node does as hosts do
//! (RFC 4861, section 5.2): what is in its own prefix, and what is link-local, is a neighbour.

use std::net::Ipv6Addr;

use wayhop_core::{
    Addr, DataPlane, DropReason, HopKind, IfaceId, Input, Packet, Prefix, Protocol, Reporting, RxMeta, Span,
    Time, TxSpec,
};
use wayhop_wire::ipv6::{self, next_header};
use wayhop_wire::{QUOTED6, icmpv6, ip, may_answer6};

use crate::forward::Ends;
use crate::ipv6_state::{Ipv6, is_v6};
use crate::node::Node;
use crate::world::{Hop, World};

/// The least time between two ICMPv6 errors of a node (RFC 4443, section 2.4 (f), wants a limit).
const ERROR_EVERY: Span = Span::from_millis(10);

impl<P> Node<P> {
    /// Gives the node an IPv6 address in a prefix of this length, which all its interfaces share; each has its link-local
    /// address besides.
    pub fn set_ipv6(&mut self, addr: Ipv6Addr, prefix_len: u8) {
        let on_link = Prefix::around(addr, prefix_len);
        self.v6 = Some(Box::new(Ipv6 { addr, on_link, next_error: Time::ZERO }));
    }
    /// The node's IPv6 address, if it has one.
    pub fn addr6(&self) -> Option<Ipv6Addr> {
        self.v6.as_ref().map(|v6| v6.addr)
    }
    /// The link-local address of an interface.
    pub fn link_local(&self, iface: IfaceId) -> Ipv6Addr {
        ipv6::link_local(self.mac(iface))
    }
    /// Whether an address is this node's on that interface.
    pub(crate) fn has_addr6(&self, a: Ipv6Addr, iface: IfaceId) -> bool {
        self.v6.as_ref().is_some_and(|v6| v6.addr == a) || a == self.link_local(iface)
    }
    /// Whether an address is this node's on any interface.
    pub(crate) fn has_own(&self, a: Addr) -> bool {
        let any =
            |a: Ipv6Addr| (0..self.interfaces.len()).any(|i| self.has_addr6(a, crate::interface::id(i)));
        a == self.addr || self.v6.is_some() && a.v6().is_some_and(any)
    }
    /// Whether a packet says that it is from this node.
    pub(crate) fn is_from_here(&self, packet: &[u8]) -> bool {
        if is_v6(packet) {
            return ipv6::Packet::new_checked(packet).is_ok_and(|ip| self.has_own(ip.src().into()));
        }
        // Only the source is looked at: each packet on its way down comes here, and engines make no broken ones.
        packet.get(12..16) == Some(&self.addr.octets())
    }
    fn is_neighbour(&self, a: Addr) -> bool {
        let link_local = a.v6().is_some_and(ipv6::is_link_local);
        link_local || self.v6.as_ref().is_some_and(|v6| v6.on_link.contains(a))
    }
}

impl<P: Protocol> Node<P> {
    /// The engine that gets IPv6 packets without a route.
    fn router6(&self) -> Option<u8> {
        self.engines.iter().position(|e| e.interests.ipv6).map(|e| e as u8)
    }

    /// A packet of an application that is not of IPv4.
    pub(crate) fn originate6<W: World>(&mut self, w: &mut W, at: Time, p: Packet) {
        let ends = match ip::Packet::new_checked(p.bytes()) {
            Ok(ip) if self.v6.is_some() && !ip.dst.is_v4() => Ends { source: ip.src, destination: ip.dst },
            _ => return self.drop_packet(w, at, p, DropReason::Malformed),
        };
        if self.has_own(ends.destination) {
            self.deliver(w, at, p);
        } else {
            self.route6(w, at, p, &ends, None);
        }
    }

    /// An IPv6 packet from the medium.
    pub(crate) fn take6<W: World>(&mut self, w: &mut W, at: Time, mut p: Packet, rx: RxMeta) {
        let Ok(ip) = ip::Packet::new_checked(p.bytes()) else {
            return self.drop_packet(w, at, p, DropReason::Malformed);
        };
        let (source, destination, ttl) = (ip.src, ip.dst, ip.ttl);
        if self.v6.is_none() {
            return self.drop_packet(w, at, p, DropReason::NoListener);
        }
        let for_me = destination.v6().is_some_and(|a| self.has_addr6(a, rx.iface) || self.is_in(a, rx.iface));
        let wants = |e: u8| self.engines[usize::from(e)].interests.ipv6;
        let listener =
            if for_me { self.sockets.engine_for(ip.protocol, ip.payload, rx.iface, wants) } else { None };
        let handler = self.engines.iter().position(|e| e.interests.ipv6 && e.plane == DataPlane::PerPacket);
        let link_local = [source, destination].iter().any(|a| a.v6().is_some_and(ipv6::is_link_local));
        if let Some(engine) = listener.or(handler.map(|e| e as u8)) {
            self.call(w, at, engine, Input::Frame(p, rx));
        } else if for_me {
            self.deliver(w, at, p);
        } else if rx.broadcast || destination.is_multicast() || link_local {
            // RFC 4291, section 2.5.6: link-local addresses stay on their link.
            self.drop_packet(w, at, p, DropReason::Policy);
        } else if self.has_own(source) {
            self.drop_packet(w, at, p, DropReason::Loop);
        } else if ttl <= 1 {
            self.error6(w, at, &p, |original| icmpv6::Repr::TimeExceeded { code: 0, original });
            self.drop_packet(w, at, p, DropReason::TtlExpired);
        } else if ipv6::decrement_hop_limit(p.bytes_mut()).is_ok() {
            self.route6(w, at, p, &Ends { source, destination }, Some(rx.from));
        } else {
            self.drop_packet(w, at, p, DropReason::Malformed);
        }
    }

    /// Whether this node is in a multicast group on an interface.
    fn is_in(&self, group: Ipv6Addr, iface: IfaceId) -> bool {
        let solicited = |a: Ipv6Addr| ipv6::solicited_node(a) == group;
        group == ipv6::ALL_NODES
            || self.addr6().is_some_and(solicited)
            || solicited(self.link_local(iface))
            || self.sockets.has_joined(group.into(), iface)
    }

    /// A packet that is not for this node goes on.
    fn route6<W: World>(&mut self, w: &mut W, at: Time, p: Packet, ends: &Ends, previous_hop: Option<Addr>) {
        let to = ends.destination;
        if let Some(hit) = self.table.look_up(to) {
            self.send_by(w, at, p, ends, hit, previous_hop);
        } else if let Some(engine) = self.router6() {
            self.call(w, at, engine, Input::Outbound(p));
        } else if to.is_multicast() {
            // To the neighbours: there is nobody who would route it further.
            self.send_down(w, at, p, &TxSpec::unicast(Addr::BROADCAST), Reporting::Nobody);
        } else if self.is_neighbour(to) {
            self.send_down(w, at, p, &TxSpec::unicast(to), Reporting::Nobody);
        } else {
            let code = icmpv6::unreachable_code::NO_ROUTE;
            self.error6(w, at, &p, |original| icmpv6::Repr::DestinationUnreachable { code, original });
            self.drop_packet(w, at, p, DropReason::NoRoute);
        }
    }

    /// A packet is too long for the interface it was to leave by: its source is told (RFC 4443, section 3.2).
    pub(crate) fn too_big<W: World>(&mut self, w: &mut W, at: Time, p: &Packet, mtu: usize) {
        self.error6(w, at, p, |original| icmpv6::Repr::PacketTooBig { mtu: mtu as u32, original });
    }

    /// Sends an ICMPv6 error about a packet to its source, if that is another node and may be told.
    fn error6<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        about: &Packet,
        message: impl for<'a> FnOnce(&'a [u8]) -> icmpv6::Repr<'a>,
    ) {
        let Ok(ip) = ipv6::Packet::new_checked(about.bytes()) else { return };
        let destination = ip.src();
        let Some(v6) = self.v6.as_deref().filter(|v6| at >= v6.next_error) else { return };
        let source = v6.addr;
        let message = message(ip.start(QUOTED6));
        let too_big = matches!(message, icmpv6::Repr::PacketTooBig { .. });
        if !may_answer6(&ip, too_big) || self.has_own(destination.into()) {
            return;
        }
        let len = message.buffer_len();
        let mut p = w.workspace().new_packet(at, ipv6::HEADER_LEN + len);
        ipv6::Repr::new(source, destination, next_header::ICMPV6, len as u16).emit(p.bytes_mut());
        message.emit(&mut p.bytes_mut()[ipv6::HEADER_LEN..], source, destination);
        if let Some(v6) = self.v6.as_deref_mut() {
            v6.next_error = at + ERROR_EVERY;
        }
        w.record(at, &p, Hop { kind: HopKind::Originate, ..Hop::HERE });
        let ends = Ends { source: source.into(), destination: destination.into() };
        self.route6(w, at, p, &ends, None);
    }
}
