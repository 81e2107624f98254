//! At most n messages a second (sections 6.3 and 6.11).

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use wayhop_core::{Span, Time};

/// The times of the messages of the last second; `None` before the first, which many nodes never send.
#[derive(Clone, Debug, Default)]
#[allow(clippy::box_collection, reason = "an idle node has 8 bytes of it instead of 32")]
pub(crate) struct RateLimit(Option<Box<VecDeque<Time>>>);

impl Hash for RateLimit {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.0.as_deref().unwrap_or(&VecDeque::new()).hash(to);
    }
}

impl RateLimit {
    /// Whether there is room for a message now.
    pub(crate) fn has_room(&mut self, now: Time, per_second: u32) -> bool {
        per_second == 0 || self.full_until(now, per_second).is_none()
    }

    /// Counts a message now, or says when there will be room for one. A limit of 0 means none.
    pub(crate) fn take(&mut self, now: Time, per_second: u32) -> Result<(), Time> {
        if per_second == 0 {
            return Ok(());
        }
        if let Some(room) = self.full_until(now, per_second) {
            return Err(room);
        }
        self.0.get_or_insert_default().push_back(now);
        Ok(())
    }

    /// When there will be room; `None` when there is.
    fn full_until(&mut self, now: Time, per_second: u32) -> Option<Time> {
        let second = Span::from_secs(1);
        let times = self.0.as_mut()?;
        while times.front().is_some_and(|&t| t + second <= now) {
            times.pop_front();
        }
        let oldest = times.front().filter(|_| times.len() >= per_second as usize);
        oldest.map(|&t| t + second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eleventh_message_within_a_second_waits() {
        let mut r = RateLimit::default();
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        assert!((0..10).all(|i| r.take(at(i), 10).is_ok()));
        assert_eq!(r.take(at(500), 10), Err(at(1_000)));
        assert_eq!(r.take(at(1_000), 10), Ok(()));
        assert_eq!(r.take(at(1_000), 10), Err(at(1_001)));
        assert!((0..100).all(|_| r.take(at(1_000), 0).is_ok()));
    }
}
