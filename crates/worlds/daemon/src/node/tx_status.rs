//! Transmit status: whether unicasts were acknowledged, as reported by the interface's driver.
//!
//! Announced support for transmit status is not trusted at once. First the driver is watched: packets count
//! as sent, and the protocol confirms them itself, until the driver has reported [`TRUST_AFTER`] frames. From
//! then on each packet is kept until its status arrives. A driver that falls silent is watched again.
//!
//! A first failure is not reported: the packet is sent a second time, with all tries of the MAC.
//! Only the second failure is reported. (A neighbour that has just moved on fails both; one whose
//! radio was blocked for a few milliseconds does not.)

use std::collections::VecDeque;
use std::hash::Hasher as _;

use rustc_hash::FxHasher;
use wayhop_core::{BROADCAST, Frame, Payload, Span, Time};

/// Reports that make a driver trusted.
const TRUST_AFTER: u32 = 3;
/// Frames in a row that it may forget.
const MAX_UNTOLD: u32 = 16;
/// How long a driver may take: the MAC's tries, behind whatever waits in the driver.
const PATIENCE: Span = Span::from_secs(2);
/// The most frames whose status is open.
const MAX_OPEN: usize = 512;
/// How often a packet is sent.
const TRIES: u8 = 2;

/// The frames whose status is open, oldest first.
#[derive(Debug, Default)]
pub(crate) struct TxStatuses {
    state: State,
    open: VecDeque<OpenFrame>,
    /// The keys of frames that failed once and are to be sent again.
    failed: VecDeque<u64>,
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
struct OpenFrame {
    key: u64,
    due: Time,
    /// How often it was sent before.
    tries: u8,
    /// None while the driver is watched.
    frame: Option<Frame>,
}

/// What is to be done about a packet.
#[derive(Debug)]
pub(crate) enum StatusVerdict {
    /// It arrived.
    Acked(Frame),
    /// Send it once more.
    Again(Frame),
    /// It did not arrive, after this many tries.
    Lost(Frame, u8),
}

/// By what a frame is known again: its IP packet.
fn key(ip_packet: &[u8]) -> u64 {
    let mut h = FxHasher::default();
    h.write(ip_packet);
    h.finish()
}

impl TxStatuses {
    /// The driver is said to tell.
    pub(crate) fn watch(&mut self) {
        self.state = State::Watched;
        (self.told, self.untold) = (0, 0);
    }

    /// Whether there is anything to listen for.
    pub(crate) fn is_watching(&self) -> bool {
        self.state != State::Off
    }

    /// Whether the transmit status of every unicast is reported.
    pub(crate) fn is_trusted(&self) -> bool {
        self.state == State::Trusted
    }

    /// What changed since the last look.
    pub(crate) fn news(&mut self) -> Option<&'static str> {
        self.news.take()
    }

    /// Whether this packet was already sent once, unsuccessfully.
    pub(crate) fn is_second_try(&self, ip_packet: &[u8]) -> bool {
        !self.failed.is_empty() && self.failed.contains(&key(ip_packet))
    }

    /// The interface took a frame. Gives it back if its status will not be told.
    pub(crate) fn taken(&mut self, now: Time, frame: Frame) -> Option<Frame> {
        if self.state == State::Off || frame.next_hop == BROADCAST || frame.payload == Payload::Arp {
            return Some(frame);
        }
        let key = key(frame.packet.bytes());
        let failed = self.failed.iter().position(|k| *k == key).and_then(|at| self.failed.remove(at));
        let (keep, give) = if self.is_trusted() { (Some(frame), None) } else { (None, Some(frame)) };
        let tries = u8::from(failed.is_some());
        self.open.push_back(OpenFrame { key, due: now + PATIENCE, tries, frame: keep });
        give
    }

    /// The driver reported the transmit status of the frame with this IP packet.
    pub(crate) fn told(&mut self, ip_packet: &[u8], acked: bool) -> Option<StatusVerdict> {
        self.untold = 0;
        self.told = self.told.saturating_add(1);
        if self.state == State::Watched && self.told >= TRUST_AFTER {
            self.state = State::Trusted;
            self.news =
                Some("the interface reports transmit status; links are monitored by its acknowledgements");
        }
        let key = key(ip_packet);
        let at = self.open.iter().position(|o| o.key == key)?;
        let OpenFrame { tries, frame, .. } = self.open.remove(at)?;
        let (tries, frame) = (tries + 1, frame?);
        Some(if acked {
            StatusVerdict::Acked(frame)
        } else if tries < TRIES {
            // One that is recalled, or finds no room, leaves its key behind.
            if self.failed.len() >= MAX_OPEN {
                self.failed.pop_front();
            }
            self.failed.push_back(key);
            StatusVerdict::Again(frame)
        } else {
            StatusVerdict::Lost(frame, tries)
        })
    }

    /// A packet of whose status nothing will be heard: too long ago, or too many.
    pub(crate) fn untold(&mut self, now: Time) -> Option<Frame> {
        while self.open.front().is_some_and(|o| o.due <= now) || self.open.len() > MAX_OPEN {
            let open = self.open.pop_front()?;
            self.untold += 1;
            if self.untold >= MAX_UNTOLD {
                match self.state {
                    State::Trusted => {
                        self.watch();
                        self.news = Some(
                            "the interface stopped reporting transmit status; the protocol uses its own \
                             acknowledgements",
                        );
                    }
                    State::Watched if self.told == 0 => {
                        self.state = State::Off;
                        self.news = Some(
                            "the interface does not report transmit status, although its driver claims to; \
                             the protocol uses its own acknowledgements",
                        );
                    }
                    _ => {}
                }
            }
            if open.frame.is_some() {
                return open.frame;
            }
        }
        None
    }

    /// When to look for packets of which nothing will be heard.
    pub(crate) fn next(&self) -> Option<Time> {
        self.open.front().map(|o| o.due)
    }

    /// Frames whose status is open.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }
}

#[cfg(test)]
mod tests;
