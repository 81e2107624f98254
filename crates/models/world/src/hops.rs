//! Shortest hop counts, kept up to date as links come and go.

use crate::links::LinkChange;

/// No path.
pub const UNREACHABLE: u16 = u16::MAX;

/// Who is linked with whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjacency {
    near: Vec<Vec<u32>>,
}

impl Adjacency {
    /// From every node's neighbours in ascending order, as [`crate::links::neighbours`] gives them.
    pub const fn new(near: Vec<Vec<u32>>) -> Self {
        Self { near }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.near.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    /// The neighbours of a node, in ascending order.
    pub fn near(&self, node: u32) -> &[u32] {
        &self.near[node as usize]
    }

    /// Links the pair, or separates it. Says whether that changes anything.
    pub fn apply(&mut self, c: &LinkChange) -> bool {
        self.set(c.b, c.a, c.up);
        self.set(c.a, c.b, c.up)
    }

    fn set(&mut self, from: u32, to: u32, up: bool) -> bool {
        let list = &mut self.near[from as usize];
        match (list.binary_search(&to), up) {
            (Err(k), true) => list.insert(k, to),
            (Ok(k), false) => drop(list.remove(k)),
            _ => return false,
        }
        true
    }
}

/// The shortest hop count from one node to every other. Takes 2 N bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopRow {
    source: u32,
    hops: Vec<u16>,
}

impl HopRow {
    /// From `source`.
    pub fn new(source: u32, links: &Adjacency) -> Self {
        let mut row = Self { source, hops: Vec::new() };
        row.count(links, &mut Vec::new());
        row
    }

    /// Whose counts these are.
    pub const fn source(&self) -> u32 {
        self.source
    }

    /// Hops to every node: 0 to itself, [`UNREACHABLE`] without a path.
    pub fn hops(&self) -> &[u16] {
        &self.hops
    }

    /// Hops to one node; `None` without a path.
    pub fn hops_to(&self, node: u32) -> Option<u16> {
        Some(self.hops[node as usize]).filter(|&h| h != UNREACHABLE)
    }

    /// Counts again if `changes`, which have all been applied to `links`, can touch any count; says whether it counted.
    /// `queue` is room to work in.
    pub fn update(&mut self, links: &Adjacency, changes: &[LinkChange], queue: &mut Vec<u32>) -> bool {
        let touched = self.may_change_by(links, changes);
        if touched {
            self.count(links, queue);
        }
        touched
    }

    fn may_change_by(&self, links: &Adjacency, changes: &[LinkChange]) -> bool {
        changes.iter().any(|c| self.may_change(links, c))
    }

    /// A new link matters only if its ends differed by two or more; a lost one only if it was some node's last link to a
    /// node one hop nearer.
    fn may_change(&self, links: &Adjacency, c: &LinkChange) -> bool {
        let (da, db) = (self.hops[c.a as usize], self.hops[c.b as usize]);
        if c.up {
            return da.abs_diff(db) >= 2;
        }
        let (far, near_hops) = if da < db { (c.b, da) } else { (c.a, db) };
        da.abs_diff(db) == 1 && !links.near(far).iter().any(|&k| self.hops[k as usize] == near_hops)
    }

    /// Breadth first.
    fn count(&mut self, links: &Adjacency, queue: &mut Vec<u32>) {
        self.hops.clear();
        self.hops.resize(links.len(), UNREACHABLE);
        queue.clear();
        queue.push(self.source);
        self.hops[self.source as usize] = 0;
        let mut head = 0;
        while let Some(&u) = queue.get(head) {
            head += 1;
            let next = self.hops[u as usize].saturating_add(1).min(UNREACHABLE - 1);
            for &v in links.near(u) {
                if self.hops[v as usize] == UNREACHABLE {
                    self.hops[v as usize] = next;
                    queue.push(v);
                }
            }
        }
    }
}

/// The shortest hop count of every pair. Takes 2 N^2 bytes.
#[derive(Clone, Debug)]
pub struct HopTable {
    links: Adjacency,
    rows: Vec<HopRow>,
    queue: Vec<u32>,
}

impl HopTable {
    /// From every node's neighbours, as [`crate::links::neighbours`] gives them.
    pub fn new(near: Vec<Vec<u32>>) -> Self {
        let links = Adjacency::new(near);
        let rows = (0..links.len() as u32).map(|source| HopRow::new(source, &links)).collect();
        Self { links, rows, queue: Vec::new() }
    }

    /// Hops from `a` to `b`: 0 to itself, [`UNREACHABLE`] without a path.
    pub fn hops(&self, a: usize, b: usize) -> u16 {
        self.rows[a].hops[b]
    }

    /// Applies link changes that happen at the same moment and gives every pair (a < b) whose hop count is now another,
    /// in order, with the new count.
    pub fn apply(&mut self, changes: &[LinkChange]) -> Vec<(u32, u32, u16)> {
        for c in changes {
            self.links.apply(c);
        }
        let mut changed = Vec::new();
        let mut before = Vec::new();
        for row in &mut self.rows {
            if !row.may_change_by(&self.links, changes) {
                continue;
            }
            before.clone_from(&row.hops);
            row.count(&self.links, &mut self.queue);
            let pairs = row.hops.iter().zip(&before).enumerate().skip(row.source as usize + 1);
            changed.extend(
                pairs.filter(|(_, (now, was))| now != was).map(|(b, (&now, _))| (row.source, b as u32, now)),
            );
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::{changes, neighbours};
    use wayhop_core::{Span, Time};

    #[test]
    fn a_chain_counts_its_hops_and_a_lost_link_splits_it() {
        let chain = (0..5u32).map(|i| [i.checked_sub(1), (i < 4).then_some(i + 1)]);
        let mut t = HopTable::new(chain.map(|n| n.into_iter().flatten().collect()).collect());
        assert_eq!((t.hops(0, 4), t.hops(4, 1), t.hops(2, 2)), (4, 3, 0));
        let cut = LinkChange { at: Time::ZERO, a: 1, b: 2, up: false };
        assert_eq!(t.apply(&[cut]).len(), 6);
        assert_eq!((t.hops(0, 4), t.hops(0, 1)), (UNREACHABLE, 1));
        let ring = LinkChange { at: Time::ZERO, a: 0, b: 4, up: true };
        t.apply(&[ring]);
        assert_eq!(t.hops(1, 2), 4);
    }

    #[test]
    fn incremental_counts_equal_those_computed_afresh() {
        let tracks = crate::waypoint::nodes([900.0, 600.0], Span::ZERO, 60.0).tracks(3, 25);
        let at = |t| tracks.iter().map(|k| k.position(t)).collect::<Vec<_>>();
        let mut table = HopTable::new(neighbours(&at(Time::ZERO), 250.0));
        let list = changes(&tracks, 250.0, Time::from_secs_f64(60.0));
        // Several changes at a time, as when many nodes jump together.
        for batch in list.chunks(3) {
            let before = table.clone();
            let told = table.apply(batch);
            let fresh = HopTable::new(table.links.near.clone());
            assert_eq!(table.rows, fresh.rows);
            let mut expect = Vec::new();
            for a in 0..25 {
                for b in a + 1..25 {
                    if before.hops(a, b) != table.hops(a, b) {
                        expect.push((a as u32, b as u32, table.hops(a, b)));
                    }
                }
            }
            assert_eq!(told, expect);
        }
    }
}
