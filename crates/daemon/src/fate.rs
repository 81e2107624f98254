//! What became of unicasts, as the interface's driver tells: transmit status.
//!
//! A driver that is said to tell is not believed at once. First it is watched: packets count as sent, and the protocol looks
//! after them itself, until the driver has told of [`TRUST_AFTER`] frames. From then on each packet is kept until its fate is
//! told. A driver that falls silent is watched again.
//!
//! One failure is vetoed: the packet is sent a second time, with all tries of the MAC. Only the second failure is told.
//! (A neighbour that has just moved on fails both; one whose radio was blocked for a few milliseconds does not.)

use std::collections::VecDeque;
use std::hash::Hasher as _;

use rustc_hash::FxHasher;
use wayhop_core::{BROADCAST, Span, Time, TxStatus};

use crate::host::Host;
use crate::outbox::Outgoing;

/// Frames that a driver must tell of before it is trusted.
const TRUST_AFTER: u32 = 3;
/// Frames in a row that it may forget.
const MAX_UNTOLD: u32 = 16;
/// How long a driver may take: the MAC's tries, behind whatever waits in the driver.
const PATIENCE: Span = Span::from_secs(2);
/// The most frames whose fate is open.
const MAX_OPEN: usize = 512;
/// How often a packet is sent.
const TRIES: u8 = 2;

/// The frames whose fate is open, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Fates {
    state: State,
    open: VecDeque<Open>,
    /// Since the driver began to be watched, or in a row.
    told: u32,
    untold: u32,
    news: Option<&'static str>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum State {
    /// The driver tells nothing.
    #[default]
    Off,
    Watched,
    Trusted,
}

#[derive(Debug)]
struct Open {
    key: u64,
    due: Time,
    /// The packet, without its Ethernet header; none while the driver is watched.
    out: Option<Outgoing>,
}

/// What is to be done about a packet.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It arrived.
    Acked(Outgoing),
    /// Send it once more.
    Again(Outgoing),
    /// It did not arrive: so many tries.
    Lost(Outgoing, u8),
}

/// By what a frame is known again: its IP packet.
fn key(ip_packet: &[u8]) -> u64 {
    let mut h = FxHasher::default();
    h.write(ip_packet);
    h.finish()
}

impl Fates {
    /// The driver is said to tell.
    pub(crate) fn watch(&mut self) {
        self.state = State::Watched;
        (self.told, self.untold) = (0, 0);
    }

    /// Whether there is anything to listen for.
    pub(crate) fn is_watching(&self) -> bool {
        self.state != State::Off
    }

    /// Whether the fate of every unicast is told.
    pub(crate) fn is_trusted(&self) -> bool {
        self.state == State::Trusted
    }

    /// What changed since the last look.
    pub(crate) fn news(&mut self) -> Option<&'static str> {
        self.news.take()
    }

    /// The interface took a unicast. Gives it back if its fate will not be told.
    pub(crate) fn sent(&mut self, now: Time, key: u64, out: Outgoing) -> Option<Outgoing> {
        let (keep, give) = match self.state {
            State::Off => return Some(out),
            State::Watched => (None, Some(out)),
            State::Trusted => (Some(out), None),
        };
        self.open.push_back(Open { key, due: now + PATIENCE, out: keep });
        give
    }

    /// The driver told of a frame.
    pub(crate) fn told(&mut self, key: u64, acked: bool) -> Option<Verdict> {
        self.untold = 0;
        self.told = self.told.saturating_add(1);
        if self.state == State::Watched && self.told >= TRUST_AFTER {
            self.state = State::Trusted;
            self.news =
                Some("the interface tells what became of frames: links are watched by its acknowledgements");
        }
        let at = self.open.iter().position(|o| o.key == key)?;
        let mut out = self.open.remove(at)?.out?;
        Some(if acked {
            Verdict::Acked(out)
        } else if out.tries + 1 < TRIES {
            out.tries += 1;
            Verdict::Again(out)
        } else {
            Verdict::Lost(out, TRIES)
        })
    }

    /// A packet of whose fate nothing will be heard: too long ago, or too many.
    pub(crate) fn untold(&mut self, now: Time) -> Option<Outgoing> {
        while self.open.front().is_some_and(|o| o.due <= now) || self.open.len() > MAX_OPEN {
            let open = self.open.pop_front()?;
            self.untold += 1;
            if self.untold >= MAX_UNTOLD {
                match self.state {
                    State::Trusted => {
                        self.watch();
                        self.news = Some(
                            "the interface does not tell any more what became of frames: the protocol has its own \
                             acknowledgements",
                        );
                    }
                    State::Watched if self.told == 0 => {
                        self.state = State::Off;
                        self.news = Some(
                            "the interface does not tell what became of frames, although its driver says so: the protocol \
                             has its own acknowledgements",
                        );
                    }
                    _ => {}
                }
            }
            if open.out.is_some() {
                return open.out;
            }
        }
        None
    }

    /// When to look for packets of which nothing will be heard.
    pub(crate) fn next(&self) -> Option<Time> {
        self.open.front().map(|o| o.due)
    }

    /// Frames whose fate is open.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }
}

impl Host {
    /// The interface took a packet.
    pub(crate) fn taken(&mut self, out: Outgoing) {
        let out = if out.next_hop == BROADCAST || !self.fates.is_watching() {
            Some(out)
        } else {
            let key = key(out.packet.bytes());
            self.fates.sent(self.now(), key, out)
        };
        if let Some(out) = out {
            self.gone(out, TxStatus::Unknown);
        }
    }

    /// The driver told of a frame with this IP packet.
    pub(crate) fn fate(&mut self, ip_packet: &[u8], acked: bool) {
        match self.fates.told(key(ip_packet), acked) {
            None => {}
            Some(Verdict::Acked(out)) => self.gone(out, TxStatus::Acked),
            Some(Verdict::Again(out)) => self.enqueue(out),
            Some(Verdict::Lost(out, tries)) => self.ended(out, TxStatus::NoAck { tries }),
        }
    }
}

#[cfg(test)]
mod tests;
