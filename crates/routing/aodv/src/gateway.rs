//! Destinations outside of the mesh (RFC 3561, section 8).
//!
//! A point of contact to other networks answers for what it leads to, one hop beyond itself: with the Prefix Size of a network of 1 to
//! 30 bits that has nothing in common with the mesh, as a subnet router (section 7), and otherwise for the one address that was
//! asked for, since the format has no default route (Prefix Size 0 is one address).
//!
//! **Numbers.** Nobody outside has a sequence number, and section 8 leaves it to the points of contact to agree. Here each
//! answers with the greatest number that it or the request knows, and 1 if none does, and no break but that of its own way out raises it. So
//! a destination is to AODV like a node with a link to each gateway: of two answers with one number the nearer gateway's
//! counts, and routes are as free of loops as those to nodes.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Outside, Prefix, Span};
use wayhop_wire::aodv::{Rrep, Rreq};

use crate::engine::state::Engine;
use crate::forwarding::head::Head;
use crate::forwarding::output::reply_to;
use crate::maintenance::route_error::Audience;
use crate::routing_table::RouteState;
use crate::routing_table::seq::newest;
use crate::routing_table::subnet::network;

/// The number of what nobody has heard of.
const FIRST: u32 = 1;

impl Engine {
    /// The set of outside destinations behind this node may have changed. Sources whose packets can
    /// no longer leave here are notified at once.
    pub(crate) fn set_outside(&mut self, cx: &mut Cx<'_>, outside: &Outside) {
        let before = self.outside.replace(Box::new(outside.clone()));
        let is_gateway = !outside.reaches.is_empty();
        if is_gateway != before.as_ref().is_some_and(|o| !o.reaches.is_empty()) {
            cx.note("gateway", cx.addr(), is_gateway.into());
        }
        let Some(before) = before else { return };
        let mut audience = Audience::default();
        for i in 0..self.table.len() {
            let destination = self.table.at(i).destination;
            if before.leads_to(destination) && !outside.leads_to(destination) {
                self.invalidate(cx, destination, |seq| seq.map(|s| s.wrapping_add(1)));
                self.report(destination, &mut audience);
            }
        }
        self.send_rerr(cx, audience, false, Span::ZERO);
    }

    /// Whether this node leads to an address.
    pub(crate) fn leads_to(&self, a: Ipv4Addr) -> bool {
        self.outside.as_ref().is_some_and(|o| o.leads_to(a))
    }
    /// Whether this node may keep packets of this source and look for a way: its own, and those that it brings into the mesh.
    pub(crate) fn is_answerable(&self, own: Ipv4Addr, source: Ipv4Addr) -> bool {
        source == own || self.outside.as_ref().is_some_and(|o| !o.reaches.is_empty() && o.is_beyond(source))
    }

    /// The prefix to answer with for an address outside: that of the largest network around it that can be told, or 0.
    fn told_prefix(&self, a: Ipv4Addr) -> u8 {
        let Some(o) = &self.outside else { return 0 };
        let apart = |p: &Prefix| !p.contains(o.mesh.addr) && !o.mesh.contains(p.addr);
        let fits = |p: &&Prefix| p.contains(a) && (1..=30).contains(&p.len) && apart(p);
        o.reaches.iter().filter(fits).map(|p| p.len).min().unwrap_or(0)
    }

    /// Answers a request for an address outside; its hop count is already this node's distance from the originator.
    pub(crate) fn answer_as_gateway(&mut self, cx: &mut Cx<'_>, head: &Head, m: &Rreq) {
        let asked = (!m.unknown_seq).then_some(m.destination_seq);
        let known = [self.table.number(m.destination), asked].into_iter().flatten().reduce(newest);
        let number = known.unwrap_or(FIRST);
        let bits = self.told_prefix(m.destination);
        let key = if bits > 0 { network(m.destination, bits) } else { m.destination };
        // What was heard of other ways is no use here, and its number is this node's to raise.
        if self.table.get(key).is_some_and(|e| e.state != RouteState::Invalid) {
            self.invalidate(cx, key, |seq| seq);
        }
        let lifetime = Span::from_millis(self.params.my_route_timeout_ms);
        let keep = cx.now() + lifetime.max(self.params.delete_period());
        let e = self.entry(cx, key);
        e.seq = Some(e.seq.map_or(number, |own| newest(own, number)));
        e.expires = e.expires.max(keep);
        e.add_precursor(head.source);
        self.table.set_prefix(key, bits);
        self.check_after(cx, keep);
        cx.note("proxy_reply", m.originator, u64::from(m.hop_count) + 1);
        let lifetime_ms = u32::try_from(lifetime.as_millis()).unwrap_or(u32::MAX);
        let reply = Rrep { prefix_size: bits, hop_count: 1, ..reply_to(m, number, lifetime_ms) };
        let back = self.send_reply(cx, reply);
        if let (Some(back), Some(e)) = (back, self.table.get_mut(key)) {
            e.add_precursor(back);
        }
    }
}
