//! Changes of links, those that happen at once together, and one pass over all of them.

use std::borrow::Cow;

use wayhop_core::{Position, Span, Time};
use wayhop_scenario::Outage;
use wayhop_world::links::{self, LinkChange};
use wayhop_world::{Adjacency, Track};

use crate::flow::{FlowTopology, FlowWatch, Pair, source_rows};
use crate::links::{Book, LinkSurvey};
use crate::outages::of_nodes_up;

/// Changes that are so close in time are one: times are integer nanoseconds, and at a grazing contact a
/// nanosecond of one node's motion is many of the link's. Nothing that carries packets is as fast.
const SIMULTANEOUS: Span = Span::from_nanos(100);

/// Changes in order of time, taken together as far as they are simultaneous.
pub(crate) struct Batches<'a>(pub(crate) &'a [LinkChange]);

/// Changes that count as one.
pub(crate) struct Batch<'a> {
    pub(crate) first: Time,
    /// The time of the last, from which on all hold.
    pub(crate) at: Time,
    /// Those that another of the same moment does not undo.
    pub(crate) changes: Cow<'a, [LinkChange]>,
}

impl<'a> Iterator for Batches<'a> {
    type Item = Batch<'a>;

    fn next(&mut self) -> Option<Batch<'a>> {
        let first = self.0.first()?.at;
        let (batch, later) = self.0.split_at(self.0.partition_point(|c| c.at.since(first) <= SIMULTANEOUS));
        self.0 = later;
        Some(Batch { first, at: batch.last().map_or(first, |c| c.at), changes: lasting(batch) })
    }
}

/// The changes without those that another of the same moment undoes.
fn lasting(batch: &[LinkChange]) -> Cow<'_, [LinkChange]> {
    let same = |c: &LinkChange, d: &LinkChange| (c.a, c.b) == (d.a, d.b);
    let is_twice = |c: &LinkChange| batch.iter().filter(|d| same(c, d)).count() > 1;
    if batch.len() < 2 || !batch.iter().any(is_twice) {
        return batch.into();
    }
    let lasts = |c: &&LinkChange| {
        let of_link: Vec<_> = batch.iter().filter(|d| same(c, d)).collect();
        of_link.len() % 2 == 1 && of_link.last().is_some_and(|last| std::ptr::eq(*last, *c))
    };
    batch.iter().filter(lasts).copied().collect::<Vec<_>>().into()
}

/// The results.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// In the order of the requested pairs.
    pub flows: Vec<FlowTopology>,
    /// All links.
    pub links: LinkSurvey,
}

/// Follows the links of all nodes from time zero to `until`, and the shortest paths of `pairs`. Nodes are linked while they
/// are nearer than `range_m` metres and both up. The nodes of each pair have tracks.
pub fn survey(tracks: &[Track], outages: &[Outage], range_m: f64, until: Time, pairs: &[Pair]) -> Survey {
    let begin: Vec<Position> = tracks.iter().map(|t| t.position(Time::ZERO)).collect();
    let in_range = Adjacency::new(links::neighbours(&begin, range_m));
    let changes = links::changes(tracks, range_m, until);
    let (net, changes) = of_nodes_up(in_range, changes, outages, until);
    follow(net, &changes, until, pairs)
}

/// Follows `pairs` through `changes`, which are in order of time.
pub(crate) fn follow(mut net: Adjacency, changes: &[LinkChange], until: Time, pairs: &[Pair]) -> Survey {
    let mut book = Book::new(&net);
    let clipped = pairs.iter().map(|p| Pair { until: p.until.min(until), ..*p });
    let mut watches: Vec<FlowWatch> = clipped.map(FlowWatch::new).collect();
    let (mut rows, row_of) = source_rows(pairs, &net);
    let mut queue = Vec::new();
    for batch in Batches(changes) {
        for (watch, &row) in watches.iter_mut().zip(&row_of) {
            watch.begin(batch.first, &rows[row], &net);
        }
        for c in &*batch.changes {
            book.change(c);
            net.apply(c);
        }
        for row in &mut rows {
            row.update(&net, &batch.changes, &mut queue);
        }
        for (watch, &row) in watches.iter_mut().zip(&row_of) {
            watch.change(batch.at, &batch.changes, &rows[row], &net);
        }
    }
    for (watch, &row) in watches.iter_mut().zip(&row_of) {
        watch.begin(Time::NEVER, &rows[row], &net);
    }
    Survey { flows: watches.into_iter().map(|w| w.topology).collect(), links: book.close(until) }
}

#[cfg(test)]
#[path = "survey_tests.rs"]
mod tests;
