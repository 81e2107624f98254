//! The Flow Table and the Default Flow ID Table (RFC 4728 sections 5.1 and 5.3).

use std::net::Ipv4Addr;

use wayhop_core::{Inspect, Maybe, Span, Time};

use crate::Params;
use crate::cache::path::Path;
use crate::forwarding::view::RouteView;

/// The source and the destination of a flow.
pub(crate) type Ends = (Ipv4Addr, Ipv4Addr);

/// A flow: hop-by-hop state that stands for a source route.
#[derive(Clone, Hash)]
pub(crate) struct Flow {
    pub(crate) source: Ipv4Addr,
    pub(crate) destination: Ipv4Addr,
    pub(crate) id: u16,
    /// The Hop Count of packets as this node gets them, after it counted itself; 0 at the source. It is this node's place
    /// on the route.
    pub(crate) hop_count: u8,
    /// The TTL that they have when they come.
    pub(crate) ttl: u8,
    pub(crate) expires: Time,
    /// The whole route.
    pub(crate) route: Path,
    /// At the source: how many packets with the route were sent since the flow was last known to be unknown somewhere.
    pub(crate) announced: u32,
    /// At the source: when the last of them was sent.
    pub(crate) announced_at: Time,
    /// At the source: whether packets may go without any header.
    pub(crate) may_be_default: bool,
}

impl Flow {
    /// The neighbour that gets the flow's packets from this node; none at the destination.
    pub(crate) fn next_hop(&self) -> Option<Ipv4Addr> {
        self.route.nodes().get(usize::from(self.hop_count) + 1).copied()
    }
    /// The neighbour that sends them here; none at the source.
    pub(crate) fn previous_hop(&self) -> Option<Ipv4Addr> {
        let at = usize::from(self.hop_count).checked_sub(1)?;
        self.route.nodes().get(at).copied()
    }
    /// The route, and how far a packet that this node forwards has come on it; none at the destination.
    pub(crate) fn way(&self) -> Option<RouteView> {
        let receiver = usize::from(self.hop_count) + 1;
        (receiver < self.route.len()).then_some(RouteView { nodes: self.route, receiver })
    }
    fn ends(&self) -> Ends {
        (self.source, self.destination)
    }
}

/// All flows through this node, and which of them are default flows.
#[derive(Clone, Default, Hash)]
pub(crate) struct FlowTable {
    rows: Vec<Flow>,
    /// The identifier of each default flow.
    defaults: Vec<(Ends, u16)>,
    size: usize,
    /// Expired flows are looked for when there are as many rows.
    prune_at: usize,
    lifetime: Span,
    next_id: u16,
    /// No flow of this node's own begins before.
    not_before: Time,
    /// Since when identifiers are counted, and how many were given out since.
    counted: (Time, u16),
    /// Nodes that said that they have no flow state.
    without: Vec<Ipv4Addr>,
}

/// How many nodes without flow state are remembered.
const MAX_WITHOUT: usize = 32;

/// Up to this many flows, none are checked for expiry.
const FIRST_PRUNE: usize = 32;

/// The most identifiers in use within the lifetime of a flow. They are two apart, so that all of
/// them lie in half of the circle, where comparing them is meaningful (section 3.5.10).
const MAX_IDS: u16 = 1 << 14;

/// Whether flow identifier `a` is greater than `b`: section 3.5.1 compares them on the circle.
fn is_greater(a: u16, b: u16) -> bool {
    a.wrapping_sub(b) as i16 > 0
}

impl FlowTable {
    pub(crate) fn new(p: &Params) -> Self {
        Self {
            size: p.flow_table_size.into(),
            prune_at: FIRST_PRUNE,
            lifetime: Span::from_secs(p.flow_timeout_s.into()),
            next_id: 1,
            ..Self::default()
        }
    }
    /// Flow identifiers begin here; they are odd, which makes every flow a default flow. No flow of this node's own begins
    /// before `not_before` (section 3.5.9).
    pub(crate) fn start_at(&mut self, id: u16, not_before: Time) {
        self.next_id = id | 1;
        self.not_before = not_before;
    }

    /// The unexpired flow of this identifier; without one, the default flow.
    pub(crate) fn get(&mut self, ends: Ends, id: Option<u16>, now: Time) -> Option<&mut Flow> {
        let id = id.or_else(|| self.default_id(ends))?;
        self.rows.iter_mut().rev().find(|f| f.id == id && f.ends() == ends && f.expires > now)
    }
    /// The identifier of the default flow.
    pub(crate) fn default_id(&self, ends: Ends) -> Option<u16> {
        self.defaults.iter().find(|d| d.0 == ends).map(|d| d.1)
    }
    /// This node's own flow along this route.
    pub(crate) fn along(&mut self, ends: Ends, route: &Path, now: Time) -> Option<&mut Flow> {
        self.rows.iter_mut().rev().find(|f| f.ends() == ends && f.expires > now && f.route == *route)
    }

