//! Pending challenges and answers on one interface, until a frame carries them.

use std::net::Ipv4Addr;

use wayhop_core::{Span, Time};
use wayhop_wire::auth::Exchange;

/// The most challenges, and the most answers, that wait.
const MAX_WAITING: usize = crate::neighbours::MAX_STRANGERS;
/// How long an optional attachment waits for a frame.
const STALE_AFTER: Span = Span::from_secs(1);

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum ExchangeState {
    Ready,
    /// A frame took it along and has not ended.
    Leaving,
    /// It was transmitted, and is repeated then.
    Again(Time),
}

#[derive(Copy, Clone, Debug)]
struct Ask {
    neighbour: Ipv4Addr,
    state: ExchangeState,
    since: Time,
    /// Attached to the next frame; not worth a frame of its own.
    is_extra: bool,
}

#[derive(Copy, Clone, Debug)]
struct Answer {
    neighbour: Ipv4Addr,
    nonce: u64,
    since: Time,
    is_extra: bool,
}

/// What waits on one interface. At most one frame for it is in the interface's queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    asks: Vec<Ask>,
    answers: Vec<Answer>,
    /// When a frame is to enter the queue.
    due: Option<Time>,
    /// When the node looks at this again, as far as it knows.
    looks: Option<Time>,
    /// The nonce for the frame in the queue.
    queued: Option<u64>,
}

impl Outbox {
    /// A frame is to enter the queue by this time, if one is given.
    fn by(&mut self, due: Option<Time>) {
        self.due = self.due.into_iter().chain(due).min();
    }

    /// Challenges a neighbour; by `due`, or whenever there is a frame.
    pub(crate) fn ask(&mut self, at: Time, n: Ipv4Addr, due: Option<Time>) {
        if let Some(a) = self.asks.iter_mut().find(|a| a.neighbour == n) {
            if a.state != ExchangeState::Leaving {
                (a.state, a.since) = (ExchangeState::Ready, at);
            }
            a.is_extra &= due.is_none();
        } else {
            make_room(&mut self.asks);
            self.asks.push(Ask {
                neighbour: n,
                state: ExchangeState::Ready,
                since: at,
                is_extra: due.is_none(),
            });
        }
        self.by(due);
    }
    /// Answers a neighbour; by `due`, or whenever there is a frame.
    pub(crate) fn answer(&mut self, at: Time, n: Ipv4Addr, nonce: u64, due: Option<Time>) {
        if let Some(a) = self.answers.iter_mut().find(|a| a.neighbour == n) {
            (a.nonce, a.since) = (nonce, at);
            a.is_extra &= due.is_none();
        } else {
            make_room(&mut self.answers);
            self.answers.push(Answer { neighbour: n, nonce, since: at, is_extra: due.is_none() });
        }
        self.by(due);
    }
    /// A neighbour's challenge that is waiting for the next frame is sent by `due`, or when it is
    /// to be repeated, if that is earlier. Returns whether there was one.
    pub(crate) fn hurry(&mut self, n: Ipv4Addr, due: Time) -> bool {
        let Some(a) = self.asks.iter_mut().find(|a| a.neighbour == n && a.is_extra) else { return false };
        a.is_extra = false;
        match a.state {
            ExchangeState::Ready => self.by(Some(due)),
            ExchangeState::Again(at) => self.by(Some(at)),
            ExchangeState::Leaving => {}
        }
        true
    }
    /// A neighbour is verified.
    pub(crate) fn forget_ask(&mut self, n: Ipv4Addr) {
        self.asks.retain(|a| a.neighbour != n);
    }

    /// When the node is to look at this again, if that is earlier than it knows.
    pub(crate) fn next_look(&mut self) -> Option<Time> {
        let due = self.due.filter(|d| self.queued.is_none() && self.looks.is_none_or(|l| *d < l))?;
        self.looks = Some(due);
        Some(due)
    }

    /// The node looks at this. Returns whether a frame is to enter the queue, with this nonce.
    pub(crate) fn look(&mut self, at: Time, nonce: impl FnOnce() -> u64) -> bool {
        self.looks = self.looks.filter(|l| *l > at);
        if self.queued.is_some() || self.due.is_none_or(|d| d > at) {
            return false;
        }
        for a in &mut self.asks {
            if matches!(a.state, ExchangeState::Again(t) if t <= at) {
                (a.state, a.since) = (ExchangeState::Ready, at);
            }
        }
        self.asks.retain(|a| !a.is_extra || a.state != ExchangeState::Ready || at < a.since + STALE_AFTER);
        self.answers.retain(|a| !a.is_extra || at < a.since + STALE_AFTER);
        self.set_due(at);
        if self.due.is_none_or(|d| d > at) {
            return false;
        }
        self.queued = Some(nonce());
        true
    }

    /// When the next frame is due, of what is left.
    fn set_due(&mut self, at: Time) {
        let is_due = self.answers.iter().any(|a| !a.is_extra)
            || self.asks.iter().any(|a| !a.is_extra && a.state == ExchangeState::Ready);
        let repeats = self.asks.iter().filter_map(|a| match a.state {
            ExchangeState::Again(t) => Some(t),
            _ => None,
        });
        self.due = if is_due { Some(at) } else { repeats.min() };
    }

    /// The frame leaves: it takes along what fits in.
    pub(crate) fn take(&mut self) -> Option<Exchange> {
        let mut e = Exchange::new(self.queued.take()?);
        // What needs the frame first. Of challenges and answers one after the other, so that neither keeps the others out.
        self.answers.sort_by_key(|a| a.is_extra);
        self.asks.sort_by_key(|a| a.is_extra);
        let mut asks = self.asks.iter_mut().filter(|a| a.state == ExchangeState::Ready);
        let mut answered = 0;
        loop {
            let ask = asks.next().filter(|a| e.ask(a.neighbour)).map(|a| a.state = ExchangeState::Leaving);
            let answer =
                self.answers.get(answered).filter(|a| e.answer(a.neighbour, a.nonce)).map(|_| answered += 1);
            if ask.is_none() && answer.is_none() {
                break;
            }
        }
        self.answers.drain(..answered);
        Some(e)
    }

    /// A frame ended. `wait` tells how long to wait before the challenge of a neighbour is repeated, if it is.
    pub(crate) fn ended(&mut self, at: Time, mut wait: impl FnMut(Ipv4Addr) -> Option<Span>) {
        self.asks.retain_mut(|a| {
            if a.state != ExchangeState::Leaving {
                return true;
            }
            let again = wait(a.neighbour);
            a.state = again.map_or(ExchangeState::Leaving, |w| ExchangeState::Again(at + w));
            again.is_some()
        });
        self.set_due(at);
    }
    /// The frame in the queue got lost there: there is another one after this time.
    pub(crate) fn lost(&mut self, at: Time, wait: Span) {
        self.queued = None;
        for a in &mut self.asks {
            if a.state == ExchangeState::Leaving {
                a.state = ExchangeState::Ready;
            }
        }
        self.set_due(at + wait);
    }
}

/// The first gives its place to another.
fn make_room<T>(waiting: &mut Vec<T>) {
    if waiting.len() >= MAX_WAITING {
        waiting.remove(0);
    }
}
