//! Nonces that neighbours must return.

use wayhop_core::{Span, Time};

/// How long a nonce is valid. RFC 8967, section 4.3.1.1, allows 30 s; but challenges and answers
/// are broadcast, and replaying both within this time takes a wormhole.
const LIFE: Span = Span::from_secs(2);
/// How long neighbours are challenged with the same one: so much time is left for the last of them to answer.
const IN_USE: Span = Span::from_secs(1);

#[derive(Copy, Clone, Debug)]
struct Nonce {
    value: u64,
    drawn: Time,
    /// They are numbered in the order in which they were drawn, from 1.
    number: u32,
}

/// The newest nonce, and the one before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nonces {
    newest: Option<Nonce>,
    previous: Option<Nonce>,
    drawn: u32,
    is_retired: bool,
}

impl Nonces {
    /// The nonce to challenge with.
    pub(crate) fn current(&mut self, at: Time, draw: impl FnOnce() -> u64) -> u64 {
        if let Some(n) = self.newest.filter(|n| !self.is_retired && at < n.drawn + IN_USE) {
            return n.value;
        }
        self.drawn = self.drawn.saturating_add(1);
        let new = Nonce { value: draw(), drawn: at, number: self.drawn };
        self.previous = self.newest.replace(new);
        self.is_retired = false;
        new.value
    }
    /// The number of a nonce that is good.
    pub(crate) fn number(&self, at: Time, value: u64) -> Option<u32> {
        let all = [self.newest, self.previous].into_iter().flatten();
        all.filter(|n| n.value == value && at < n.drawn + LIFE).map(|n| n.number).next()
    }
    /// Whether this is the newest.
    pub(crate) fn is_newest(&self, number: u32) -> bool {
        self.newest.is_some_and(|n| n.number == number)
    }
    /// The next challenge has another nonce.
    pub(crate) fn retire(&mut self) {
        self.is_retired = true;
    }
    /// None that was drawn so far is good any more.
    pub(crate) fn discard(&mut self) {
        (self.newest, self.previous) = (None, None);
    }
}
