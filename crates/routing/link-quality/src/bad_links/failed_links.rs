//! The first and the second way: a link that failed is bad for some time, or until one of its ends is elsewhere.

use std::net::Ipv4Addr;

use wayhop_core::{Fix, Span, Time};

use super::{BadLinkMemory, CAPACITY, DirectedLink, Evidence};
use crate::positions::distance_m;
use crate::table::SortedTable;

/// How many packets in a row must be acknowledged over a link that is marked bad - its use was the last resort - before the
/// mark is taken back. A link that delivers three packets of ten does so once in 15 000 tries.
const REDEEMS: u8 = 8;

/// A negative cache. The doubt about a link is the share of its time, or of the distance, that is left.
#[derive(Clone, Debug)]
pub struct FailedLinks {
    rows: SortedTable<DirectedLink, FailedLink>,
    /// How far an end has to move, in metres; `None` if only time counts.
    distance_m: Option<f64>,
    lifetime: Span,
}

#[derive(Copy, Clone, Debug)]
struct FailedLink {
    failed: Time,
    from: Option<Fix>,
    to: Option<Fix>,
    /// Packets acknowledged since.
    worked: u8,
}

impl FailedLinks {
    /// A memory that marks a link bad for `lifetime` after each failure. Its weakness is that nobody knows the right
    /// lifetime; the literature (Marina and Das 2001) begins with 10 s.
    pub fn timed(lifetime: Span) -> Self {
        Self { rows: SortedTable::new(CAPACITY), distance_m: None, lifetime }
    }
    /// A memory that follows the positions of the ends: a link is bad until either end is further than `distance_m` metres
    /// from where it was when the link failed last. Where the position of an end was not known then, the mark ends after
    /// `lifetime` unless the other end's motion ends it earlier.
    pub fn until_moved(distance_m: f64, lifetime: Span) -> Self {
        Self { rows: SortedTable::new(CAPACITY), distance_m: Some(distance_m), lifetime }
    }

    /// What is left of a mark, from 1 to 0; not above 0 when it has ended.
    fn left(&self, link: DirectedLink, known: &Evidence<'_>) -> f64 {
        let Some(row) = self.rows.get(link) else { return 0.0 };
        let (waited, lifetime_s) = (known.now.since(row.failed), self.lifetime.as_secs_f64().max(1e-9));
        let Some(distance) = self.distance_m else {
            return (self.lifetime - waited).as_secs_f64() / lifetime_s;
        };
        let moved = |node: Ipv4Addr, then: Option<Fix>| {
            let (then, now) = (then?, known.positions.of(node)?);
            Some(distance_m(&then, &now.fix))
        };
        let (from, to) = (moved(link.from, row.from), moved(link.to, row.to));
        let furthest = from.unwrap_or(0.0).max(to.unwrap_or(0.0));
        let by_motion = 1.0 - furthest / distance.max(1e-9);
        if from.is_some() && to.is_some() {
            return by_motion;
        }
        by_motion.min(1.0 - waited.as_secs_f64() / lifetime_s)
    }
}

impl BadLinkMemory for FailedLinks {
    fn boxed(&self) -> Box<dyn BadLinkMemory> {
        Box::new(self.clone())
    }
    fn failed(&mut self, link: DirectedLink, known: &Evidence<'_>) {
        let place = |node| known.positions.of(node).map(|p| p.fix);
        let row = FailedLink { failed: known.now, from: place(link.from), to: place(link.to), worked: 0 };
        *self.rows.touch(link, known.now, || row) = row;
    }
    fn worked(&mut self, link: DirectedLink, _: &Evidence<'_>) {
        let Some(row) = self.rows.get_mut(link) else { return };
        row.worked += 1;
        if row.worked >= REDEEMS {
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