    /// A new flow of this node along a route of at least two nodes. `None` while no identifier may be given out: soon after
    /// the start, or when one that is still in use could not be told from it.
    pub(crate) fn create(&mut self, route: &Path, ttl: u8, now: Time) -> Option<&mut Flow> {
        let (source, destination) = (route.first()?, route.last()?);
        if now.since(self.counted.0) >= self.lifetime {
            self.counted = (now, 0);
        }
        let id = self.next_id;
        let in_use = |f: &Flow| f.ends() == (source, destination) && f.expires > now && !is_greater(id, f.id);
        if now < self.not_before || self.counted.1 == MAX_IDS || self.rows.iter().any(in_use) {
            return None;
        }
        self.counted.1 += 1;
        self.next_id = id.wrapping_add(2);
        self.insert(
            Flow {
                source,
                destination,
                id,
                hop_count: 0,
                ttl,
                expires: now + self.lifetime,
                route: *route,
                announced: 0,
                announced_at: now,
                may_be_default: true,
            },
            now,
        )
    }

    /// Adds a flow whose name is new.
    pub(crate) fn insert(&mut self, f: Flow, now: Time) -> Option<&mut Flow> {
        if self.rows.len() >= self.prune_at.min(self.size) {
            self.rows.retain(|f| f.expires > now);
            let rows = &self.rows;
            self.defaults.retain(|d| rows.iter().any(|f| f.ends() == d.0));
            self.prune_at = (2 * self.rows.len()).max(FIRST_PRUNE);
        }
        if self.rows.len() >= self.size {
            let first = (0..self.rows.len()).min_by_key(|&i| self.rows[i].expires)?;
            self.rows.remove(first);
        }
        if f.id & 1 == 1 {
            self.set_default(&f, now);
        }
        self.rows.push(f);
        self.rows.last_mut()
    }

    /// Section 8.6.3: an odd identifier that is greater than those of all unexpired flows makes its flow the default flow.
    fn set_default(&mut self, new: &Flow, now: Time) {
        let ends = new.ends();
        let greater =
            |f: &Flow| f.id & 1 == 1 && f.ends() == ends && f.expires > now && is_greater(f.id, new.id);
        if self.rows.iter().any(greater) {
            return;
        }
        if let Some(d) = self.defaults.iter_mut().find(|d| d.0 == ends) {
            d.1 = new.id;
            return;
        }
        if self.defaults.len() >= self.size {
            // Section 5.3: the flows of a pair go with its record.
            let (old, _) = self.defaults.remove(0);
            self.rows.retain(|f| f.ends() != old);
        }
        self.defaults.push((ends, new.id));
    }

    /// This node's own flows over a broken link end.
    pub(crate) fn remove_link(&mut self, me: Ipv4Addr, from: Ipv4Addr, to: Ipv4Addr) {
        self.rows.retain(|f| f.source != me || !f.route.has_link(from, to));
    }

    /// Some node does not know this node's flow (`None`: the default one): it has to be announced again.
    pub(crate) fn announce_again(&mut self, me: Ipv4Addr, destination: Ipv4Addr, id: Option<u16>) {
        let Some(id) = id.or_else(|| self.default_id((me, destination))) else { return };
        for f in &mut self.rows {
            if f.id == id && f.ends() == (me, destination) {
                f.announced = 0;
            }
        }
    }

    /// A node has no flow state: flows through it end, and no new ones are made.
    pub(crate) fn avoid(&mut self, me: Ipv4Addr, node: Ipv4Addr) {
        self.rows.retain(|f| f.source != me || !f.route.contains(node));
        if !self.without.contains(&node) && self.without.len() < MAX_WITHOUT {
            self.without.push(node);
        }
    }
    /// Whether all nodes of a route may have flow state.
    pub(crate) fn suits(&self, route: &Path) -> bool {
        self.without.is_empty() || !route.nodes().iter().any(|n| self.without.contains(n))
    }

