//! The first way: a link that failed is bad for some time.

use wayhop_core::{Span, Time};

use super::streak::Streak;
use super::{BadLinkMemory, CAPACITY, Known, Link};
use crate::table::Table;

/// A negative cache with a lifetime. Its weakness is that nobody knows the right lifetime; the literature (Marina and
/// Das 2001) begins with 10 s.
///
/// The doubt about a link is the share of its time that is left.
#[derive(Clone, Debug)]
pub struct Timed {
    rows: Table<Link, Row>,
    lifetime: Span,
}

#[derive(Copy, Clone, Debug)]
struct Row {
    failed: Time,
    streak: Streak,
}

impl Timed {
    /// A memory that marks a link bad for `lifetime` after each failure.
    pub fn new(lifetime: Span) -> Self {
        Self { rows: Table::new(CAPACITY), lifetime }
    }
}

impl BadLinkMemory for Timed {
    fn boxed(&self) -> Box<dyn BadLinkMemory> {
        Box::new(self.clone())
    }
    fn failed(&mut self, link: Link, known: &Known<'_>) {
        let row = Row { failed: known.now, streak: Streak::default() };
        *self.rows.touch(link, known.now, || row) = row;
    }
    fn worked(&mut self, link: Link, _: &Known<'_>) {
        if self.rows.get_mut(link).is_some_and(|r| r.streak.worked()) {
            self.rows.remove(link);
        }
    }
    fn doubt(&self, link: Link, known: &Known<'_>) -> f64 {
        let Some(row) = self.rows.get(link) else { return 0.0 };
        let left = self.lifetime - known.now.since(row.failed);
        left.as_secs_f64() / self.lifetime.as_secs_f64().max(1e-9)
    }
    fn refuses(&self, link: Link, known: &Known<'_>) -> bool {
        self.rows.get(link).is_some_and(|r| known.now.since(r.failed) < self.lifetime)
    }
    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    fn links(&self, each: &mut dyn FnMut(Link)) {
        self.rows.iter().for_each(|(link, _)| each(link));
    }
}
