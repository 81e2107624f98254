//! Shortest hop counts between all pairs, kept up to date as links come and go.

use crate::links::LinkChange;

/// No path.
pub const UNREACHABLE: u16 = u16::MAX;

/// The shortest hop count of every pair. Takes 2 N^2 bytes.
#[derive(Clone, Debug)]
pub struct HopTable {
    near: Vec<Vec<u32>>,
    hops: Vec<Vec<u16>>,
    queue: Vec<u32>,
}

impl HopTable {
    /// From every node's neighbours, as [`crate::links::neighbours`] gives them.
    pub fn new(near: Vec<Vec<u32>>) -> Self {
        let n = near.len();
        let mut table = Self { near, hops: vec![vec![UNREACHABLE; n]; n], queue: Vec::with_capacity(n) };
        for source in 0..n {
            let mut row = std::mem::take(&mut table.hops[source]);
            table.breadth_first(source, &mut row);
            table.hops[source] = row;
        }
        table
    }

    /// How many nodes it has.
    pub fn len(&self) -> usize {
        self.near.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    /// Hops from `a` to `b`: 0 to itself, [`UNREACHABLE`] without a path.
    pub fn hops(&self, a: usize, b: usize) -> u16 {
        self.hops[a][b]
    }

    /// Applies link changes that happen at the same moment and gives every pair (a < b) whose hop count is now another,
    /// in order, with the new count.
    pub fn apply(&mut self, changes: &[LinkChange]) -> Vec<(u32, u32, u16)> {
        for c in changes {
            self.set_link(c.a, c.b, c.up);
            self.set_link(c.b, c.a, c.up);
        }
        let mut changed = Vec::new();
        let mut row = Vec::new();
        for source in 0..self.near.len() {
            if !changes.iter().any(|c| self.may_change(source, c)) {
                continue;
            }
            row.clear();
            row.resize(self.near.len(), UNREACHABLE);
            self.breadth_first(source, &mut row);
            for (b, &hops) in row.iter().enumerate().skip(source + 1) {
                if hops != self.hops[source][b] {
                    changed.push((source as u32, b as u32, hops));
                }
            }
            std::mem::swap(&mut self.hops[source], &mut row);
        }
        changed
    }

    /// Whether the change can touch a distance from `source`. A new link matters only if its ends differed by two or more;
    /// a lost one only if it was some node's last link to a node one hop nearer.
    fn may_change(&self, source: usize, c: &LinkChange) -> bool {
        let row = &self.hops[source];
        let (da, db) = (row[c.a as usize], row[c.b as usize]);
        if c.up {
            return da.abs_diff(db) >= 2;
        }
        let (far, near_hops) = if da < db { (c.b, da) } else { (c.a, db) };
        da.abs_diff(db) == 1 && !self.near[far as usize].iter().any(|&k| row[k as usize] == near_hops)
    }

    fn set_link(&mut self, from: u32, to: u32, up: bool) {
        let list = &mut self.near[from as usize];
        match (list.binary_search(&to), up) {
            (Err(k), true) => list.insert(k, to),
            (Ok(k), false) => {
                list.remove(k);
            }
            _ => {}
        }
    }

    fn breadth_first(&mut self, source: usize, row: &mut [u16]) {
        self.queue.clear();
        self.queue.push(source as u32);
        row[source] = 0;
        let mut head = 0;
        while let Some(&u) = self.queue.get(head) {
            head += 1;
            let next = row[u as usize].saturating_add(1).min(UNREACHABLE - 1);
            for &v in &self.near[u as usize] {
                if row[v as usize] == UNREACHABLE {
                    row[v as usize] = next;
                    self.queue.push(v);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::{changes, neighbours};
    use crate::{RandomWaypoint, Start};
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
        let m = RandomWaypoint {
            area: [900.0, 600.0, 0.0],
            speed_min: 1.0,
            speed_max: 20.0,
            pause: Span::ZERO,
            duration: Time::from_secs_f64(60.0),
            start: Start::Uniform,
        };
        let tracks = m.tracks(3, 25);
        let at = |t| tracks.iter().map(|k| k.position(t)).collect::<Vec<_>>();
        let mut table = HopTable::new(neighbours(&at(Time::ZERO), 250.0));
        let list = changes(&tracks, 250.0, Time::from_secs_f64(60.0));
        // Several changes at a time, as when many nodes jump together.
        for batch in list.chunks(3) {
            let before = table.clone();
            let told = table.apply(batch);
            let fresh = HopTable::new(table.near.clone());
            assert_eq!(table.hops, fresh.hops);
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
