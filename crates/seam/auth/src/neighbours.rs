//! Verified and unverified neighbours.

use std::net::Ipv4Addr;

use rustc_hash::FxHashMap;
use wayhop_core::{Span, Time};

use crate::nonces::Nonces;
use crate::window::Window;

/// The most neighbours that are remembered. Only who has a key gets here.
const MAX_VERIFIED: usize = 1_024;
/// The most neighbours that are not verified at a time. Old packets of real nodes may be replayed, so that this room is
/// theirs; it takes nothing from those that were verified.
pub(crate) const MAX_STRANGERS: usize = 128;
/// The least time between two challenges of a neighbour for its messages (RFC 8967, section 4.3.1.1: 300 ms).
const CHALLENGE_EVERY: Span = Span::from_millis(300);

/// How often a challenge is repeated by itself: frames to all are not acknowledged.
const REPEATS: u8 = 2;

/// The wait before the first repeat, which doubles with each.
const REPEAT_AFTER: Span = Span::from_millis(40);
/// After this time without a challenge, a neighbour that did not answer is one that was never challenged.
const FORGET_AFTER: Span = Span::from_secs(30);
/// How many challenges of one neighbour are answered within a second.
const ANSWERS_PER_SECOND: u8 = 10;

#[derive(Clone, Debug)]
pub(crate) struct VerifiedNeighbour {
    pub(crate) index: u64,
    pub(crate) window: Window,
    heard: Time,
    /// The number of the nonce with which it was verified last.
    nonce: u32,
}

/// A neighbour that is not verified, or challenges this node.
#[derive(Clone, Debug, Default)]
struct Stranger {
    /// Index and counter of its last packet with a right tag.
    stamp: Option<(u64, u32)>,
    /// Challenges without an answer, and when the last one was asked for.
    tries: u8,
    last: Option<Time>,
    /// The nonce of it that was answered last.
    answered: Option<u64>,
    /// Answers in the current second.
    second: u64,
    answers: u8,
    used: Time,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct NeighbourKeys {
    verified: FxHashMap<Ipv4Addr, VerifiedNeighbour>,
    strangers: FxHashMap<Ipv4Addr, Stranger>,
    pub(crate) nonces: Nonces,
}

impl NeighbourKeys {
    pub(crate) fn len(&self) -> usize {
        self.verified.len()
    }
    /// A neighbour that was verified with this index.
    pub(crate) fn verified(&self, neighbour: Ipv4Addr, index: u64) -> Option<&VerifiedNeighbour> {
        self.verified.get(&neighbour).filter(|v| v.index == index)
    }
    /// A packet of a verified neighbour came.
    pub(crate) fn note(&mut self, at: Time, neighbour: Ipv4Addr, counter: u32) {
        if let Some(v) = self.verified.get_mut(&neighbour) {
            v.window.note(counter);
            v.heard = at;
        }
    }
    /// A packet of a neighbour that is not verified came. Returns whether it is later than all before it.
    pub(crate) fn is_later(&mut self, at: Time, n: Ipv4Addr, index: u64, counter: u32) -> bool {
        let s = self.stranger(at, n);
        let is_later = s.stamp.is_none_or(|(i, c)| i != index || c < counter);
        if is_later {
            s.stamp = Some((index, counter));
        }
        is_later
    }

    /// A neighbour sent a nonce back. Returns whether that verifies it: the nonce is one of this node's, and later than that with
    /// which the neighbour was verified before, so that an old answer never counts again.
    pub(crate) fn answered(&mut self, at: Time, n: Ipv4Addr, nonce: u64, index: u64, counter: u32) -> bool {
        let Some(number) = self.nonces.number(at, nonce) else { return false };
        if let Some(v) = self.verified.get_mut(&n) {
            if v.nonce >= number {
                return false;
            }
            v.nonce = number;
            if v.index == index {
                return false;
            }
        } else if self.verified.len() >= MAX_VERIFIED {
            let oldest = self.verified.iter().min_by_key(|(a, v)| (v.heard, **a)).map(|(a, _)| *a);
            oldest.map(|a| self.verified.remove(&a));
            // Nobody knows any more which of them it sent back.
            self.nonces.discard();
        }
        let window = Window::beginning(counter);
        self.verified.insert(n, VerifiedNeighbour { index, window, heard: at, nonce: number });
        if let Some(s) = self.strangers.get_mut(&n) {
            s.tries = 0;
            s.last = None;
        }
        true
    }

