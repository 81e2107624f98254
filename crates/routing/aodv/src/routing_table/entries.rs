//! Entries of the routing table: created, evicted, and those of neighbours that were heard.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Span, Time};

use crate::engine::state::Engine;
use crate::routing_table::RouteEntry;

impl Engine {
    /// The entry for a destination. A full table loses its least useful row.
    pub(crate) fn entry(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) -> &mut RouteEntry {
        let place = self.place(cx, destination);
        self.table.at_mut(place)
    }

    /// The place of that entry, until one is forgotten.
    pub(crate) fn place(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) -> usize {
        self.table.find(destination).unwrap_or_else(|| {
            if self.table.len() >= self.params.max_routes.max(1)
                && let Some(victim) = self.table.least_useful()
            {
                self.forget(cx, victim);
            }
            let expires = cx.now() + self.params.delete_period();
            self.check_after(cx, expires);
            self.table.add(destination, expires);
            self.table.len() - 1
        })
    }

    /// Deletes an entry.
    pub(crate) fn forget(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let Some(e) = self.table.get(destination) else { return };
        let (prefix, was_valid) = (e.prefix, e.is_valid());
        self.table.remove(destination);
        if was_valid || prefix > 0 {
            self.publish(cx, destination, prefix);
        }
    }

    /// Makes sure of a route to a neighbour that was heard, with an unknown number (sections 6.5 and 6.7). What is known
    /// better stays.
    pub(crate) fn touch_neighbour(&mut self, cx: &mut Cx<'_>, neighbour: Ipv4Addr) {
        if !self.params.neighbour_routes {
            return;
        }
        let until = cx.now() + self.params.active_route_timeout();
        let place = self.place(cx, neighbour);
        self.direct_route(cx, place, until);
    }

    /// A route of one hop, to the neighbour with the entry at this place, that lasts at least until then.
    pub(crate) fn direct_route(&mut self, cx: &mut Cx<'_>, place: usize, until: Time) {
        let e = self.table.at_mut(place);
        let neighbour = e.destination;
        let is_direct = |e: &RouteEntry| e.next_hop == neighbour;
        if e.is_valid() && (is_direct(e) || e.seq.is_some()) {
            if is_direct(e) {
                e.extend(until);
            }
            return;
        }
        let was_searched = e.search().is_on();
        self.make_valid(cx, place, neighbour, 1, until);
        if was_searched {
            self.search_ended(cx, neighbour);
        }
        self.release(cx, neighbour, Span::ZERO);
    }
}
