//! What was said lately.

use std::collections::BTreeMap;

use wayhop_core::{Span, Time};

/// The most questions that are remembered; then all are forgotten.
const MAX: usize = 4_096;

/// When each of some things was done last.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastTimes(BTreeMap<u64, Time>);

impl LastTimes {
    /// Whether it is time to do this again. If so, it counts as done now.
    pub(crate) fn is_due(&mut self, what: u64, now: Time, every: Span) -> bool {
        if self.0.get(&what).is_some_and(|last| now < *last + every) {
            return false;
        }
        if self.0.len() >= MAX {
            self.0.clear();
        }
        self.0.insert(what, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_in_a_while_and_bounded() {
        let (mut r, s) = (LastTimes::default(), Span::from_secs(1));
        assert!(r.is_due(7, Time::ZERO, s));
        assert!(!r.is_due(7, Time::ZERO + s / 2, s));
        assert!(r.is_due(7, Time::ZERO + s, s));
        for k in 0..3 * MAX as u64 {
            let _ = r.is_due(k, Time::ZERO, s);
        }
        assert!(r.0.len() <= MAX);
    }
}
