//! What became of a run's packets, from its tables.

use rustc_hash::{FxHashMap, FxHashSet};
use wayhop_report::Distribution;
use wayhop_trace::{Error, OutcomeRow, PacketRow, PartialRecord, outcome_rows, packet_rows};

use crate::column::ColumnRun;

/// Packets on a page of the ledger.
const PAGE: usize = 1 << 8;
/// More packets than these pages hold are not followed: no run has them, a damaged or forged file might.
const MOST_PAGES: usize = 1 << 18;
/// More arrivals of packets to all are not told from further copies.
const MOST_ARRIVALS: usize = 1 << 24;

/// What became of the packets of all flows of a run, by the time when they were sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Packets sent, by span of time, each once for every node that it is for; pings, too.
    pub sent: Vec<u64>,
    /// Of those, how many arrived.
    pub delivered: Vec<u64>,
    /// Octets of the IP packets that arrived, by the span of time in which they arrived, further copies left out.
    pub arrived_octets: Vec<u64>,
    /// One-way latency in milliseconds of the first copy of each packet that arrived, without pings.
    pub latency_ms: Distribution,
    /// The same by span of time.
    pub latency_over_time_ms: Vec<Distribution>,
    /// How many of the same packets arrived over 1, 2, ... hops.
    pub hops: Vec<u64>,
}

impl Traffic {
    /// Reads the tables of a run, with spans of `span_s` seconds.
    pub fn read(run: &ColumnRun, span_s: f64) -> Result<Self, Error> {
        let spans = ((run.summary.simulated_s / span_s).ceil() as usize).clamp(1, 10_000);
        let mut count = Count {
            ledger: Ledger::default(),
            to_all: run.summary.flows.iter().map(wayhop_trace::FlowSummary::is_to_all).collect(),
            arrived: FxHashSet::default(),
            span_ns: (span_s * 1e9).max(1.0) as u64,
            spans,
            counted: false,
            lacks_packets: run.manifest.record.as_ref().is_some_and(PartialRecord::lacks_packets),
            found: Self {
                sent: vec![0; spans],
                delivered: vec![0; spans],
                arrived_octets: vec![0; spans],
                latency_over_time_ms: vec![Distribution::default(); spans],
                ..Self::default()
            },
        };
        // The table has the packets that count: not the acknowledgements of TCP.
        outcome_rows(&run.dir, |o| count.announce(o))?;
        packet_rows(&run.dir, |p| count.packet(p))?;
        if count.counted {
            outcome_rows(&run.dir, |o| count.outcome(o))?;
        }
        if count.ledger.is_full {
            return Err(Error::Invalid {
                path: run.dir.path().join("packets.parquet"),
                what: "impossible packet numbers: the file is damaged, or was not written by Wayhop"
                    .to_owned(),
            });
        }
        Ok(count.found)
    }
}

#[derive(Copy, Clone, Default)]
struct PacketFate {
    /// When it was made, nanoseconds plus one; 0 while it is not known.
    made: u64,
    ttl: u8,
    counts: bool,
    has_arrived: bool,
}

/// Packets by flow and number, 16 octets each, as long as numbers are dense.
#[derive(Default)]
struct Ledger {
    pages: FxHashMap<(u32, u32), Box<[PacketFate]>>,
    is_full: bool,
}

impl Ledger {
    fn get(&mut self, (flow, seq): (u32, u32)) -> Option<&mut PacketFate> {
        let page = (flow, seq / PAGE as u32);
        if self.pages.len() >= MOST_PAGES && !self.pages.contains_key(&page) {
            self.is_full = true;
            return None;
        }
        let entries =
            self.pages.entry(page).or_insert_with(|| vec![PacketFate::default(); PAGE].into_boxed_slice());
        entries.get_mut(seq as usize % PAGE)
    }
}

struct Count {
    ledger: Ledger,
    to_all: Vec<bool>,
    /// The arrivals of packets to all.
    arrived: FxHashSet<(u32, u32, u32)>,
    span_ns: u64,
    spans: usize,
    /// Whether the run says which packets count.
    counted: bool,
    /// Whether there are packets without rows.
    lacks_packets: bool,
    found: Traffic,
}

impl Count {
    fn announce(&mut self, o: &OutcomeRow<'_>) {
        self.counted = true;
        if let Some(entry) = self.ledger.get(o.packet) {
            entry.counts = true;
        }
    }

    fn span(&self, made_ns: u64) -> usize {
        ((made_ns / self.span_ns) as usize).min(self.spans - 1)
    }

    fn packet(&mut self, p: &PacketRow<'_>) {
        match p.event {
            "originate" => self.made(p),
            "deliver" => self.delivered(p),
            _ => {}
        }
    }

    fn made(&mut self, p: &PacketRow<'_>) {
        let counted = self.counted;
        let to_all = self.is_to_all(p.packet.0);
        let Some(entry) = self.ledger.get(p.packet) else { return };
        if entry.made > 0 {
            return;
        }
        entry.made = p.time_ns.saturating_add(1);
        entry.ttl = p.ttl;
        // Without the table of outcomes each packet counts, except those with an unknown number of receivers.
        if !counted && !to_all {
            entry.counts = true;
            let span = self.span(p.time_ns);
            self.found.sent[span] += 1;
        }
    }

    fn is_to_all(&self, flow: u32) -> bool {
        self.to_all.get(flow as usize).copied().unwrap_or(false)
    }

    fn delivered(&mut self, p: &PacketRow<'_>) {
        let (to_all, counted) = (self.is_to_all(p.packet.0), self.counted);
        let (flow, seq) = p.packet;
        let is_further = |arrived: &mut FxHashSet<_>| {
            arrived.len() >= MOST_ARRIVALS || !arrived.insert((flow, seq, p.node))
        };
        if to_all && is_further(&mut self.arrived) {
            return;
        }
        let Some(entry) = self.ledger.get(p.packet) else { return };
        if entry.made == 0 || counted && !entry.counts || !to_all && entry.has_arrived {
            return;
        }
        entry.has_arrived = true;
        let (made, hops) = (entry.made - 1, usize::from(entry.ttl.saturating_sub(p.ttl)) + 1);
        let arrived = self.span(p.time_ns);
        self.found.arrived_octets[arrived] += u64::from(p.bytes);
        let span = self.span(made);
        if !counted && !to_all {
            self.found.delivered[span] += 1;
        }
        if p.class == "ping" {
            return;
        }
        let ms = p.time_ns.saturating_sub(made) as f64 / 1e6;
        self.found.latency_ms.add(ms);
        self.found.latency_over_time_ms[span].add(ms);
        if self.found.hops.len() < hops {
            self.found.hops.resize(hops, 0);
        }
        self.found.hops[hops - 1] += 1;
    }

    fn outcome(&mut self, o: &OutcomeRow<'_>) {
        let made = self.ledger.get(o.packet).map_or(0, |e| e.made);
        // All outcomes are recorded, but not the rows of all packets.
        if made == 0 && self.lacks_packets {
            return;
        }
        let span = self.span(made.saturating_sub(1));
        let nodes = u64::from(o.nodes);
        self.found.sent[span] += nodes;
        if o.outcome == "delivered" {
            self.found.delivered[span] += nodes;
        }
    }
}
