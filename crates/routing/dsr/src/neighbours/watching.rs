//! Watching next hops: what the watchdog learns of packets, and what follows from its failures.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Packet, Span};
use wayhop_wire::dsr::{DsrOption, RouteError, RouteErrorKind};

use crate::cache::path::Path;
use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::forwarding::view::{View, leaves_next};
use crate::maintenance::maintenance_buffer::Fingerprint;
use crate::neighbours::watchdog::{REPORT, WatchedPacket};

impl Engine {
    /// A packet goes to a next hop.
    pub(crate) fn watch_sent(&mut self, cx: &mut Cx<'_>, p: &Packet, next_hop: Ipv4Addr) {
        if self.watchdog.is_none() {
            return;
        }
        self.bark(cx);
        let Ok(v) = View::new(p.bytes()) else { return };
        let Some(way) = v.way().filter(|_| !v.is_control() && v.ip.dst() != next_hop && !leaves_next(v))
        else {
            return;
        };
        let back = Path::from_nodes(way.passed().iter().rev().copied());
        let what = Fingerprint::of(&v);
        if let Some(dog) = &mut self.watchdog {
            dog.put(WatchedPacket { what, next_hop, back, acked: None });
        }
    }

    /// A next hop got a packet: they are acknowledged in the order in which they were sent.
    pub(crate) fn watch_acked(&mut self, cx: &mut Cx<'_>, next_hop: Ipv4Addr) {
        let Some(dog) = &mut self.watchdog else { return };
        let now = cx.now();
        if let Some(w) = dog.watched.iter_mut().find(|w| w.next_hop == next_hop && w.acked.is_none()) {
            w.acked = Some(now);
        }
        self.bark(cx);
    }

    /// A next hop cannot be reached: what was for it is no fault of its.
    pub(crate) fn watch_lost(&mut self, next_hop: Ipv4Addr) {
        if let Some(dog) = &mut self.watchdog {
            dog.watched.retain(|w| w.next_hop != next_hop);
        }
        self.rate_lost(next_hop);
    }

    /// A packet was overheard.
    pub(crate) fn watch_passing(&mut self, cx: &mut Cx<'_>, bytes: &[u8], rx: &Reception) {
        let Some(dog) = &mut self.watchdog else { return };
        let from = rx.from;
        if dog.watched.iter().any(|w| w.next_hop == from)
            && let Ok(heard) = Fingerprint::read(bytes)
        {
            dog.watched.retain(|w| w.next_hop != from || !w.what.is_same_packet(&heard));
        }
        self.bark(cx);
    }

    /// Counts what was not passed on in time.
    fn bark(&mut self, cx: &mut Cx<'_>) {
        let timeout = Span::from_millis(self.params.watchdog_timeout_ms.into());
        let window = Span::from_millis(self.params.watchdog_window_ms.into());
        while let Some(dog) = &mut self.watchdog
            && let Some(w) = dog.take_overdue(cx.now(), timeout)
        {
            let failures = dog.fail(w.next_hop, cx.now(), window);
            if failures <= usize::from(self.params.watchdog_threshold) {
                continue;
            }
            dog.failures.remove(&w.next_hop);
            cx.note("misbehaving", w.next_hop, failures as u64);
            self.rate_misbehaving(cx, w.next_hop);
            self.report_neighbour(cx, &w);
        }
    }

    /// Reports a next hop to the node that chose the route, back along the way that the packet came.
    fn report_neighbour(&mut self, cx: &mut Cx<'_>, w: &WatchedPacket) {
        let Some(&destination) = w.back.nodes().last().filter(|_| w.back.hops() > 0) else { return };
        let info = w.next_hop.octets();
        let kind = RouteErrorKind::Unknown { kind: REPORT, info: &info };
        let error = RouteError { salvage: 0, source: cx.addr(), destination, kind };
        if let Some(p) = self.control(cx, destination, &[DsrOption::RouteError(error)]) {
            self.send_error(cx, (p, w.back));
        }
    }

    /// Somebody reports a node.
    pub(crate) fn believe(&mut self, cx: &mut Cx<'_>, info: &[u8]) {
        if let Ok(octets) = <[u8; 4]>::try_from(info)
            && self.params.watchdog
        {
            let node = Ipv4Addr::from(octets);
            cx.note("misbehaviour_told", node, 0);
            self.rate_misbehaving(cx, node);
        }
    }

    fn rate_misbehaving(&mut self, cx: &Cx<'_>, node: Ipv4Addr) {
        if let Some(ratings) = self.ratings.as_mut().filter(|_| node != cx.addr()) {
            ratings.misbehaves(node, cx.now());
        }
    }

    /// A node was lost on the way of packets.
    pub(crate) fn rate_lost(&mut self, node: Ipv4Addr) {
        if let Some(ratings) = &mut self.ratings {
            ratings.lost(node);
        }
    }
}
