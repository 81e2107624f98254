//! Data packets use routes, and refresh them (section 6.2).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, RouteUse, Time};

use crate::engine::state::Engine;
use crate::params::{Hello, Refresh};

/// A way that a data packet goes.
pub(crate) struct DataPath {
    pub(crate) source: Ipv4Addr,
    pub(crate) destination: Ipv4Addr,
    pub(crate) next_hop: Ipv4Addr,
    pub(crate) previous_hop: Option<Ipv4Addr>,
}

impl DataPath {
    /// `None` of a packet of IPv6, whose routes are not AODV's.
    pub(crate) fn of(used: &RouteUse) -> Option<Self> {
        let previous_hop = match used.previous_hop {
            Some(from) => Some(from.v4()?),
            None => None,
        };
        Some(Self {
            source: used.source.v4()?,
            destination: used.destination.v4()?,
            next_hop: used.next_hop.v4()?,
            previous_hop,
        })
    }
}

impl Engine {
    /// A sign of life of a neighbour.
    pub(crate) fn heard(&mut self, neighbour: Ipv4Addr, now: Time) {
        self.neighbours.heard(neighbour, now);
        self.watch.heard(neighbour);
    }

    /// A neighbour sent data. What it sent for others shows that it forwards; its own only that it is there, which is no answer to
    /// the question whether it does: a host that speaks no AODV answers that by an ICMP message.
    fn forwarded_here(&mut self, neighbour: Ipv4Addr, source: Ipv4Addr, now: Time) {
        if source == neighbour && !self.params.passive_ack {
            self.neighbours.heard(neighbour, now);
        } else {
            self.heard(neighbour, now);
        }
    }

    /// A data packet for this node came. Its way is an active route's (section 6.9), which this node is part of: it keeps on
    /// sending Hellos, without which the neighbour before it would take it for lost.
    pub(crate) fn arrived(&mut self, cx: &Cx<'_>, used: &DataPath) {
        let Some(previous) = used.previous_hop else { return };
        let now = cx.now();
        self.forwarded_here(previous, used.source, now);
        if self.params.hello != Hello::WhileActive {
            return;
        }
        let until = now + self.params.active_route_timeout();
        for a in [used.source, previous] {
            let key = self.table.key(a);
            if let Some(e) = self.table.get_mut(key).filter(|e| e.next_hop == previous) {
                e.used(until);
            }
        }
    }

    /// A data packet goes this way (section 6.2).
    pub(crate) fn refresh(&mut self, cx: &mut Cx<'_>, used: &DataPath) {
        let now = cx.now();
        let until = now + self.params.active_route_timeout();
        if self.params.refresh == Refresh::DestinationOnly {
            let key = self.table.key(used.destination);
            if let Some(e) = self.table.get_mut(key) {
                e.renew(until);
            }
        } else {
            // Who, and the neighbour over which the packet shows that the route works. Section 6.2 takes ways to be symmetric; where the
            // packet came by another neighbour than the route to its source has, it says nothing of that route.
            let (next, previous) = (Some(used.next_hop), used.previous_hop);
            let all = [
                (Some(used.destination), next),
                (Some(used.source), previous),
                (next, next),
                (previous, previous),
            ];
            for (a, over) in all {
                let Some(key) = a.map(|a| self.table.key(a)) else { continue };
                if let Some(e) = self.table.get_mut(key).filter(|e| Some(e.next_hop) == over) {
                    e.used(until);
                }
            }
        }
        if let Some(n) = used.previous_hop {
            self.forwarded_here(n, used.source, now);
        }
        self.watch(cx, used.next_hop, used.destination);
    }
}
