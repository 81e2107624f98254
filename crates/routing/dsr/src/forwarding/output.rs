//! Building packets and sending them (RFC 4728 sections 8.1.1 to 8.1.3).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Decision, DropReason, Packet, Span, TxSpec};
use wayhop_wire::dsr::{self, AddrList, Builder, DsrOption, SourceRoute};
use wayhop_wire::ipv4::{self, protocol};
use wayhop_wire::{Error, checksum};

use crate::cache::Purpose;
use crate::cache::path::{MAX_NODES, Path};
use crate::discovery::origin::Origin;
use crate::discovery::search::Demand;
use crate::engine::state::Engine;
use crate::forwarding::hop::Hop;
use crate::forwarding::priority::LOW_DELAY;
use crate::forwarding::view::View;

impl Engine {
    /// A control packet of this node with these options; `None` when they do not fit.
    pub(crate) fn control(
        &mut self,
        cx: &mut Cx<'_>,
        to: Ipv4Addr,
        options: &[DsrOption<'_>],
    ) -> Option<Packet> {
        let location = self.own_location();
        let mut b = Builder::new(&mut self.scratch, protocol::NO_NEXT_HEADER);
        for o in options {
            b.push(o).ok()?;
        }
        if let Some(l) = location {
            b.push(&l).ok()?;
        }
        let header = b.finish();
        let mut p = cx.alloc(ipv4::HEADER_LEN + header.len());
        let mut repr = ipv4::Repr::new(cx.addr(), to, protocol::DSR, header.len() as u16);
        repr.ttl = self.params.control_ttl;
        repr.tos = if self.params.low_delay_tos { LOW_DELAY } else { 0 };
        repr.id = self.next_ip_id;
        self.next_ip_id = self.next_ip_id.wrapping_add(1);
        repr.emit(p.bytes_mut());
        p.bytes_mut()[ipv4::HEADER_LEN..].copy_from_slice(header);
        Some(p)
    }

    /// Gives a packet an identification of its own.
    pub(crate) fn stamp(&mut self, p: &mut Packet) {
        let id = self.next_ip_id.max(1);
        self.next_ip_id = id.wrapping_add(1);
        let b = p.bytes_mut();
        let sum = u16::from_be_bytes([b[10], b[11]]);
        let sum = checksum::update(sum, u16::from_be_bytes([b[4], b[5]]), id);
        b[4..6].copy_from_slice(&id.to_be_bytes());
        b[10..12].copy_from_slice(&sum.to_be_bytes());
    }

    /// Sends a packet of this node, or keeps it until a route is found.
    pub(crate) fn originate(&mut self, cx: &mut Cx<'_>, p: Packet, to: Ipv4Addr) {
        self.originate_as(cx, p, to, Decision::Cached);
    }

    /// The same, with what the trace shall say of a route that is known.
    pub(crate) fn originate_as(&mut self, cx: &mut Cx<'_>, p: Packet, to: Ipv4Addr, decision: Decision) {
        if self.leads_to(to) && !is_control(&p) {
            // What this node itself tells somebody outside, such as an ICMP error.
            return cx.deliver(p);
        }
        let mut route = Path::EMPTY;
        if self.route_to(cx, to, Purpose::Send, &mut route) {
            return self.send_own(cx, p, &route, decision, Span::ZERO);
        }
        self.hold(cx, p, to, Origin::Own);
        self.seek(cx, to, Demand::New);
    }

    /// Sends a packet of this node along a route; data packets by a flow if flow state is in use.
    pub(crate) fn send_own(
        &mut self,
        cx: &mut Cx<'_>,
        p: Packet,
        route: &Path,
        decision: Decision,
        delay: Span,
    ) {
        let own = ipv4::ends(p.bytes()).is_some_and(|(source, _)| route.first() == Some(source));
        if self.params.flow_state
            && own
            && !is_control(&p)
            && self.flows.suits(route)
            && !route.any_external()
        {
            self.send_in_flow(cx, p, route, delay);
        } else {
            self.send_along(cx, p, route, 0, decision, delay);
        }
    }

    /// Sends a packet along a route that begins at this node. `salvage` is 0 for this node's own packets.
    pub(crate) fn send_by(&mut self, cx: &mut Cx<'_>, p: Packet, route: &Path, salvage: u8, delay: Span) {
        let decision = if salvage > 0 { Decision::Rerouted } else { Decision::Cached };
        self.send_along(cx, p, route, salvage, decision, delay);
    }

    fn send_along(
        &mut self,
        cx: &mut Cx<'_>,
        mut p: Packet,
        route: &Path,
        salvage: u8,
        decision: Decision,
        delay: Span,
    ) {
        let Some(next_hop) = route.next_hop() else { return cx.drop(p, DropReason::NoRoute) };
        if let Some(ratings) = &mut self.ratings {
            ratings.used(route, cx.now());
        }
        let plain = ipv4::Packet::new_checked(p.bytes()).is_ok_and(|ip| ip.protocol() != protocol::DSR);
        let control = View::new(p.bytes()).is_ok_and(|v| self.is_own_kind(&v));
        let located = self.fix.is_some() && self.params.location_option;
        let enters = ipv4::ends(p.bytes()).is_some_and(|(source, _)| self.is_from_outside(source, route));
        let needed = route.hops() > 1
            || salvage > 0
            || enters
            || self.params.source_route_on_one_hop
            || !plain
            || located;
        if needed && self.put_source_route(&mut p, route, salvage, None).is_err() {
            return cx.drop(p, DropReason::TooLong);
        }
        self.transmit(cx, p, Hop { to: next_hop, control, decision, hops: route.hops(), delay });
    }

    /// Writes the Source Route option, and the header around it if there is none.
    /// `timeout_s` puts a Timeout option before it, which announces a flow.
    pub(crate) fn put_source_route(
        &mut self,
        p: &mut Packet,
        route: &Path,
        salvage: u8,
        timeout_s: Option<u16>,
    ) -> Result<(), Error> {
        // Section 8.3.6: the route of a salvaged packet lists the node that salvaged it, as visited.
        let salvaged = salvage > 0;
        let nodes = route.nodes();
        let source = ipv4::Packet::new_checked(p.bytes())?.src();
        let own = source == nodes[0];
        // Section 6.7: so does that of a packet from outside, which came to this node by its first, External hop.
        let enters = !salvaged && self.is_from_outside(source, route);
        let lists_me = salvaged || enters;
        let listed = if lists_me { &nodes[..route.hops()] } else { route.between() };
        debug_assert!(listed.len() < MAX_NODES);
        let option = DsrOption::SourceRoute(SourceRoute {
            first_hop_external: enters || route.first_external() && !salvaged,
            last_hop_external: route.last_external(),
            salvage,
            segments_left: (listed.len() - usize::from(lists_me)) as u8,
            addresses: AddrList::from(listed),
        });
        let mut location = if own { self.own_location() } else { None };
        let header = dsr::edit::parse(p.bytes()).ok().map(|(_, header)| header);
        let next_header = header.map_or(protocol::NO_NEXT_HEADER, |h| h.next_header());
        let mut b = Builder::new(&mut self.scratch, next_header);
        for o in header.iter().flat_map(dsr::Packet::options) {
            match o? {
                DsrOption::SourceRoute(_)
                | DsrOption::Timeout { .. }
                | DsrOption::Pad1
                | DsrOption::PadN(_) => {}
                o @ DsrOption::Location(_) => location = location.or(Some(o)),
                other => b.push(&other)?,
            }
        }
        timeout_s.map_or(Ok(()), |seconds| b.push(&DsrOption::Timeout { seconds }))?;
        b.push(&option)?;
        location.map_or(Ok(()), |l| b.push(&l))?;
        if header.is_some() {
            dsr::edit::replace_header(p, b.finish())
        } else {
            dsr::edit::insert_header(p, b.finish())
        }
    }

    /// Sends a Route Request to all neighbours, after some jitter.
    pub(crate) fn broadcast_request(&mut self, cx: &mut Cx<'_>, p: Packet) {
        let jitter = cx.rng().jitter(self.params.jitter());
        cx.send(p, TxSpec::broadcast().after(jitter));
    }
}

/// Whether nothing follows a packet's DSR header.
fn is_control(p: &Packet) -> bool {
    dsr::edit::parse(p.bytes()).is_ok_and(|(_, d)| d.payload().is_empty())
}
