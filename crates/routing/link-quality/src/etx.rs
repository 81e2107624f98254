//! The expected transmission count of links to neighbours (De Couto, Aguayo, Bicket and Morris 2003), by broadcast probes
//! as LQSR sends them (Draves, Padhye and Zill 2004).
//!
//! Every node broadcasts a probe each [`INTERVAL`], with 10 % jitter. A probe says how many probes its sender
//! has heard from each neighbour in the last [`WINDOW`]. So a node knows of each neighbour
//! * dr, the share of the neighbour's probes that it heard, and
//! * df, the share of its own probes that the neighbour heard;
//!
//! a unicast and its acknowledgement come through with df dr, and the expected number of transmissions is
//! ETX = 1 / (df dr).

use std::net::Ipv4Addr;

use wayhop_core::{Span, Time};

use crate::table::SortedTable;

/// The mean time between two probes of a node.
pub const INTERVAL: Span = Span::from_secs(1);
/// Probes of the last 10 s count.
pub const WINDOW: Span = Span::from_secs(10);
/// How many probes that makes.
pub const PROBES: u8 = 10;

/// The cost of a link: its ETX in units of 1/1024. Sums of a route's links do not overflow.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(pub u32);

impl Cost {
    /// A link without loss: one transmission a packet.
    pub const ONE: Self = Self(1024);
    /// What a link costs that nobody has measured: somewhat less than half of the probes come through each way.
    pub const UNKNOWN: Self = Self(5 * 1024);
    /// The dearest link: at most one probe of ten comes through each way.
    pub const WORST: Self = Self(100 * 1024);

    /// The cost of a link over which these shares of probes come through, each from 0 to 1.
    pub fn of_ratios(df: f64, dr: f64) -> Self {
        let etx = 1.0 / (df * dr).max(1e-6);
        Self((etx * 1024.0 + 0.5) as u32).min(Self::WORST)
    }
    /// The expected transmission count.
    pub fn etx(self) -> f64 {
        f64::from(self.0) / 1024.0
    }
}

/// What is known of one neighbour by probes.
#[derive(Copy, Clone, Debug)]
struct ProbeRecord {
    /// When its last probes came, a ring.
    heard: [Time; PROBES as usize + 2],
    next: u8,
    /// How many of this node's probes it said to have heard, and when it said so.
    told: Option<(u8, Time)>,
}

/// Delivery ratios of this node's links, by probes.
#[derive(Clone, Debug)]
pub struct Etx {
    rows: SortedTable<Ipv4Addr, ProbeRecord>,
    began: Option<Time>,
}

impl Etx {
    /// An estimator for at most `capacity` neighbours; a new one then replaces the one silent for longest.
    pub fn new(capacity: usize) -> Self {
        Self { rows: SortedTable::new(capacity), began: None }
    }

    /// This node sent a probe.
    pub fn sent(&mut self, now: Time) {
        self.began.get_or_insert(now);
    }

    /// A probe of `neighbour` came. `count` is how many of this node's probes it says to have heard; `None` when its
    /// list does not name this node.
    pub fn heard(&mut self, neighbour: Ipv4Addr, count: Option<u8>, now: Time) {
        self.began.get_or_insert(now);
        let fresh = ProbeRecord { heard: [Time::NEVER; PROBES as usize + 2], next: 0, told: None };
        let row = self.rows.touch(neighbour, now, || fresh);
        row.heard[usize::from(row.next)] = now;
        row.next = (row.next + 1) % row.heard.len() as u8;
        row.told = Some((count.unwrap_or(0), now));
    }

    /// Each neighbour and how many of its probes came within the last [`WINDOW`]: what a probe says.
    pub fn counts(&self, now: Time) -> impl Iterator<Item = (Ipv4Addr, u8)> {
        self.rows.iter().map(move |(a, r)| (a, count(r, now))).filter(|(_, n)| *n > 0)
    }

    /// (df, dr) of the link to a neighbour; `None` when nothing was heard of it for a window.
    ///
    /// Both shares are of the probes due in the window, or since this node began if that is later.
    pub fn ratios(&self, neighbour: Ipv4Addr, now: Time) -> Option<(f64, f64)> {
        let row = self.rows.get(neighbour)?;
        let n = count(row, now);
        let (told, at) = row.told?;
        if n == 0 {
            return None;
        }
        let due = |until: Time| {
            let age = until.since(self.began.unwrap_or(until)).min(WINDOW);
            (age.as_secs_f64() / INTERVAL.as_secs_f64()).clamp(1.0, PROBES.into())
        };
        Some(((f64::from(told) / due(at)).min(1.0), (f64::from(n) / due(now)).min(1.0)))
    }

    /// The cost of the link to a neighbour, the same in both directions; `None` when it was never measured, or not for a
    /// window.
    pub fn cost(&self, neighbour: Ipv4Addr, now: Time) -> Option<Cost> {
        self.ratios(neighbour, now).map(|(df, dr)| Cost::of_ratios(df, dr))
    }
    /// Every neighbour with its (df, dr), by address.
    pub fn iter(&self, now: Time) -> impl Iterator<Item = (Ipv4Addr, (f64, f64))> {
        self.rows.iter().filter_map(move |(a, _)| Some((a, self.ratios(a, now)?)))
    }
}

fn count(row: &ProbeRecord, now: Time) -> u8 {
    let recent = |t: &&Time| **t != Time::NEVER && now.since(**t) < WINDOW;
    (row.heard.iter().filter(recent).count() as u8).min(PROBES)
}
