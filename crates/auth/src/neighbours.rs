//! What is known of neighbours: those that were verified, and those that were challenged.

use std::net::Ipv4Addr;

use rustc_hash::FxHashMap;
use wayhop_core::{Span, Time};

use crate::window::Window;

/// The most neighbours that are remembered. Only who has a key gets here.
const MAX_VERIFIED: usize = 1_024;
/// The most neighbours that are challenged at a time. Old packets of real nodes may be replayed, so that this room is
/// theirs; it takes nothing from those that were verified.
const MAX_CHALLENGED: usize = 128;
/// How long a nonce is good (RFC 8967, section 4.3.1.1: 30 s).
const NONCE_LIFE: Span = Span::from_secs(30);
/// The least time between two challenges of a neighbour (RFC 8967, section 4.3.1.1: 300 ms).
const CHALLENGE_EVERY: Span = Span::from_millis(300);
/// How many challenges of one neighbour are answered within a second.
const ANSWERS_PER_SECOND: u8 = 10;

/// A challenge to send.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// What the neighbour is to send back.
    pub nonce: u64,
    /// Whether it is transmitted to all. The first of a neighbour goes to it alone, and is tried again until it is acknowledged. A
    /// neighbour that does not answer may be out of range - somebody replays its messages -, and is not worth seven frames each time.
    pub to_all: bool,
}

/// A neighbour that was verified.
#[derive(Clone, Debug)]
pub(crate) struct Verified {
    pub(crate) index: u64,
    pub(crate) window: Window,
    heard: Time,
}

/// A neighbour that is to be verified, or asked for a challenge.
#[derive(Clone, Debug)]
struct Challenged {
    nonce: u64,
    /// When the nonce was drawn; `None` while this node has not challenged it.
    since: Option<Time>,
    last: Time,
    /// Answers in the current second.
    second: u64,
    answers: u8,
    used: Time,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbours {
    verified: FxHashMap<Ipv4Addr, Verified>,
    challenged: FxHashMap<Ipv4Addr, Challenged>,
}

impl Neighbours {
    pub(crate) fn len(&self) -> usize {
        self.verified.len()
    }
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
    /// A neighbour that was verified with this index.
    pub(crate) fn verified(&self, neighbour: Ipv4Addr, index: u64) -> Option<&Verified> {
        self.verified.get(&neighbour).filter(|v| v.index == index)
    }
    /// A packet of a verified neighbour came.
    pub(crate) fn note(&mut self, at: Time, neighbour: Ipv4Addr, counter: u32) {
        if let Some(v) = self.verified.get_mut(&neighbour) {
            v.window.note(counter);
            v.heard = at;
        }
    }

    /// A neighbour answered a challenge with this nonce. Returns whether it was the one that was sent.
    pub(crate) fn answered(&mut self, at: Time, n: Ipv4Addr, nonce: u64, index: u64, counter: u32) -> bool {
        let is_current = |c: &Challenged| c.nonce == nonce && c.since.is_some_and(|t| at < t + NONCE_LIFE);
        let Some(c) = self.challenged.get_mut(&n).filter(|c| is_current(c)) else { return false };
        c.since = None;
        if self.verified.len() >= MAX_VERIFIED && !self.verified.contains_key(&n) {
            let oldest = self.verified.iter().min_by_key(|(a, v)| (v.heard, **a)).map(|(a, _)| *a);
            oldest.map(|a| self.verified.remove(&a));
        }
        self.verified.insert(n, Verified { index, window: Window::beginning(counter), heard: at });
        true
    }

    /// The challenge for a neighbour; `None` if it was challenged just now.
    pub(crate) fn challenge(
        &mut self,
        at: Time,
        n: Ipv4Addr,
        draw: impl FnOnce() -> u64,
    ) -> Option<Challenge> {
        let c = self.room_for(at, n);
        let is_repeated = match c.since {
            Some(_) if at < c.last + CHALLENGE_EVERY => return None,
            Some(since) if at < since + NONCE_LIFE => true,
            // One that was answered or has run out is never used again.
            _ => {
                (c.nonce, c.since) = (draw(), Some(at));
                false
            }
        };
        c.last = at;
        Some(Challenge { nonce: c.nonce, to_all: is_repeated })
    }

    /// Whether a challenge of this neighbour is answered.
    pub(crate) fn may_answer(&mut self, at: Time, n: Ipv4Addr) -> bool {
        let c = self.room_for(at, n);
        let second = at.as_nanos() / 1_000_000_000;
        if c.second != second {
            (c.second, c.answers) = (second, 0);
        }
        c.answers = c.answers.saturating_add(1);
        c.answers <= ANSWERS_PER_SECOND
    }

    fn room_for(&mut self, at: Time, n: Ipv4Addr) -> &mut Challenged {
        if self.challenged.len() >= MAX_CHALLENGED && !self.challenged.contains_key(&n) {
            let oldest = self.challenged.iter().min_by_key(|(a, c)| (c.used, **a)).map(|(a, _)| *a);
            oldest.map(|a| self.challenged.remove(&a));
        }
        let fresh = Challenged { nonce: 0, since: None, last: at, second: 0, answers: 0, used: at };
        let c = self.challenged.entry(n).or_insert(fresh);
        c.used = at;
        c
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
    fn a_nonce_counts_once_and_within_its_time() {
        let mut all = Neighbours::default();
        let challenge = |nonce, to_all| Some(Challenge { nonce, to_all });
        assert_eq!(all.challenge(ms(0), n(1), || 7), challenge(7, false));
        assert_eq!(all.challenge(ms(299), n(1), || 8), None);
        assert_eq!(all.challenge(ms(300), n(1), || 8), challenge(7, true));
        assert!(!all.answered(ms(301), n(1), 8, 1, 0) && !all.answered(ms(301), n(2), 7, 1, 0));
        assert!(all.answered(ms(301), n(1), 7, 1, 0));
        assert!(!all.answered(ms(302), n(1), 7, 2, 0));
        assert_eq!(all.challenge(ms(303), n(1), || 9), challenge(9, false));
        assert!(!all.answered(ms(30_303), n(1), 9, 2, 0));
    }

    #[test]
    fn the_challenged_push_out_no_neighbour_that_was_verified_and_fill_no_memory() {
        let mut all = Neighbours::default();
        all.challenge(ms(0), n(0), || 1);
        assert!(all.answered(ms(0), n(0), 1, 5, 0));
        for i in 1..10_000 {
            all.challenge(ms(u64::from(i)), n(i), || 1);
        }
        assert!(all.challenged.len() <= MAX_CHALLENGED && all.verified(n(0), 5).is_some());
        for i in 1..5_000 {
            all.challenge(ms(10_000 + u64::from(i)), n(i), || 1);
            all.answered(ms(10_000 + u64::from(i)), n(i), 1, 5, 0);
        }
        assert!(all.verified.len() <= MAX_VERIFIED && all.verified(n(4_999), 5).is_some());
    }

    #[test]
    fn answers_are_few() {
        let mut all = Neighbours::default();
        assert_eq!((0..100).filter(|_| all.may_answer(ms(5), n(1))).count(), usize::from(ANSWERS_PER_SECOND));
        assert!(all.may_answer(ms(5), n(2)) && all.may_answer(ms(1_005), n(1)));
    }
}