    pub(crate) fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        let live = self.rows.iter().filter(|f| f.expires > now);
        if out.counted("flows", live.clone().count()) {
            return;
        }
        for f in live {
            let left = f.expires.since(now).as_secs_f64();
            let default = self.default_id(f.ends()) == Some(f.id);
            out.row(
                "flows",
                &[
                    ("source", &f.source),
                    ("destination", &f.destination),
                    ("id", &f.id),
                    ("hop_count", &f.hop_count),
                    ("next_hop", &Maybe(f.next_hop())),
                    ("default", &default),
                    ("expires_in_s", &left),
                ],
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Time {
        Time::ZERO + Span::from_secs(s)
    }

    fn node(n: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, n)
    }

    fn route(nodes: &[u8]) -> Path {
        Path::from_nodes(nodes.iter().map(|&n| node(n)))
    }

    fn table(size: u16) -> FlowTable {
        FlowTable::new(&Params { flow_table_size: size, ..Params::default() })
    }

    /// A flow from node 1 to node 9 that this node forwards.
    fn flow(id: u16, expires_s: u64) -> Flow {
        Flow {
            source: node(1),
            destination: node(9),
            id,
            hop_count: 1,
            ttl: 63,
            expires: at(expires_s),
            route: route(&[1, 2, 9]),
            announced: 0,
            announced_at: at(0),
            may_be_default: false,
        }
    }

    #[test]
    fn identifiers_are_compared_on_the_circle() {
        // Section 3.5.1: a is greater than b if (short)(a - b) > 0.
        for (a, b, greater) in
            [(5, 3, true), (3, 5, false), (4, 4, false), (1, 65_535, true), (65_535, 1, false)]
        {
            assert_eq!(is_greater(a, b), greater, "{a} and {b}");
        }
        assert!(is_greater(0x7fff, 0) && !is_greater(0x8001, 1));
    }

    #[test]
    fn the_greatest_odd_identifier_among_unexpired_flows_is_the_default() {
        let mut t = table(8);
        t.insert(flow(65_535, 10), at(0));
        t.insert(flow(1, 20), at(0));
        assert_eq!(t.default_id((node(1), node(9))), Some(1), "beyond the end of the circle");
        t.insert(flow(65_533, 30), at(0));
        t.insert(flow(6, 30), at(0));
        assert_eq!(t.default_id((node(1), node(9))), Some(1), "lower ones and even ones are not");
        t.insert(flow(65_531, 40), at(25));
        let default = |t: &mut FlowTable, s| t.get((node(1), node(9)), None, at(s)).map(|f| f.id);
        assert_eq!(default(&mut t, 25), None, "flow 1 has expired, flow 65533 is greater than the new one");
        t.insert(flow(65_529, 50), at(41));
        assert_eq!(default(&mut t, 41), Some(65_529), "all others expired");
    }

    #[test]
    fn a_default_record_that_gives_way_takes_its_flows_along() {
        let mut t = table(2);
        let to = |n: u8, id| Flow { destination: node(n), id, ..flow(id, 60) };
        t.insert(to(7, 3), at(0));
        t.defaults.push(((node(5), node(6)), 1));
        t.insert(to(8, 3), at(0));
        assert!(t.get((node(1), node(7)), Some(3), at(1)).is_none(), "its record was the oldest");
        assert!(t.get((node(1), node(8)), Some(3), at(1)).is_some());
    }

    #[test]
    fn a_restarted_node_begins_no_flow_before_its_old_ones_have_expired() {
        let mut t = table(8);
        t.start_at(8, at(60));
        assert!(t.create(&route(&[1, 2, 9]), 64, at(59)).is_none());
        assert_eq!(t.create(&route(&[1, 2, 9]), 64, at(60)).map(|f| f.id), Some(9), "odd");
    }

    #[test]
    fn identifiers_are_not_given_out_faster_than_they_expire() {
        let mut t = table(1);
        let created = (0..40_000_u16)
            .filter(|_| {
                t.rows.clear();
                t.create(&route(&[1, 2, 9]), 64, at(1)).is_some()
            })
            .count();
        // Section 3.5.10: half of the odd identifiers, so that comparing them keeps its meaning.
        assert_eq!(created, 16_384);
        t.rows.clear();
        assert!(t.create(&route(&[1, 2, 9]), 64, at(59)).is_none());
        assert!(t.create(&route(&[1, 2, 9]), 64, at(60)).is_some(), "60 s after the count began");
    }

    #[test]
    fn an_identifier_that_could_be_taken_for_one_in_use_is_not_given_out() {
        let mut t = table(8);
        t.start_at(101, at(0));
        t.insert(flow(201, 60), at(0));
        assert!(t.create(&route(&[1, 2, 9]), 64, at(1)).is_none(), "101 is not greater than 201");
        assert!(t.create(&route(&[1, 2, 8]), 64, at(1)).is_some(), "to another destination it is new");
        assert!(t.create(&route(&[1, 2, 9]), 64, at(61)).is_some(), "201 has expired");
    }
}
