//! The fates of the programs' packets, and the routing overhead.

use std::collections::BTreeMap;

use wayhop_core::{PacketId, Time};
use wayhop_trace::{HopEvent, HopKind, Messages, Observer};

/// What section 6.3 of the paper measures of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traffic {
    packets: BTreeMap<PacketId, ProgramPacket>,
    /// In the order of [`OverheadKind`].
    overhead: [Count; OverheadKind::ALL.len()],
    /// Transmissions of Route Requests that carry a Route Error, which count as both.
    pub(crate) errors_on_requests: u64,
}

#[derive(Copy, Clone, Debug)]
struct ProgramPacket {
    born: Time,
    bytes: u32,
    /// Hops that it has made, and with its arrival, how many they were.
    hops: u32,
    arrived: Option<(Time, u32)>,
    dropped: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum OverheadKind {
    Request,
    Reply,
    Error,
    /// DSR's own header in a packet of a program.
    SourceRoute,
    /// Any other routing packet.
    Other,
}

impl OverheadKind {
    pub(crate) const ALL: [Self; 5] =
        [Self::Request, Self::Reply, Self::Error, Self::SourceRoute, Self::Other];

    fn named(message: &str) -> Self {
        match message {
            "rreq" => Self::Request,
            "rrep" => Self::Reply,
            "rerr" => Self::Error,
            _ => Self::Other,
        }
    }
}

/// Transmissions by nodes, a packet that is forwarded once for each hop.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// Packets that were sent within some time and whose end is known.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct Share {
    pub(crate) sent: u64,
    pub(crate) arrived: u64,
    latency_s: f64,
    hops: u64,
    /// The most that one made.
    pub(crate) most_hops: u32,
    several_hops: u64,
}

impl Share {
    fn add(&mut self, p: &ProgramPacket) {
        self.sent += u64::from(p.arrived.is_some() || p.dropped);
        if let Some((at, hops)) = p.arrived {
            self.arrived += 1;
            self.latency_s += at.since(p.born).as_secs_f64();
            self.hops += u64::from(hops);
            self.most_hops = self.most_hops.max(hops);
            self.several_hops += u64::from(hops > 1);
        }
    }
    fn of_arrived(&self, sum: f64) -> Option<f64> {
        (self.arrived > 0).then(|| sum / self.arrived as f64)
    }
    pub(crate) fn delivered_pct(&self) -> Option<f64> {
        (self.sent > 0).then(|| 100.0 * self.arrived as f64 / self.sent as f64)
    }
    /// Mean time from the source's program to the destination's, ms.
    pub(crate) fn latency_ms(&self) -> Option<f64> {
        self.of_arrived(1e3 * self.latency_s)
    }
    pub(crate) fn hops_mean(&self) -> Option<f64> {
        self.of_arrived(self.hops as f64)
    }
    /// Of those that arrived, %.
    pub(crate) fn several_hops_pct(&self) -> Option<f64> {
        self.of_arrived(100.0 * self.several_hops as f64)
    }
}

impl Traffic {
    /// The packets that were born at such times. Packets in transit at the end of the run are not counted.
    pub(crate) fn born(&self, within: impl Fn(Time) -> bool) -> Share {
        let mut share = Share::default();
        self.packets.values().filter(|p| within(p.born)).for_each(|p| share.add(p));
        share
    }
    /// One for each stretch of `length_s` from the beginning on.
    pub(crate) fn by_interval(&self, length_s: f64) -> Vec<Share> {
        let mut shares = Vec::new();
        for p in self.packets.values() {
            let i = (p.born.as_secs_f64() / length_s) as usize;
            if shares.len() <= i {
                shares.resize(i + 1, Share::default());
            }
            shares[i].add(p);
        }
        shares
    }
    /// The packets that arrived, by the hops that they made.
    pub(crate) fn by_hops(&self) -> BTreeMap<u32, u64> {
        let mut counts = BTreeMap::new();
        for (_, hops) in self.packets.values().filter_map(|p| p.arrived) {
            *counts.entry(hops).or_default() += 1;
        }
        counts
    }
    pub(crate) fn overhead(&self, kind: OverheadKind) -> Count {
        self.overhead[kind as usize]
    }
}

impl Observer for Traffic {
    fn hop(&mut self, e: &HopEvent) {
        if e.class.is_control() {
            if matches!(e.kind, HopKind::Send | HopKind::Forward) {
                let kind = OverheadKind::named(e.class.name());
                self.count(kind, u64::from(e.bytes));
                self.carried(e.messages, kind);
            }
            return;
        }
        if e.kind == HopKind::Originate {
            let sent = ProgramPacket { born: e.time, bytes: e.bytes, hops: 0, arrived: None, dropped: false };
            self.packets.insert(e.packet, sent);
            return;
        }
        let Some(p) = self.packets.get_mut(&e.packet) else { return };
        match e.kind {
            HopKind::Receive => p.hops += 1,
            HopKind::Deliver => p.arrived = p.arrived.or(Some((e.time, p.hops))),
            HopKind::Drop => p.dropped = true,
            HopKind::Send | HopKind::Forward => {
                let header = e.bytes.saturating_sub(p.bytes);
                if header > 0 {
                    self.count(OverheadKind::SourceRoute, u64::from(header));
                }
                self.carried(e.messages, OverheadKind::SourceRoute);
            }
            _ => {}
        }
    }
}

impl Traffic {
    /// Counts the messages that a packet counted as `kind` carries besides; their octets are within the packet's.
    fn carried(&mut self, messages: Messages, kind: OverheadKind) {
        for other in messages.names().map(OverheadKind::named) {
            if other != kind && other != OverheadKind::Other {
                self.overhead[other as usize].packets += 1;
                self.errors_on_requests +=
                    u64::from((other, kind) == (OverheadKind::Error, OverheadKind::Request));
            }
        }
    }

    fn count(&mut self, kind: OverheadKind, bytes: u64) {
        let count = &mut self.overhead[kind as usize];
        count.packets += 1;
        count.bytes += bytes;
    }
}
