//! Packets from applications and from the medium: delivered, given to an engine, or forwarded.

use wayhop_core::{
    Addr, BROADCAST, DataPlane, DropReason, HopKind, IfaceId, Input, Mac, Packet, Protocol, Reporting,
    RouteUse, RxMeta, Time, TxSpec,
};
use wayhop_wire::ipv4;

use crate::engine::Engine;
use crate::ipv6_state::is_v6;
use crate::node::Node;
use crate::rates::Counted;
use crate::table::{Hit, InstalledRoute};
use crate::world::{Hop, HostTakes, World};

/// What forwarding needs of an IP header.
pub(crate) struct Ends {
    pub(crate) source: Addr,
    pub(crate) destination: Addr,
}

impl<P: Protocol> Node<P> {
    /// A packet of an application at this node goes on its way. What is not IP, or IPv6 at a node without an IPv6 address, ends
    /// as `MALFORMED`.
    pub fn originate<W: World>(&mut self, w: &mut W, at: Time, p: Packet) {
        w.record(at, &p, Hop { kind: HopKind::Originate, ..Hop::HERE });
        if !self.is_up {
            return self.drop_packet(w, at, p, DropReason::NodeDown);
        }
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else {
            self.originate6(w, at, p);
            return self.settle(w, at);
        };
        let ends = Ends { source: ip.src().into(), destination: ip.dst().into() };
        if ends.destination == self.addr {
            self.deliver(w, at, p);
        } else if ends.destination == BROADCAST
            && self.engines.iter().all(|e| e.plane == DataPlane::Forwarding)
        {
            // RFC 1122 section 3.2.1.3: for the hosts next to this one, whatever the routes; nobody forwards it.
            self.send_down(w, at, p, &TxSpec::unicast(BROADCAST), Reporting::Nobody);
        } else {
            self.route(w, at, p, &ends, None);
        }
        self.settle(w, at);
    }

    /// A packet that a kernel with a copy of the forwarding table found no route for.
    pub fn missed<W: World>(&mut self, w: &mut W, at: Time, p: Packet) {
        if self.is_up {
            self.outbound(w, at, p);
            self.settle(w, at);
        } else {
            self.drop_packet(w, at, p, DropReason::NodeDown);
        }
    }

