//! What happens when a link breaks (RFC 4728 sections 8.3 and 3.4.2).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Packet};
use wayhop_wire::ipv4::{self, protocol};

use crate::engine::state::Engine;
use crate::flow_state::flow_header;
use crate::forwarding::view::View;
use crate::maintenance::broken::BrokenLink;

impl Engine {
    /// The MAC gave up sending `p` to `next_hop`.
    pub(crate) fn on_broken_link(&mut self, cx: &mut Cx<'_>, p: Packet, next_hop: Ipv4Addr, tries: u8) {
        let me = cx.addr();
        cx.note("link_broken", next_hop, tries.into());
        self.cache.remove_link(me, next_hop);
        self.links.failed(cx, me, next_hop);
        self.watch_lost(next_hop);
        self.flows.remove_link(me, me, next_hop);
        let again = self.broken.as_ref().is_some_and(|b| b.next_hop == next_hop && b.at == cx.now());
        if !again {
            self.broken = Some(BrokenLink { next_hop, at: cx.now(), told: Vec::new() });
        }
        if View::new(p.bytes()).is_ok_and(|v| v.has_reply || v.request.is_some()) && self.params.blacklist {
            // The neighbour was heard - its request came through - but does not answer (sections 4.6 and 8.2.6).
            self.blacklist.add(next_hop, cx.now());
        }
        self.fail(cx, p, next_hop, true);
        cx.recall(next_hop);
    }

    /// A packet that waited for a broken link comes back (section 3.4.2).
    pub(crate) fn on_recalled(&mut self, cx: &mut Cx<'_>, p: Packet, next_hop: Ipv4Addr) {
        let tell = self.params.error_to_queued_sources;
        self.fail(cx, p, next_hop, tell);
    }

    /// Tells the node that chose a packet's route, once for a broken link, and tries to save the packet.
    fn fail(&mut self, cx: &mut Cx<'_>, mut p: Packet, next_hop: Ipv4Addr, tell: bool) {
        // Section 8.6.7: a salvaged packet has no Flow State header.
        let state = flow_header::take(&mut p);
        let plain = ipv4::Packet::new_checked(p.bytes()).is_ok_and(|ip| ip.protocol() != protocol::DSR);
        let by_flow = if plain && self.params.flow_state { self.way_of_flow(cx, &p, state) } else { None };
        let v = View::new(p.bytes()).ok();
        if v.is_some_and(|v| v.request.is_some()) {
            // A probe of a neighbour whose link may be unidirectional.
            return cx.consume(p);
        }
        if v.is_some_and(|v| v.source_route.is_none() && v.has_error && v.is_control()) {
            return self.on_flow_error_lost(cx, p);
        }
        let way = v.and_then(|v| v.way()).or(by_flow).filter(|w| w.ahead()[0] == next_hop);
        let error = match way {
            Some(w) if tell && self.is_untold(w.chosen_by().0.unwrap_or(w.nodes.nodes()[0])) => {
                self.error_for(cx, v.as_ref(), &w, next_hop)
            }
            _ => None,
        };
        let error = error.map(|(mut e, back)| {
            if v.is_none_or(|v| !self.is_own_kind(&v)) {
                self.load_notice(cx, &mut e, &p);
            }
            (e, back)
        });
        if self.params.error_before_salvage {
            if let Some(e) = error {
                self.send_error(cx, e);
            }
            self.save(cx, p, Some(next_hop));
        } else {
            self.save(cx, p, Some(next_hop));
            if let Some(e) = error {
                self.send_error(cx, e);
            }
        }
    }

    /// Whether a node has yet to learn that the link broke.
    fn is_untold(&mut self, a: Ipv4Addr) -> bool {
        match &mut self.broken {
            Some(b) if b.told.contains(&a) => false,
            Some(b) => {
                b.told.push(a);
                true
            }
            None => true,
        }
    }
}
