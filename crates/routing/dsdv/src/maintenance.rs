//! Broken links, and the routes over them.

use std::net::Ipv4Addr;

use wayhop_core::Cx;

use crate::engine::state::Engine;

impl Engine {
    /// A link is broken: every route over it is lost, and that is told at once.
    pub(crate) fn link_broken(&mut self, cx: &mut Cx<'_>, neighbour: Ipv4Addr) {
        let now = cx.now();
        let over = |e: &crate::routing_table::RouteEntry| e.is_valid() && e.next_hop == neighbour;
        let lost: Vec<Ipv4Addr> = self.table.iter().filter(|(_, e)| over(e)).map(|(a, _)| a).collect();
        for &destination in &lost {
            self.lose(cx, destination);
            if let Some(e) = self.table.get_mut(destination) {
                e.tell_seq = true;
                e.tell_soon(now);
            }
        }
        if let Some(e) = self.table.get_mut(neighbour) {
            e.silent_at = None;
            e.sends_hellos = false;
        }
        cx.note("link_broken", neighbour, lost.len() as u64);
        self.set_trigger_timer(cx);
    }

    /// Ends a route under an odd number, and takes it from the host.
    fn lose(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let now = cx.now();
        let Some(e) = self.table.get_mut(destination).filter(|e| e.is_valid()) else { return };
        cx.note("route_broken", destination, e.hops.into());
        e.lose(now);
        self.publish(cx, destination);
        self.check_at(cx, now + self.params.delete_period());
    }

    /// Ends the route to a destination, or all. Their numbers stay, for without them routes could loop; the next update tells.
    pub(crate) fn purge(&mut self, cx: &mut Cx<'_>, destination: Option<Ipv4Addr>) {
        let meant = |a: Ipv4Addr| destination.is_none_or(|d| d == a);
        let all: Vec<Ipv4Addr> = self.table.iter().map(|(a, _)| a).filter(|&a| meant(a)).collect();
        for a in all {
            self.lose(cx, a);
        }
    }
}
