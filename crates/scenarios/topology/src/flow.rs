//! Pairs of nodes, and their shortest paths over time.

use wayhop_core::{Span, Time};
use wayhop_world::links::LinkChange;
use wayhop_world::{Adjacency, HopRow};

use crate::paths::StandingPaths;

/// Two nodes between which paths are looked for, and when.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// From this node.
    pub src: u32,
    /// To this one.
    pub dst: u32,
    /// When the flow begins.
    pub from: Time,
    /// When it ends.
    pub until: Time,
}

/// The hop counts of each source, which its pairs share, and for each pair the index of its source's.
pub(crate) fn source_rows(pairs: &[Pair], net: &Adjacency) -> (Vec<HopRow>, Vec<usize>) {
    let mut sources: Vec<u32> = pairs.iter().map(|p| p.src).collect();
    sources.sort_unstable();
    sources.dedup();
    let row_of = pairs.iter().map(|p| sources.partition_point(|&s| s < p.src)).collect();
    (sources.into_iter().map(|s| HopRow::new(s, net)).collect(), row_of)
}

/// A time with one shortest path, or without any path.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PathInterval {
    /// When it begins: at the flow's beginning, or with a path change.
    pub from: Time,
    /// The shortest hop count; `None` without a path.
    pub hops: Option<u16>,
}

/// What the geometry allowed a flow.
///
/// A *path change* is counted when the shortest hop count changes, or when no shortest path is left that has been there
/// all the time since the last one that was counted: Holland and Vaidya (1999, section 4.2) ask for a change of the set of
/// shortest paths "such that no path exists in both". To lose or find the only path is a change, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowTopology {
    /// Whose, and for which time.
    pub pair: Pair,
    /// From path change to path change; the first begins with the flow. Empty if the flow has no time at all.
    pub steps: Vec<PathInterval>,
}

impl FlowTopology {
    /// How often the shortest path changed.
    pub fn path_changes(&self) -> u64 {
        self.steps.len().saturating_sub(1) as u64
    }

    /// How often the shortest hop count changed; to none and from none counts.
    pub fn hop_changes(&self) -> u64 {
        self.steps.windows(2).filter(|w| w[0].hops != w[1].hops).count() as u64
    }

    /// How often the destination became unreachable. Being unreachable from the beginning does not count.
    pub fn partitions(&self) -> u64 {
        self.steps.windows(2).filter(|w| w[0].hops.is_some() && w[1].hops.is_none()).count() as u64
    }

    /// The flow's time.
    pub fn observed(&self) -> Span {
        self.pair.until.since(self.pair.from)
    }

    /// Every step with its end.
    pub fn intervals(&self) -> impl Iterator<Item = (PathInterval, Time)> + '_ {
        let ends = self.steps.iter().skip(1).map(|s| s.from).chain([self.pair.until]);
        self.steps.iter().copied().zip(ends)
    }

    /// The share of the time at 1, 2, ... hops, as far as there was any; empty if there was no time.
    pub fn hop_share(&self) -> Vec<f64> {
        let mut spans: Vec<Span> = Vec::new();
        for (step, end) in self.intervals() {
            let Some(k) = step.hops.and_then(|h| usize::from(h).checked_sub(1)) else { continue };
            if spans.len() <= k {
                spans.resize(k + 1, Span::ZERO);
            }
            spans[k] += end.since(step.from);
        }
        spans.into_iter().filter_map(|s| self.share(s)).collect()
    }

    /// The share of the time without a path; `None` if there was no time.
    pub fn unreachable_share(&self) -> Option<f64> {
        let without = self.intervals().filter(|(step, _)| step.hops.is_none());
        self.share(without.fold(Span::ZERO, |sum, (step, end)| sum + end.since(step.from)))
    }

    /// The mean shortest hop count while there was a path.
    pub fn mean_hops(&self) -> Option<f64> {
        let (mut hops, mut time) = (0.0, 0.0);
        for (step, end) in self.intervals() {
            if let Some(h) = step.hops {
                let s = end.since(step.from).as_secs_f64();
                hops += f64::from(h) * s;
                time += s;
            }
        }
        (time > 0.0).then(|| hops / time)
    }

    fn share(&self, part: Span) -> Option<f64> {
        let whole = self.observed().as_nanos();
        (whole > 0).then(|| part.as_nanos() as f64 / whole as f64)
    }
}

/// Follows one flow while links come and go.
pub(crate) struct FlowWatch {
    pub(crate) topology: FlowTopology,
    standing: Option<StandingPaths>,
}

impl FlowWatch {
    pub(crate) fn new(pair: Pair) -> Self {
        Self { topology: FlowTopology { pair, steps: Vec::new() }, standing: None }
    }

    /// Its time begins, if it does before `next`, the moment of the changes to come.
    pub(crate) fn begin(&mut self, next: Time, row: &HopRow, links: &Adjacency) {
        let pair = &self.topology.pair;
        if self.standing.is_none() && pair.from < next && pair.from < pair.until {
            let step = PathInterval { from: pair.from, hops: row.hops_to(pair.dst) };
            self.standing = Some(StandingPaths::new(pair.dst, row, links));
            self.topology.steps.push(step);
        }
    }

    /// Links changed at `at`; `row` and `links` are those of then.
    pub(crate) fn change(&mut self, at: Time, changes: &[LinkChange], row: &HopRow, links: &Adjacency) {
        let Some(standing) = &mut self.standing else { return };
        if at >= self.topology.pair.until {
            return;
        }
        let now = row.hops_to(self.topology.pair.dst);
        let was = self.topology.steps.last().and_then(|s| s.hops);
        if standing.lose(changes) || now != was {
            standing.renew(row, links);
            self.topology.steps.push(PathInterval { from: at, hops: now });
        }
    }
}
