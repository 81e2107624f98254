//! The Flow Table and the Default Flow ID Table (RFC 4728 sections 5.1 and 5.3).

use wayhop_core::{Addr, Inspect, Span, Time};

use crate::Params;
use crate::path::Path;
use crate::view::Way;

/// A flow: hop-by-hop state that stands for a source route.
pub(crate) struct Flow {
    pub(crate) source: Addr,
    pub(crate) destination: Addr,
    pub(crate) id: u16,
    pub(crate) next_hop: Addr,
    /// The Hop Count of packets that this node gets to forward; 0 at the source.
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
    /// The route, and how far a packet that this node forwards has come on it.
    pub(crate) fn way(&self) -> Way {
        Way { nodes: self.route, receiver: usize::from(self.hop_count) + 1 }
    }
}

/// All flows through this node, and the highest odd flow identifier of each (source, destination).
pub(crate) struct FlowTable {
    rows: Vec<Flow>,
    defaults: Vec<(Addr, Addr, u16)>,
    size: usize,
    /// Expired flows are looked for when there are as many rows.
    prune_at: usize,
    lifetime: Span,
    next_id: u16,
    /// Nodes that said that they have no flow state.
    without: Vec<Addr>,
}

/// How many nodes without flow state are remembered.
const MAX_WITHOUT: usize = 32;

/// So many flows are kept without a look whether they have expired.
const FIRST_PRUNE: usize = 32;

/// Whether flow identifier `a` is greater than `b`: section 3.5.1 compares them on the circle.
fn is_greater(a: u16, b: u16) -> bool {
    a.wrapping_sub(b) as i16 > 0
}

impl FlowTable {
    pub(crate) fn new(p: &Params) -> Self {
        Self {
            rows: Vec::new(),
            defaults: Vec::new(),
            size: p.flow_table_size.into(),
            prune_at: FIRST_PRUNE,
            lifetime: Span::from_secs(p.flow_timeout_s.into()),
            next_id: 1,
            without: Vec::new(),
        }
    }
    /// Flow identifiers begin here; they are odd, which makes every flow a default flow.
    pub(crate) fn start_at(&mut self, id: u16) {
        self.next_id = id | 1;
    }

    /// The unexpired flow of this name.
    pub(crate) fn get(&mut self, source: Addr, destination: Addr, id: u16, now: Time) -> Option<&mut Flow> {
        self.rows
            .iter_mut()
            .rev()
            .find(|f| f.id == id && f.source == source && f.destination == destination && f.expires > now)
    }
    /// The identifier of the default flow.
    pub(crate) fn default_id(&self, source: Addr, destination: Addr) -> Option<u16> {
        self.defaults.iter().find(|d| d.0 == source && d.1 == destination).map(|d| d.2)
    }
    /// The default flow, if it has not expired.
    pub(crate) fn default_flow(&mut self, source: Addr, destination: Addr, now: Time) -> Option<&mut Flow> {
        let id = self.default_id(source, destination)?;
        self.get(source, destination, id, now)
    }
    /// This node's own flow along this route.
    pub(crate) fn along(
        &mut self,
        source: Addr,
        destination: Addr,
        route: &Path,
        now: Time,
    ) -> Option<&mut Flow> {
        self.rows.iter_mut().rev().find(|f| {
            f.source == source && f.destination == destination && f.expires > now && f.route == *route
        })
    }

    /// A new flow of this node along a route of at least two nodes.
    pub(crate) fn create(&mut self, route: &Path, next_hop: Addr, ttl: u8, now: Time) -> Option<&mut Flow> {
        let (source, destination) = (route.first()?, route.last()?);
        let id = self.next_id;
        self.next_id = id.wrapping_add(2);
        self.insert(
            Flow {
                source,
                destination,
                id,
                next_hop,
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
            self.prune_at = (2 * self.rows.len()).max(FIRST_PRUNE);
        }
        if self.rows.len() >= self.size {
            let first = (0..self.rows.len()).min_by_key(|&i| self.rows[i].expires)?;
            self.rows.remove(first);
        }
        if f.id & 1 == 1 {
            self.set_default(f.source, f.destination, f.id);
        }
        self.rows.push(f);
        self.rows.last_mut()
    }

    fn set_default(&mut self, source: Addr, destination: Addr, id: u16) {
        if let Some(d) = self.defaults.iter_mut().find(|d| d.0 == source && d.1 == destination) {
            if is_greater(id, d.2) {
                d.2 = id;
            }
            return;
        }
        if self.defaults.len() >= self.size {
            let rows = &self.rows;
            self.defaults.retain(|d| rows.iter().any(|f| f.source == d.0 && f.destination == d.1));
        }
        if self.defaults.len() >= self.size {
            self.defaults.remove(0);
        }
        self.defaults.push((source, destination, id));
    }

    /// This node's own flows over a broken link end.
    pub(crate) fn remove_link(&mut self, me: Addr, from: Addr, to: Addr) {
        self.rows.retain(|f| f.source != me || !f.route.has_link(from, to));
    }

    /// Some node does not know this node's flow (`None`: the default one): it has to be announced again.
    pub(crate) fn announce_again(&mut self, me: Addr, destination: Addr, id: Option<u16>) {
        let Some(id) = id.or_else(|| self.default_id(me, destination)) else { return };
        for f in &mut self.rows {
            if f.id == id && f.source == me && f.destination == destination {
                f.announced = 0;
            }
        }
    }

    /// A node has no flow state: flows through it end, and no new ones are made.
    pub(crate) fn avoid(&mut self, me: Addr, node: Addr) {
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
        for f in self.rows.iter().filter(|f| f.expires > now) {
            let left = f.expires.since(now).as_secs_f64();
            let default = self.default_id(f.source, f.destination) == Some(f.id);
            out.row(
                "flows",
                &[
                    ("source", &f.source),
                    ("destination", &f.destination),
                    ("id", &f.id),
                    ("hop_count", &f.hop_count),
                    ("next_hop", &f.next_hop),
                    ("default", &default),
                    ("expires_in_s", &left),
                ],
            );
        }
    }
}
