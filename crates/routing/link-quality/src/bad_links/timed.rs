//! The first way: a link that failed is bad for some time.

use wayhop_core::{Span, Time};

use super::streak::Streak;
use super::{BadLinkMemory, CAPACITY, DirectedLink, Evidence};
use crate::table::SortedTable;

/// A negative cache with a lifetime. Its weakness is that nobody knows the right lifetime; the literature (Marina and
/// Das 2001) begins with 10 s.
///
/// The doubt about a link is the share of its time that is left.
#[derive(Clone, Debug)]
pub struct TimedMemory {
    rows: SortedTable<DirectedLink, FailedLink>,
    lifetime: Span,
}

#[derive(Copy, Clone, Debug)]
struct FailedLink {
    failed: Time,
    streak: Streak,
}

impl TimedMemory {
    /// A memory that marks a link bad for `lifetime` after each failure.
    pub fn new(lifetime: Span) -> Self {
        Self { rows: SortedTable::new(CAPACITY), lifetime }
    }
}

impl BadLinkMemory for TimedMemory {
    fn boxed(&self) -> Box<dyn BadLinkMemory> {
        Box::new(self.clone())
    }
    fn failed(&mut self, link: DirectedLink, known: &Evidence<'_>) {
        let row = FailedLink { failed: known.now, streak: Streak::default() };
        *self.rows.touch(link, known.now, || row) = row;
    }
    fn worked(&mut self, link: DirectedLink, _: &Evidence<'_>) {
        if self.rows.get_mut(link).is_some_and(|r| r.streak.worked()) {
            self.rows.remove(link);
        }
    }
    fn doubt(&self, link: DirectedLink, known: &Evidence<'_>) -> f64 {
        let Some(row) = self.rows.get(link) else { return 0.0 };
        let left = self.lifetime - known.now.since(row.failed);
        left.as_secs_f64() / self.lifetime.as_secs_f64().max(1e-9)
    }
    fn refuses(&self, link: DirectedLink, known: &Evidence<'_>) -> bool {
        self.rows.get(link).is_some_and(|r| known.now.since(r.failed) < self.lifetime)
    }
    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    fn links(&self, each: &mut dyn FnMut(DirectedLink)) {
        self.rows.iter().for_each(|(link, _)| each(link));
    }
}
