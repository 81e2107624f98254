//! Graphs of a few nodes.

use std::collections::BTreeSet;

/// Undirected links between at most [`Topology::MOST`] nodes. Node 0 is called A, node 1 B, and so on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topology {
    nodes: usize,
    /// Bit [`Topology::bit`] of each link.
    links: u16,
}

impl Topology {
    /// The most nodes.
    pub const MOST: usize = 5;

    /// These links; each is a pair of letters, as in `"AB BC"`.
    ///
    /// # Panics
    /// If a word is not a pair of different letters of the first `nodes`.
    pub fn new(nodes: usize, links: &str) -> Self {
        assert!(nodes <= Self::MOST);
        let letter = |c: u8| usize::from(c - b'A');
        let mut t = Self { nodes, links: 0 };
        for word in links.split_whitespace() {
            let &[a, b] = word.as_bytes() else { panic!("{word}: two letters name a link") };
            let (a, b) = (letter(a), letter(b));
            assert!(a != b && a < nodes && b < nodes, "{word}: not a link of {nodes} nodes");
            t.links |= Self::bit(a, b);
        }
        t
    }

    /// Every connected graph of `n` nodes, each once up to a renaming of the nodes that leaves the last one in its place: it has a
    /// role of its own (the destination).
    pub fn connected(n: usize) -> Vec<Self> {
        let pairs: Vec<u16> = (0..n).flat_map(|a| (0..a).map(move |b| Self::bit(a, b))).collect();
        let orders = orders(n.saturating_sub(1));
        let mut kept = BTreeSet::new();
        for choice in 0..1u32 << pairs.len() {
            let chosen = pairs.iter().enumerate().filter(|(i, _)| choice >> i & 1 == 1);
            let t = Self { nodes: n, links: chosen.fold(0, |all, (_, bit)| all | bit) };
            if t.is_connected() {
                kept.extend(orders.iter().map(|order| t.renamed(order)).min());
            }
        }
        kept.into_iter().collect()
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.nodes
    }
    /// Its links, (lower, higher).
    pub fn links(&self) -> impl Iterator<Item = (usize, usize)> {
        let t = *self;
        (0..t.nodes).flat_map(move |b| (0..b).map(move |a| (a, b))).filter(move |&(a, b)| t.has(a, b))
    }
    /// Whether there is a link.
    pub fn has(&self, a: usize, b: usize) -> bool {
        a != b && self.links & Self::bit(a, b) != 0
    }
    /// Without, or again with, a link.
    #[must_use]
    pub(crate) fn toggled(mut self, a: usize, b: usize) -> Self {
        self.links ^= Self::bit(a, b);
        self
    }

    /// Of flows (from, to), those that no renaming of the nodes which keeps the links makes out of an earlier one.
    pub(crate) fn different(&self, flows: &[(usize, usize)]) -> Vec<usize> {
        let same: Vec<Vec<usize>> =
            orders(self.nodes).into_iter().filter(|order| self.renamed(order) == *self).collect();
        let is_new = |&i: &usize| {
            let renamed =
                |&(from, to): &(usize, usize)| same.iter().map(move |order| (order[from], order[to]));
            !flows[..i].iter().flat_map(renamed).any(|f| f == flows[i])
        };
        (0..flows.len()).filter(is_new).collect()
    }

    /// The links, as [`Topology::new`] reads them.
    pub fn text(&self) -> String {
        let letter = |i: usize| char::from(b'A' + i as u8);
        let words: Vec<String> = self.links().map(|(a, b)| format!("{}{}", letter(a), letter(b))).collect();
        words.join(" ")
    }

    fn bit(a: usize, b: usize) -> u16 {
        let (low, high) = (a.min(b), a.max(b));
        1 << (high * (high - 1) / 2 + low)
    }
    fn is_connected(&self) -> bool {
        let mut known = 1u32;
        for _ in 0..self.nodes {
            for (a, b) in self.links() {
                if known & (1 << a | 1 << b) != 0 {
                    known |= 1 << a | 1 << b;
                }
            }
        }
        known.count_ones() as usize == self.nodes
    }
    /// Node `i` becomes `order[i]`; a node that `order` does not name stays.
    fn renamed(&self, order: &[usize]) -> Self {
        let to = |i: usize| order.get(i).copied().unwrap_or(i);
        let links = self.links().fold(0, |all, (a, b)| all | Self::bit(to(a), to(b)));
        Self { nodes: self.nodes, links }
    }
}

/// All orders of `0..n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(n - 1);
    shorter
        .iter()
        .flat_map(|o| {
            (0..n).map(move |at| {
                let mut o = o.clone();
                o.insert(at, n - 1);
                o
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_are_counted_as_the_books_do() {
        // Connected graphs with one marked node (OEIS A126100): 1, 1, 3, 11, 58.
        assert_eq!([1, 2, 3, 4, 5].map(|n| Topology::connected(n).len()), [1, 1, 3, 11, 58]);
    }

    #[test]
    fn flows_that_differ_in_names_only_count_once() {
        let to_d = [(0, 3), (1, 3), (2, 3)];
        assert_eq!(Topology::new(4, "AB AC BC AD BD CD").different(&to_d), [0]);
        assert_eq!(Topology::new(4, "AB BC CD").different(&to_d), [0, 1, 2]);
        assert_eq!(Topology::new(4, "AB BC CD DA").different(&to_d), [0, 1]);
    }

    #[test]
    fn a_graph_reads_back_as_it_was_written() {
        let t = Topology::new(4, "AB BC CD AD");
        assert_eq!(Topology::new(4, &t.text()), t);
        assert_eq!(t.toggled(2, 3), Topology::new(4, "AB BC AD"));
    }
}
