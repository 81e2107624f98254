//! Destinations outside of the mesh.
//!
//! An entry of an update has no prefix length, and of one default route under many gateways' numbers the newest would count, not the
//! nearest. So a gateway tells, beside itself, of an **exit**: a destination of its own in 240.0.0.0/4 (reserved, RFC 1112, section 4),
//! the low 28 bits of which are the gateway's, under the gateway's number. Nodes that know nothing of it pass it on like any
//! destination. Packets for addresses outside of the mesh go to the nearest exit; each such address gets a row of the host's with
//! its first packet, so that the host forwards by whole addresses, and packets for nodes of the mesh that are lost do not leave it.

pub(crate) mod exits;

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Outside, Route};
use wayhop_wire::dsdv;

use crate::engine::state::Engine;
use crate::gateway::exits::{MAX_ROWS, exit_of, is_exit};
use crate::routing_table::seq::{lost, newer};

impl Engine {
    /// What this node leads to may have changed: everybody hears of that with a full update, and again with the next ones, a second
    /// apart. Nobody acknowledges a broadcast; who misses the loss of an exit sends packets there until the next periodic update, and
    /// the gateway, which has another exit now, sends them back. As many are sent as may be missed before a neighbour is lost.
    pub(crate) fn set_outside(&mut self, cx: &mut Cx<'_>, outside: &Outside) {
        let was_gateway = self.exits.is_gateway();
        self.exits.outside = Some(outside.clone());
        let is_gateway = self.exits.is_gateway();
        if was_gateway == is_gateway {
            return;
        }
        cx.note("gateway", cx.addr(), is_gateway.into());
        if self.exits.has_told || self.last_update.is_some() {
            self.exits.repeats = self.params.allowed_missed_updates.saturating_sub(1);
            self.plan_full_by(cx, cx.now());
        }
        self.exits.has_told |= is_gateway;
    }

    /// Whether a destination is this node's own exit, the last word on which is its own.
    pub(crate) fn is_own_exit(&self, own: Ipv4Addr, destination: Ipv4Addr) -> bool {
        self.exits.has_told && destination == exit_of(own)
    }
    /// Whether an entry says something about it that this node has not said.
    pub(crate) fn is_news_of_own_exit(&self, own: Ipv4Addr, e: &dsdv::UpdateEntry) -> bool {
        let said = if self.exits.is_gateway() { self.seq } else { lost(self.seq) };
        self.is_own_exit(own, e.destination) && newer(e.seq, said)
    }

    /// The way to the nearest exit: its next hop, and the distance of the gateway.
    pub(crate) fn nearest_exit(&self) -> Option<(Ipv4Addr, u8)> {
        let exits = self.table.iter().filter(|(a, e)| is_exit(*a) && e.is_valid());
        exits.min_by_key(|(a, e)| (e.hops, *a)).map(|(_, e)| (e.next_hop, e.hops))
    }

    /// The next hop for an address outside, for which the host gets a row.
    pub(crate) fn way_out(&mut self, cx: &mut Cx<'_>, to: Ipv4Addr) -> Option<Ipv4Addr> {
        if !self.exits.is_beyond(to) {
            return None;
        }
        let (next_hop, hops) = self.nearest_exit()?;
        if !self.exits.rows.contains(&to) {
            if self.exits.rows.len() == MAX_ROWS
                && let Some(oldest) = self.exits.rows.pop_front()
            {
                self.withdraw(cx, oldest);
            }
            self.exits.rows.push_back(to);
        }
        cx.install(Route::to_host(to, next_hop, hops.into()));
        Some(next_hop)
    }

    fn withdraw(&self, cx: &mut Cx<'_>, a: Ipv4Addr) {
        if self.table.valid(a).is_none() {
            cx.uninstall(a);
        }
    }

    /// An exit came, went or moved: rows follow, and packets that wait for the outside go.
    pub(crate) fn publish_exits(&mut self, cx: &mut Cx<'_>) {
        let Some((next_hop, hops)) = self.nearest_exit() else {
            for a in std::mem::take(&mut self.exits.rows) {
                self.withdraw(cx, a);
            }
            return;
        };
        for &a in &self.exits.rows {
            if self.table.valid(a).is_none() {
                cx.install(Route::to_host(a, next_hop, hops.into()));
            }
        }
        for a in self.buffer.destinations() {
            if self.way_out(cx, a).is_some() {
                while let Some(p) = self.buffer.take(a) {
                    Self::send_data(cx, p, next_hop);
                }
            }
        }
    }
}
