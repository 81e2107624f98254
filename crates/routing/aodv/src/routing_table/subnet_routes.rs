//! Routes to subnets (sections 5.2 and 7): who answers for one, and the rows in the host's table.
//!
//! The host forwards by whole addresses, so an address of a subnet gets a row of its own with its first packet, and loses it
//! when the subnet's route changes.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet, Route, Span};
use wayhop_wire::{ipv4, unreachable_for};

use crate::engine::state::Engine;
use crate::routing_table::RouteEntry;
use crate::routing_table::subnet::network;

impl Engine {
    /// Whether this node is the router of a subnet that an address is in; the prefix length.
    pub(crate) fn serves(&self, own: Ipv4Addr, a: Ipv4Addr) -> Option<u8> {
        self.subnets.iter().find(|s| s.router == own && s.contains(a)).map(|s| s.bits)
    }

    /// Whether the answer to a request is another node's: the router's of the subnet that this node and the destination are
    /// in (section 7). Within the subnet each answers for itself, or the router would not find it.
    pub(crate) fn leaves_answer(&self, own: Ipv4Addr, destination: Ipv4Addr, originator: Ipv4Addr) -> bool {
        self.subnets
            .iter()
            .any(|s| s.contains(own) && s.router != own && s.contains(destination) && !s.contains(originator))
    }

    /// The route that this node sends packets for an address by. A subnet router reaches the nodes of its subnet directly: over
    /// others, which have a route to the subnet by way of it, packets would come back.
    pub(crate) fn best(&self, own: Ipv4Addr, a: Ipv4Addr) -> Option<&RouteEntry> {
        let e = self.table.best(a)?;
        (e.next_hop == a || self.serves(own, a).is_none()).then_some(e)
    }

    /// Brings the host's rows in line with an entry that changed, or went.
    pub(crate) fn publish(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr, prefix: u8) {
        if prefix == 0 {
            return self.publish_row(cx, destination);
        }
        let inside = |a: Ipv4Addr| network(a, prefix) == destination;
        let hosts = self.table.iter().filter(|e| e.prefix == 0 && inside(e.destination));
        let covered = self.covered.0.iter().copied().filter(|&a| inside(a));
        let rows: Vec<Ipv4Addr> = hosts.map(|e| e.destination).chain(covered).collect();
        for a in rows {
            self.publish_row(cx, a);
        }
    }

    /// Brings the host's row for an address in line with the route that is taken.
    pub(crate) fn publish_row(&mut self, cx: &mut Cx<'_>, a: Ipv4Addr) {
        // Section 6.13: until the wait is over, packets of others come by `on_outbound` and restart it.
        if self.is_quiet(cx.now()) {
            return cx.uninstall(a);
        }
        let row = self.best(cx.addr(), a).map(|e| (e.next_hop, e.hops, e.prefix > 0));
        match row {
            Some((next_hop, hops, by_subnet)) if !by_subnet || self.covered.add(a) => {
                cx.install(Route::to_host(a, next_hop, hops.into()));
            }
            _ => {
                self.covered.0.retain(|&c| c != a);
                cx.uninstall(a);
            }
        }
    }

    /// A subnet's route is there: it serves all that wait for addresses in it.
    pub(crate) fn subnet_found(&mut self, cx: &mut Cx<'_>, key: Ipv4Addr, bits: u8) {
        for destination in self.buffer.destinations() {
            if network(destination, bits) == key && self.best(cx.addr(), destination).is_some() {
                self.search_ended(cx, destination);
                self.release(cx, destination, Span::ZERO);
            }
        }
    }

    /// Section 7: no node has this address of the own subnet; its source gets a Host Unreachable.
    pub(crate) fn tell_host_unreachable(&mut self, cx: &mut Cx<'_>, p: &Packet) {
        let Some((source, _)) = ipv4::ends(p.bytes()).filter(|&(source, _)| source != cx.addr()) else {
            return;
        };
        let Some(bytes) = unreachable_for(p.bytes(), cx.addr()) else { return };
        let mut answer = cx.alloc(bytes.len());
        answer.bytes_mut().copy_from_slice(&bytes);
        if self.best(cx.addr(), source).is_some() {
            self.route_or_search(cx, answer, cx.addr(), source);
        } else {
            cx.drop(answer, DropReason::NoRoute);
        }
    }
}
