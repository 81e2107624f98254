//! A node at the edge of the mesh: packets through its uplink, in both directions.
//!
//! No engine sends or receives there ([`crate::IfaceConfig::leads_out`]). Towards the outside the
//! node is a router as RFC 1812 has it: it counts the TTL down, and reports unreachable
//! destinations in the mesh to sources outside by ICMP. A packet with a source that belongs to the
//! mesh does not come in, and one for the outside that came from there does not go back (RFC 2827).

use wayhop_core::{
    Addr, Command, DropReason, Input, Outside, Packet, Protocol, Reporting, Route, RxMeta, Time, TxSpec,
};
use wayhop_wire::{ipv4, unreachable_for};

use crate::forward::Ends;
use crate::ipv6_state::is_v6;
use crate::node::{Edge, Node};
use crate::world::World;

impl<P: Protocol> Node<P> {
    /// Tells the node which addresses are the mesh's, and what it leads to: before it starts.
    pub fn set_edge(&mut self, edge: Edge) {
        self.edge = Some(Box::new(edge));
    }

    /// What the node leads to changed while it runs, by its host's doing. Says whether it did.
    pub fn change_outside<W: World>(&mut self, w: &mut W, at: Time, outside: Outside) -> bool {
        let Some(edge) = self.edge.as_mut().filter(|e| e.outside != outside) else { return false };
        edge.outside = outside;
        if self.is_up {
            self.tell_outside(w, at);
        }
        true
    }

    /// Tells it to the engines.
    pub(crate) fn tell_outside<W: World>(&mut self, w: &mut W, at: Time) {
        let Some(edge) = &self.edge else { return };
        let is_cut_off = !edge.routes.is_empty() && edge.routes.iter().all(|r| !self.is_open(r));
        let now = if is_cut_off { edge.outside.cut_off() } else { edge.outside.clone() };
        for e in 0..self.engines.len() as u8 {
            self.call(w, at, e, Input::Command(Command::SetOutside(now.clone())));
            // An engine that takes no part does not care.
            w.workspace().refused = None;
        }
    }

    fn is_open(&self, way: &Route) -> bool {
        self.interfaces.get(way.iface.index()).is_some_and(|i| i.is_up)
    }

    /// The way out to an address outside, if this node has one now.
    pub(crate) fn way_out(&self, to: Addr) -> Option<Route> {
        let edge = self.edge.as_ref().filter(|e| e.outside.leads_to(to))?;
        let ways = edge.routes.iter().filter(|r| r.destination.contains(to) && self.is_open(r));
        ways.max_by_key(|r| r.destination.len).copied()
    }

    /// A packet leaves the mesh.
    pub(crate) fn leave<W: World>(&mut self, w: &mut W, at: Time, p: Packet, way: &Route) {
        let spec = TxSpec::unicast(way.next_hop).on(way.iface);
        self.send_down(w, at, p, &spec, Reporting::Nobody);
    }

    /// An engine hands up a packet, which may be for somebody outside.
    pub(crate) fn deliver_or_leave<W: World>(&mut self, w: &mut W, at: Time, mut p: Packet) {
        let ends = ipv4::ends(p.bytes());
        let Some(way) = ends.and_then(|(_, to)| self.way_out(to.into())) else {
            return self.deliver(w, at, p);
        };
        if ends.is_some_and(|(from, _)| from == self.addr) {
            return self.leave(w, at, p, &way);
        }
        match ipv4::decrement_ttl(p.bytes_mut()) {
            Ok(0) | Err(_) => self.drop_packet(w, at, p, DropReason::TtlExpired),
            Ok(_) => self.leave(w, at, p, &way),
        }
    }

    /// Whether what comes by an interface comes from outside.
    #[inline]
    pub(crate) fn is_from_outside(&self, rx: &RxMeta) -> bool {
        self.edge.is_some() && self.interfaces[rx.iface.index()].config.leads_out
    }

    /// A packet comes from outside.
    pub(crate) fn come_in<W: World>(&mut self, w: &mut W, at: Time, mut p: Packet, rx: &RxMeta) {
        let refuse = if is_v6(p.bytes()) { DropReason::Policy } else { DropReason::Malformed };
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return self.drop_packet(w, at, p, refuse) };
        let ends = Ends { source: ip.src().into(), destination: ip.dst().into() };
        let ttl = ip.ttl();
        if ends.destination == self.addr {
            return self.deliver(w, at, p);
        }
        let goes_through = |o: &Outside| o.is_beyond(ends.source) && !o.leads_to(ends.destination);
        // A host of the mesh at a network outside is no router.
        let may_enter = self.edge.as_ref().is_some_and(|e| !e.routes.is_empty() && goes_through(&e.outside));
        if rx.broadcast || !may_enter || !ends.destination.is_usable() {
            self.drop_packet(w, at, p, DropReason::Policy);
        } else if ttl <= 1 {
            self.drop_packet(w, at, p, DropReason::TtlExpired);
        } else if ipv4::decrement_ttl(p.bytes_mut()).is_ok() {
            self.route(w, at, p, &ends, None);
        } else {
            self.drop_packet(w, at, p, DropReason::Malformed);
        }
    }

    /// Whether a packet came from outside by way of this node's host, by which an answer goes back.
    #[inline]
    pub(crate) fn is_brought_by_host(&self, packet: &[u8]) -> bool {
        let Some(edge) = self.edge.as_ref().filter(|e| e.routes.is_empty()) else { return false };
        ipv4::ends(packet).is_some_and(|(from, _)| edge.outside.leads_to(Addr::from(from)))
    }

    /// Tells a source outside that a packet found no way through the mesh.
    #[cold]
    pub(crate) fn tell_source_outside<W: World>(&mut self, w: &mut W, at: Time, packet: &[u8]) {
        let Some((from, _)) = ipv4::ends(packet) else { return };
        let Some(way) = self.way_out(from.into()) else { return };
        let Some(bytes) = unreachable_for(packet, self.addr) else { return };
        let meta = w.workspace().new_meta(at);
        let answer = w.workspace().pool.packet(&bytes, meta);
        self.leave(w, at, answer, &way);
    }
}
