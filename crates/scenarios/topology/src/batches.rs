//! Changes of links that happen at once.

use std::borrow::Cow;

use wayhop_core::{Span, Time};
use wayhop_world::links::LinkChange;

/// Changes that are so close in time are one: times are integer nanoseconds, and at a grazing contact a
/// nanosecond of one node's motion is many of the link's. Nothing that carries packets is as fast.
const SIMULTANEOUS: Span = Span::from_nanos(100);

/// Changes in order of time, taken together as far as they are simultaneous.
pub(crate) struct Batches<'a>(pub(crate) &'a [LinkChange]);

/// Changes that count as one.
pub(crate) struct Batch<'a> {
    /// The time of the first.
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
