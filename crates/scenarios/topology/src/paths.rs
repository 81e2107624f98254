//! The shortest paths that have been there all the time since a moment.

use wayhop_world::links::LinkChange;
use wayhop_world::{Adjacency, HopRow, UNREACHABLE};

/// All shortest paths from a source to a destination as they were at some moment, less those that have lost a link since.
///
/// The paths are kept as what they share: for each node on any of them, the nodes before it. Their number can grow with the
/// exponent of their length; this never does.
#[derive(Clone, Debug, Default)]
pub(crate) struct StandingPaths {
    source: u32,
    destination: u32,
    /// By node: those before it on the remaining paths.
    before: Vec<Vec<u32>>,
    /// The nodes that have any.
    used: Vec<u32>,
    visited: Vec<bool>,
    stack: Vec<u32>,
}

impl StandingPaths {
    /// All shortest paths to `destination`, by the hop counts from their source.
    pub(crate) fn new(destination: u32, row: &HopRow, links: &Adjacency) -> Self {
        let nodes = links.len();
        let mut paths = Self {
            source: row.source(),
            destination,
            before: vec![Vec::new(); nodes],
            visited: vec![false; nodes],
            ..Self::default()
        };
        paths.renew(row, links);
        paths
    }

    /// Starts again with the current shortest paths.
    pub(crate) fn renew(&mut self, row: &HopRow, links: &Adjacency) {
        for node in self.used.drain(..) {
            self.before[node as usize].clear();
        }
        let hops = row.hops();
        if hops[self.destination as usize] == UNREACHABLE {
            return;
        }
        self.stack.clear();
        self.stack.push(self.destination);
        while let Some(node) = self.stack.pop() {
            if node == self.source || !self.before[node as usize].is_empty() {
                continue;
            }
            let nearer = hops[node as usize] - 1;
            let list = &mut self.before[node as usize];
            list.extend(links.near(node).iter().filter(|&&k| hops[k as usize] == nearer));
            self.used.push(node);
            self.stack.extend_from_slice(list);
        }
    }

    /// Removes the paths over links that went down. Returns whether there were any and none is left.
    pub(crate) fn lose(&mut self, changes: &[LinkChange]) -> bool {
        let mut lost = false;
        for c in changes.iter().filter(|c| !c.up) {
            for (node, other) in [(c.a, c.b), (c.b, c.a)] {
                let list = &mut self.before[node as usize];
                if let Some(k) = list.iter().position(|&n| n == other) {
                    list.swap_remove(k);
                    lost = true;
                }
            }
        }
        lost && !self.connect()
    }

    /// Whether there is a path.
    fn connect(&mut self) -> bool {
        for &node in &self.used {
            self.visited[node as usize] = false;
        }
        self.stack.clear();
        self.stack.push(self.destination);
        while let Some(node) = self.stack.pop() {
            if node == self.source {
                return true;
            }
            if !std::mem::replace(&mut self.visited[node as usize], true) {
                self.stack.extend_from_slice(&self.before[node as usize]);
            }
        }
        false
    }
}