    /// A packet that is not for this node goes on: by an engine that handles every packet, or by the forwarding table.
    pub(crate) fn route<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        p: Packet,
        ends: &Ends,
        previous_hop: Option<Addr>,
    ) {
        if self.edge.is_some()
            && let Some(way) = self.way_out(ends.destination)
        {
            if previous_hop.is_some() && self.interests().arrivals {
                self.arrived(w, at, ends.source, IfaceId::ANY, previous_hop);
            }
            return self.leave(w, at, p, &way);
        }
        let hit = match &self.engines[..] {
            [only] if only.plane == DataPlane::PerPacket => None,
            _ => self.table.look_up(ends.destination),
        };
        match hit {
            Some(hit) => self.send_by(w, at, p, ends, hit, previous_hop),
            None => self.outbound(w, at, p),
        }
    }

    /// A packet leaves by a row of the forwarding table.
    pub(crate) fn send_by<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        p: Packet,
        ends: &Ends,
        hit: Hit,
        previous_hop: Option<Addr>,
    ) {
        let Hit { next_hop, iface, owner } = hit;
        let spec = TxSpec::unicast(next_hop).on(iface);
        if owner == InstalledRoute::STATIC {
            return self.send_down(w, at, p, &spec, Reporting::Nobody);
        }
        if self.engines[usize::from(owner)].interests.route_used {
            let Ends { source, destination } = *ends;
            let used = RouteUse { source, destination, next_hop, iface, previous_hop };
            self.call(w, at, owner, Input::RouteUsed(used));
        }
        self.send_down(w, at, p, &spec, Reporting::Route(owner));
    }

    /// A packet without a route: for the first engine.
    fn outbound<W: World>(&mut self, w: &mut W, at: Time, p: Packet) {
        let taker = self.engines.iter().position(|e| e.plane == DataPlane::PerPacket).unwrap_or(0);
        if self.engines.is_empty() {
            return self.drop_packet(w, at, p, DropReason::NoRoute);
        }
        self.call(w, at, taker as u8, Input::Outbound(p));
    }

    /// A packet from the medium reaches the network layer.
    pub fn receive<W: World>(&mut self, w: &mut W, at: Time, p: Packet, rx: RxMeta) {
        self.receive_from(w, at, p, rx, None);
    }

    /// The same from this link address; without one, the address that follows from the transmitter's. At a node with keys, the
    /// neighbour is learned if it is verified.
    pub fn receive_from<W: World>(&mut self, w: &mut W, at: Time, p: Packet, rx: RxMeta, mac: Option<Mac>) {
        if !self.is_up {
            return self.drop_packet(w, at, p, DropReason::NodeDown);
        }
        let RxMeta { from: peer, iface, signal_dbm, .. } = rx;
        w.record(at, &p, Hop { kind: HopKind::Receive, peer, iface, signal_dbm, reason: None });
        match w.host_takes(at, &p, &rx) {
            HostTakes::Nothing => {}
            HostTakes::Packet => {
                w.workspace().pool.recycle(p);
                return self.settle(w, at);
            }
            HostTakes::ForPrograms => return self.hand_up(w, at, p),
        }
        if self.is_from_outside(&rx) {
            self.come_in(w, at, p, &rx);
            return self.settle(w, at);
        }
        if !self.must_verify(p.bytes()) {
            self.receive_verified(w, at, p, rx);
        } else if let Some((p, rx)) = self.admit(w, at, p, rx, mac) {
            // Only now the neighbour's packets are counted: who forges its address does not use up its share.
            self.receive_verified(w, at, p, rx);
        }
        self.settle(w, at);
    }

    /// A packet came that is verified, or need not be.
    fn receive_verified<W: World>(&mut self, w: &mut W, at: Time, p: Packet, rx: RxMeta) {
        if self.interfaces.len() > 1 {
            self.hear(at, rx.from, rx.iface);
        }
        if self.is_within_limits(w, at, p.bytes(), &rx, Counted::Routing) {
            self.take(w, at, p, rx);
        } else {
            self.drop_packet(w, at, p, DropReason::RateLimit);
        }
    }

    /// Counts a routing packet of a neighbour, and says whether it is one too many. Other packets are not limited.
    fn is_within_limits<W: World>(
        &mut self,
        w: &W,
        at: Time,
        packet: &[u8],
        rx: &RxMeta,
        what: impl FnOnce(u8) -> Counted,
    ) -> bool {
        let iface = &mut self.interfaces[rx.iface.index()];
        if !iface.limits_routing() {
            return true;
        }
        w.limited_class(packet).is_none_or(|class| iface.admits(at, rx.from, what(class)))
    }

    fn take<W: World>(&mut self, w: &mut W, at: Time, mut p: Packet, rx: RxMeta) {
        if is_v6(p.bytes()) {
            return self.take6(w, at, p, rx);
        }
        if let [only] = &self.engines[..]
            && only.plane == DataPlane::PerPacket
        {
            return self.call(w, at, 0, Input::Frame(p, rx));
        }
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else {
            return self.drop_packet(w, at, p, DropReason::Malformed);
        };
        let ends = Ends { source: ip.src().into(), destination: ip.dst().into() };
        let for_me = ends.destination == self.addr
            || ends.destination == BROADCAST
            || ends.destination.is_multicast() && self.sockets.has_joined(ends.destination, rx.iface);
        // A subnet's broadcast address is nobody's here; the link tells that the frame was one to all.
        let listener = if for_me || rx.broadcast {
            self.sockets.engine_for(ip.protocol(), ip.payload(), rx.iface, |_| true)
        } else {
            None
        };
        let ttl = ip.ttl();
        if let Some(engine) = listener {
            self.call(w, at, engine, Input::Frame(p, rx));
        } else if let Some(e) = self.engines.iter().position(|e| e.plane == DataPlane::PerPacket) {
            self.call(w, at, e as u8, Input::Frame(p, rx));
        } else if for_me {
            if !rx.broadcast && self.interests().arrivals {
                self.arrived(w, at, ends.source, rx.iface, Some(rx.from));
            }
            self.deliver(w, at, p);
        } else if rx.broadcast {
            // RFC 1812 5.3.4: what came as a link broadcast is not forwarded as a unicast.
            self.drop_packet(w, at, p, DropReason::Policy);
        } else if ends.source == self.addr {
            self.drop_packet(w, at, p, DropReason::Loop);
        } else if ttl <= 1 {
            self.drop_packet(w, at, p, DropReason::TtlExpired);
        } else if ipv4::decrement_ttl(p.bytes_mut()).is_ok() {
            self.route(w, at, p, &ends, Some(rx.from));
        } else {
            self.drop_packet(w, at, p, DropReason::Malformed);
        }
    }

    /// A packet for somebody else was heard in promiscuous mode.
    pub fn overhear<W: World>(&mut self, w: &mut W, at: Time, packet: &[u8], next_hop: Addr, rx: RxMeta) {
        self.overhear_from(w, at, packet, next_hop, rx, None);
    }

    /// The same from this link address.
    pub fn overhear_from<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        packet: &[u8],
        next_hop: Addr,
        mut rx: RxMeta,
        mac: Option<Mac>,
    ) {
        if !self.must_verify(packet) {
            return self.overhear_verified(w, at, packet, next_hop, rx);
        }
        if self.is_up
            && let Some(p) = self.overheard_copy(w, at, packet, next_hop, &mut rx, mac)
        {
            self.overhear_verified(w, at, p.bytes(), next_hop, rx);
            w.workspace().pool.recycle(p);
        }
    }

    fn overhear_verified<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        packet: &[u8],
        next_hop: Addr,
        rx: RxMeta,
    ) {
        if !self.is_up || !self.is_within_limits(w, at, packet, &rx, |_| Counted::Overheard) {
            return;
        }
        for e in 0..self.engines.len() as u8 {
            let Engine { interests, protocol, .. } = &self.engines[usize::from(e)];
            if !interests.overhear || !interests.ipv6 && is_v6(packet) {
                continue;
            }
            // A log has all that the medium brings: it may be replayed with other parameters.
            if protocol.wants_overheard(packet) || w.logs_inputs() {
                self.call(w, at, e, Input::Overheard { packet: packet.into(), next_hop, rx });
            } else {
                // Its clock is where the call would have left it.
                self.clock = self.clock.max(at);
            }
        }
    }

    /// A packet for this node came from this neighbour.
    fn arrived<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        source: Addr,
        iface: IfaceId,
        previous_hop: Option<Addr>,
    ) {
        let own = Addr::from(self.addr);
        let used = RouteUse { source, destination: own, next_hop: own, iface, previous_hop };
        for e in 0..self.engines.len() as u8 {
            if self.engines[usize::from(e)].interests.arrivals {
                self.call(w, at, e, Input::RouteUsed(used));
            }
        }
    }

    /// A kernel with a copy of the forwarding table forwarded a packet by it, or a packet for this node came.
    pub fn route_used<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        source: Addr,
        destination: Addr,
        previous_hop: Option<Addr>,
    ) {
        if destination == self.addr {
            return self.arrived(w, at, source, IfaceId::ANY, previous_hop);
        }
        let Some(hit) = self.table.look_up(destination).filter(|hit| hit.owner != InstalledRoute::STATIC)
        else {
            return;
        };
        if self.engines[usize::from(hit.owner)].interests.route_used {
            let (next_hop, iface) = (hit.next_hop, hit.iface);
            let used = RouteUse { source, destination, next_hop, iface, previous_hop };
            self.call(w, at, hit.owner, Input::RouteUsed(used));
        }
    }
}