    /// Whether a neighbour that sent something is to be challenged; not if it was just now.
    pub(crate) fn may_ask(&mut self, at: Time, n: Ipv4Addr) -> bool {
        if self.verified.get(&n).is_some_and(|v| self.nonces.is_newest(v.nonce)) {
            self.nonces.retire();
        }
        let s = self.stranger(at, n);
        if s.last.is_some_and(|t| at < t + CHALLENGE_EVERY) {
            return false;
        }
        if s.last.is_some_and(|t| at >= t + FORGET_AFTER) {
            s.tries = 0;
        }
        s.last = Some(at);
        true
    }
    /// A challenge was transmitted. Returns how long to wait before it is repeated, if it is.
    pub(crate) fn asked(&mut self, n: Ipv4Addr) -> Option<Span> {
        let s = self.strangers.get_mut(&n)?;
        s.tries = s.tries.saturating_add(1);
        let doublings = s.tries - 1;
        (doublings < REPEATS).then(|| Span::from_nanos(REPEAT_AFTER.as_nanos() << doublings))
    }

    /// Whether a challenge of this neighbour is answered.
    pub(crate) fn may_answer(&mut self, at: Time, n: Ipv4Addr, nonce: u64) -> bool {
        let s = self.stranger(at, n);
        let second = at.as_nanos() / 1_000_000_000;
        if s.second != second {
            (s.second, s.answers) = (second, 0);
        }
        s.answers = s.answers.saturating_add(1);
        let may = s.answers <= ANSWERS_PER_SECOND;
        if may {
            s.answered = Some(nonce);
        }
        may
    }
    /// Whether this nonce of a neighbour was sent back.
    pub(crate) fn has_answered(&self, n: Ipv4Addr, nonce: u64) -> bool {
        self.strangers.get(&n).is_some_and(|s| s.answered == Some(nonce))
    }

    fn stranger(&mut self, at: Time, n: Ipv4Addr) -> &mut Stranger {
        if self.strangers.len() >= MAX_STRANGERS && !self.strangers.contains_key(&n) {
            let oldest = self.strangers.iter().min_by_key(|(a, s)| (s.used, **a)).map(|(a, _)| *a);
            oldest.map(|a| self.strangers.remove(&a));
        }
        let s = self.strangers.entry(n).or_default();
        s.used = at;
        s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(i: u32) -> Ipv4Addr {
        Ipv4Addr::from_bits(0x0a00_0000 + i)
    }
    fn ms(t: u64) -> Time {
        Time::ZERO + Span::from_millis(t)
    }

    #[test]
    fn a_nonce_counts_once_for_a_neighbour_and_within_its_time() {
        let mut all = NeighbourKeys::default();
        assert!(all.may_ask(ms(0), n(1)) && !all.may_ask(ms(299), n(1)) && all.may_ask(ms(300), n(1)));
        assert_eq!(all.nonces.current(ms(300), || 7), 7);
        assert!(!all.answered(ms(301), n(1), 8, 1, 0));
        assert!(all.answered(ms(301), n(1), 7, 1, 0) && all.answered(ms(301), n(2), 7, 1, 0));
        assert!(!all.answered(ms(302), n(1), 7, 2, 0));
        // It is asked again: with another nonce.
        assert!(all.may_ask(ms(303), n(1)));
        assert_eq!(all.nonces.current(ms(303), || 9), 9);
        assert!(!all.answered(ms(304), n(1), 7, 2, 0), "an earlier one does not count after a later one");
        assert!(all.answered(ms(304), n(1), 9, 2, 0) && !all.answered(ms(305), n(1), 7, 1, 0));
        assert_eq!(all.nonces.current(ms(1_302), || 10), 9);
        assert_eq!(all.nonces.current(ms(1_303), || 10), 10);
        assert!(all.answered(ms(2_302), n(3), 9, 1, 0) && !all.answered(ms(2_303), n(4), 9, 1, 0));
    }

    #[test]
    fn strangers_push_out_no_neighbour_that_was_verified_and_fill_no_memory() {
        let mut all = NeighbourKeys::default();
        all.nonces.current(ms(0), || 1);
        assert!(all.answered(ms(0), n(0), 1, 5, 0));
        for i in 1..10_000 {
            all.may_ask(ms(u64::from(i)), n(i));
        }
        assert!(all.strangers.len() <= MAX_STRANGERS && all.verified(n(0), 5).is_some());
        for i in 1..5_000 {
            let at = ms(10_000 + u64::from(i));
            let nonce = all.nonces.current(at, || u64::from(i) + 1);
            assert!(all.answered(at, n(i), nonce, 5, 0));
        }
        assert!(all.verified.len() <= MAX_VERIFIED && all.verified(n(4_999), 5).is_some());
        // One that was pushed out cannot come back with what it answered.
        assert!(all.verified(n(1), 5).is_none() && !all.answered(ms(10_500), n(1), 2, 5, 0));
    }

    #[test]
    fn answers_are_few() {
        let mut all = NeighbourKeys::default();
        assert_eq!(
            (0..100).filter(|_| all.may_answer(ms(5), n(1), 3)).count(),
            usize::from(ANSWERS_PER_SECOND)
        );
        assert!(all.may_answer(ms(5), n(2), 3) && all.may_answer(ms(1_005), n(1), 3));
    }
}
