//! Routes by expected transmission count, as LQSR makes them: probes, and the costs of links in Route Requests and Route
//! Replies.
//!
//! Every node broadcasts a probe each second, with 10 % jitter. A Route Request carries the costs
//! of the links that it crossed, each measured by the node at its end; a Route Reply those of its
//! route. They go into the link cache, in both directions, for ETX is the same in both. Own links
//! count as this node measures them now.

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, Cx, Packet, Span, TxSpec};
use wayhop_link_quality::etx::{Cost, INTERVAL};
use wayhop_wire::dsr::{DsrOption, LinkMetrics, Probe, edit};
use wayhop_wire::ipv4;

use crate::cache::path::Path;
use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::forwarding::view::View;

/// By how much the time between two probes varies: a tenth of it, up or down.
const JITTER: Span = Span::from_millis(100);

impl Engine {
    /// Sets the timer for the first probe: any time within the first interval.
    pub(crate) fn start_probes(&mut self, cx: &mut Cx<'_>) {
        if self.links.etx.is_some() {
            let at = cx.now() + cx.rng().jitter(INTERVAL);
            cx.set_timer(Timer::Probe.key(), at);
        }
    }

    /// Broadcasts a probe.
    pub(crate) fn on_probe_timer(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        let Some(etx) = &mut self.links.etx else { return };
        etx.sent(now);
        let mut entries = core::mem::take(&mut self.entries);
        let probe = Probe::build(&mut entries, etx.counts(now));
        if let Some(mut p) = self.control(cx, BROADCAST, &[DsrOption::Probe(probe)]) {
            match ipv4::set_ttl(p.bytes_mut(), 1) {
                Ok(()) => cx.send(p, TxSpec::broadcast()),
                Err(_) => cx.consume(p),
            }
        }
        self.entries = entries;
        let wait = INTERVAL - JITTER + cx.rng().jitter(JITTER * 2);
        cx.set_timer(Timer::Probe.key(), now + wait);
    }

    /// A neighbour's probe.
    pub(crate) fn on_probe(&mut self, cx: &Cx<'_>, v: &View<'_>, rx: &Reception) {
        let (Some(etx), Some(probe)) = (&mut self.links.etx, v.probe) else { return };
        if rx.broadcast && v.ip.src() == rx.from {
            let count = probe.entries().find(|e| e.0 == cx.addr()).map(|e| e.1);
            etx.heard(rx.from, count, cx.now());
        }
    }

    /// What the link between this node and a neighbour costs, as a Link Metrics option says it; 0 when nobody knows.
    fn own_metric(&self, cx: &Cx<'_>, neighbour: Ipv4Addr) -> u32 {
        self.links.etx.as_ref().and_then(|e| e.cost(neighbour, cx.now())).map_or(0, |c| c.0)
    }

    /// Appends the cost of the link that a Route Request came by. Requests of nodes that do not measure have no place for it.
    pub(crate) fn append_own_metric(&self, cx: &Cx<'_>, p: &mut Packet, from: Ipv4Addr) {
        if self.links.etx.is_some() {
            let _ = edit::append_link_metric(p, self.own_metric(cx, from));
        }
    }

    /// Notes the costs of the links of a route, which are in the cache already; nothing when one is missing, because a node
    /// on the way does not measure.
    pub(crate) fn learn_costs(&mut self, route: &Path, metrics: Option<LinkMetrics<'_>>) {
        let wanted = |m: &LinkMetrics<'_>| self.links.etx.is_some() && m.costs().count() == route.hops();
        let Some(metrics) = metrics.filter(wanted) else { return };
        for (w, cost) in route.nodes().windows(2).zip(metrics.costs()) {
            if cost > 0 {
                let cost = Cost(cost.clamp(Cost::ONE.0, Cost::WORST.0));
                self.cache.set_cost(w[0], w[1], cost);
                self.cache.set_cost(w[1], w[0], cost);
            }
        }
    }

    /// What this node knows of the costs of a route's links.
    pub(crate) fn costs_of(&self, cx: &Cx<'_>, route: &Path) -> Vec<u32> {
        let me = cx.addr();
        let cost = |w: &[Ipv4Addr]| match (w[0] == me, w[1] == me) {
            (true, _) => self.own_metric(cx, w[1]),
            (_, true) => self.own_metric(cx, w[0]),
            _ => self.cache.cost(w[0], w[1]).or_else(|| self.cache.cost(w[1], w[0])).map_or(0, |c| c.0),
        };
        route.nodes().windows(2).map(cost).collect()
    }
}
