//! The second way: a link that failed is bad until one of its ends is elsewhere.

use std::net::Ipv4Addr;

use wayhop_core::{Fix, Span, Time};

use super::streak::Streak;
use super::{BadLinkMemory, CAPACITY, DirectedLink, Evidence};
use crate::positions::distance_m;
use crate::table::SortedTable;

/// A negative cache that follows the positions of the ends: a link is bad until either end is further than a set distance
/// from where it was when the link failed last. Where the position of an end was not known then, a timeout ends the mark
/// unless the other end's motion does so earlier.
///
/// The doubt about a link is the share of that distance, or of that time, that is left.
#[derive(Clone, Debug)]
pub struct MovementMemory {
    rows: SortedTable<DirectedLink, AvoidedLink>,
    distance_m: f64,
    fallback: Span,
}

#[derive(Copy, Clone, Debug)]
struct AvoidedLink {
    failed: Time,
    from: Option<Fix>,
    to: Option<Fix>,
    streak: Streak,
}

impl MovementMemory {
    /// A memory that releases a link when an end has moved by `distance_m` metres, or after `fallback` when the place of
    /// an end was not known.
    pub fn new(distance_m: f64, fallback: Span) -> Self {
        Self { rows: SortedTable::new(CAPACITY), distance_m, fallback }
    }

    /// What is left of a mark, from 1 to 0; not above 0 when it has ended.
    fn left(&self, link: DirectedLink, known: &Evidence<'_>) -> f64 {
        let Some(row) = self.rows.get(link) else { return 0.0 };
        let moved = |node: Ipv4Addr, then: Option<Fix>| {
            let (then, now) = (then?, known.positions.of(node)?);
            Some(distance_m(&then, &now.fix))
        };
        let (from, to) = (moved(link.from, row.from), moved(link.to, row.to));
        let furthest = from.unwrap_or(0.0).max(to.unwrap_or(0.0));
        let by_motion = 1.0 - furthest / self.distance_m.max(1e-9);
        if from.is_some() && to.is_some() {
            return by_motion;
        }
        let waited = known.now.since(row.failed).as_secs_f64();
        by_motion.min(1.0 - waited / self.fallback.as_secs_f64().max(1e-9))
    }
}

impl BadLinkMemory for MovementMemory {
    fn boxed(&self) -> Box<dyn BadLinkMemory> {
        Box::new(self.clone())
    }
    fn failed(&mut self, link: DirectedLink, known: &Evidence<'_>) {
        let place = |node| known.positions.of(node).map(|p| p.fix);
        let row = AvoidedLink {
            failed: known.now,
            from: place(link.from),
            to: place(link.to),
            streak: Streak::default(),
        };
        *self.rows.touch(link, known.now, || row) = row;
    }
    fn worked(&mut self, link: DirectedLink, _: &Evidence<'_>) {
        if self.rows.get_mut(link).is_some_and(|r| r.streak.worked()) {
            self.rows.remove(link);
        }
    }
    fn doubt(&self, link: DirectedLink, known: &Evidence<'_>) -> f64 {
        self.left(link, known).max(0.0)
    }
    fn refuses(&self, link: DirectedLink, known: &Evidence<'_>) -> bool {
        self.left(link, known) > 0.0
    }
    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    fn links(&self, each: &mut dyn FnMut(DirectedLink)) {
        self.rows.iter().for_each(|(link, _)| each(link));
    }
}
