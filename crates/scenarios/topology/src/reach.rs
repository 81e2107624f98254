//! Reachability over time, for requested pairs of nodes.

use std::collections::BTreeMap;

use wayhop_core::Time;
use wayhop_scenario::{Interfaces, Outage};
use wayhop_world::{HopRow, Track, links};

use crate::media::of_media;
use crate::oracle::ScenarioLinks;
use crate::survey::Batches;

/// Two nodes, the lower first: a path leads both ways.
pub(crate) type Ends = (u32, u32);

/// The hop counts of the shortest path between two nodes, each with the time from which it applies; `None` for no
/// path. The first is for time zero.
pub(crate) type Hops = Vec<(Time, Option<u16>)>;

/// The number of hop counts that are followed at a time.
const ROWS: usize = 64;

/// The reason if there was too much to compute.
pub(crate) const TOO_MUCH: &str = "the network is too large, or its links change too often";

/// Limits on the computation.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Effort {
    /// Pairs of nodes times pieces of their ways.
    pub(crate) pieces: usize,
    pub(crate) changes: usize,
    /// Changes of links times nodes between which paths are looked for.
    pub(crate) looks: usize,
}

/// The ends of a path as [`Ends`]; `None` for a node and itself.
pub(crate) fn ends(a: u32, b: u32) -> Option<Ends> {
    (a != b).then_some((a.min(b), a.max(b)))
}

impl ScenarioLinks {
    /// For nodes that move and are down in this way; `None` if it is too much.
    pub(crate) fn of(
        interfaces: &Interfaces,
        tracks: &[Track],
        outages: &[Outage],
        range_m: Option<f64>,
        until: Time,
        effort: Effort,
    ) -> Option<Self> {
        let pieces: usize = tracks.iter().map(|t| t.legs().len()).sum();
        if tracks.len().saturating_mul(pieces) > effort.pieces {
            return None;
        }
        let mut is_too_much = false;
        let of_radio = |_, own: &[Track], range_m| {
            let found = links::changes_up_to(own, range_m, until, effort.changes);
            is_too_much |= found.is_none();
            found.unwrap_or_default()
        };
        let (begin, changes) = of_media(interfaces, tracks, outages, range_m, until, of_radio);
        (!is_too_much).then_some(Self { begin, changes, until })
    }

    /// The hops of each pair over time; `None` if it is too much.
    pub(crate) fn hops(&self, pairs: &[Ends], effort: Effort) -> Option<BTreeMap<Ends, Hops>> {
        let mut of_source: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (a, b) in pairs {
            of_source.entry(*a).or_default().push(*b);
        }
        if of_source.len().saturating_mul(self.changes.len()) > effort.looks {
            return None;
        }
        let sources: Vec<(u32, Vec<u32>)> = of_source.into_iter().collect();
        Some(sources.chunks(ROWS).flat_map(|some| self.hops_from(some)).collect())
    }

    fn hops_from(&self, sources: &[(u32, Vec<u32>)]) -> Vec<(Ends, Hops)> {
        let mut net = self.begin.clone();
        let mut rows: Vec<HopRow> = sources.iter().map(|(s, _)| HopRow::new(*s, &net)).collect();
        let mut found: Vec<Vec<Hops>> = sources.iter().map(|(_, to)| vec![Hops::new(); to.len()]).collect();
        let note = |at: Time, row: &HopRow, to: &[u32], found: &mut [Hops]| {
            for (node, hops) in to.iter().zip(found) {
                let now = row.hops_to(*node);
                if hops.last().is_none_or(|(_, was)| *was != now) {
                    hops.push((at, now));
                }
            }
        };
        for ((row, (_, to)), found) in rows.iter().zip(sources).zip(&mut found) {
            note(Time::ZERO, row, to, found);
        }
        let mut queue = Vec::new();
        for batch in Batches(&self.changes) {
            for c in &*batch.changes {
                net.apply(c);
            }
            for ((row, (_, to)), found) in rows.iter_mut().zip(sources).zip(&mut found) {
                if row.update(&net, &batch.changes, &mut queue) {
                    note(batch.at, row, to, found);
                }
            }
        }
        let all = sources.iter().zip(found);
        all.flat_map(|((s, to), found)| to.iter().map(|t| (*s, *t)).zip(found).collect::<Vec<_>>()).collect()
    }
}
