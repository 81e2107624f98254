//! Whether next hops pass packets on: the watchdog of Marti, Giuli, Lai and Baker (MobiCom 2000, section 3.1).
//!
//! A node that sent a packet to a next hop which is not its destination listens. If it does not
//! hear the next hop send the packet on within some time, that counts against the next hop; too
//! many within a window, and it misbehaves. The packet's source is notified by a Route Error of a
//! type that RFC 4728 does not define, which nodes without a watchdog ignore.
//!
//! According to the paper, it cannot detect: a collision at the listener (the packet was passed on,
//! unheard), a collision at the receiver behind (it was passed on but lost), a next hop that sends
//! too weakly for the next but strongly enough for the listener, one that drops less than the
//! threshold, two that drop in turn, and false reports.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use wayhop_core::{Span, Time};

use crate::cache::path::Path;
use crate::maintenance::maintenance_buffer::Fingerprint;

/// The Error Type of a report: its information is the node's address. RFC 4728 defines 1 to 3, 129 and 130.
pub(crate) const REPORT: u8 = 200;

/// The most packets that are waited for.
const MAX_WATCHED: usize = 256;
/// The most neighbours with failures.
const MAX_NEIGHBOURS: usize = 256;

/// A packet that a next hop is to pass on.
#[derive(Clone, Debug)]
pub(crate) struct WatchedPacket {
    pub(crate) what: Fingerprint,
    pub(crate) next_hop: Ipv4Addr,
    /// The way back to the node that chose the route; from here.
    pub(crate) back: Path,
    /// When the next hop got it.
    pub(crate) acked: Option<Time>,
}

/// What next hops are to pass on, and how often they did not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watchdog {
    pub(crate) watched: VecDeque<WatchedPacket>,
    /// By neighbour: when it failed, within the window.
    pub(crate) failures: BTreeMap<Ipv4Addr, VecDeque<Time>>,
}

impl Watchdog {
    pub(crate) fn put(&mut self, w: WatchedPacket) {
        if self.watched.len() == MAX_WATCHED {
            self.watched.pop_front();
        }
        self.watched.push_back(w);
    }

    /// Counts a failure, and gives how many there are within the window.
    pub(crate) fn fail(&mut self, neighbour: Ipv4Addr, now: Time, window: Span) -> usize {
        if self.failures.len() >= MAX_NEIGHBOURS && !self.failures.contains_key(&neighbour) {
            self.failures.clear();
        }
        let times = self.failures.entry(neighbour).or_default();
        while times.front().is_some_and(|t| *t + window <= now) {
            times.pop_front();
        }
        times.push_back(now);
        times.len()
    }

    /// The first packet whose time is over.
    pub(crate) fn take_overdue(&mut self, now: Time, timeout: Span) -> Option<WatchedPacket> {
        let at = self.watched.iter().position(|w| w.acked.is_some_and(|t| t + timeout <= now))?;
        self.watched.remove(at)
    }
}
