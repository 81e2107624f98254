//! What was set back, and how often: a node does not fight with another program for ever.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use wayhop_core::{Span, Time};

/// So often within [`WITHIN`] something is set back.
pub(crate) const PATIENCE: usize = 5;
const WITHIN: Span = Span::from_secs(60);

/// When each thing was set back.
#[derive(Debug, Default)]
pub(crate) struct Repairs(FxHashMap<String, VecDeque<Time>>);

impl Repairs {
    /// Something was set back. Returns whether that is still worth while.
    pub(crate) fn note(&mut self, now: Time, what: &str) -> bool {
        let times = self.0.entry(what.to_owned()).or_default();
        while times.front().is_some_and(|t| now.since(*t) > WITHIN) {
            times.pop_front();
        }
        times.push_back(now);
        times.len() <= PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_changed_again_and_again_within_a_minute_is_given_up_and_what_is_changed_seldom_is_not() {
        let mut r = Repairs::default();
        let at = |s| Time::ZERO + Span::from_secs(s);
        assert!((0..40).all(|i| r.note(at(i * 13), "slow")), "five within 60 s");
        assert!((0..5).all(|i| r.note(at(i), "quick")) && !r.note(at(5), "quick"));
        assert!(r.note(at(5), "another"));
        assert!(r.note(at(66), "quick"), "those are long ago");
    }
}
