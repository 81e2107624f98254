//! One pass over all changes of links.

use wayhop_core::{Position, Time};
use wayhop_scenario::Outage;
use wayhop_world::links::{self, LinkChange};
use wayhop_world::{Adjacency, HopRow, Track};

use crate::batches::Batches;
use crate::flow::{FlowTopology, FlowWatch};
use crate::links::{Book, LinkSurvey};
use crate::outages::of_nodes_up;
use crate::pair::Pair;

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
    // Flows from one source share its hop counts.
    let mut sources: Vec<u32> = pairs.iter().map(|p| p.src).collect();
    sources.sort_unstable();
    sources.dedup();
    let mut rows: Vec<HopRow> = sources.iter().map(|&s| HopRow::new(s, &net)).collect();
    let row_of: Vec<usize> = pairs.iter().map(|p| sources.partition_point(|&s| s < p.src)).collect();

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
