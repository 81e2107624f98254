//! Counting the flows' packets between their applications and the kernel's sockets.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;

use wayhop_application_host::Watcher;
use wayhop_core::{Addr, FlowTag, NodeId, Time};
use wayhop_netns::Lateness;
use wayhop_trace::{HopEvent, HopKind, Messages};
use wayhop_transport::{Departures, INITIAL_TTL, Stamp};
use wayhop_wire::{ip, udp};

use crate::packets::{FlowEnds, packet_id};
use crate::record::{Record, Records};

/// Limit on the words of 64 sequence numbers kept per flow, so that a forged number cannot exhaust the
/// memory.
const MOST_WORDS: usize = 1 << 20;

/// Packets that come to an application.
pub(super) struct Expected {
    /// To this port; for the replies to a ping, with this identifier.
    pub(super) port: u16,
    pub(super) ends: FlowEnds,
}

/// What an application received of one flow.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowReceipt {
    pub(super) flow: u32,
    pub(super) latencies_ns: Vec<u64>,
    pub(super) octets: u64,
    pub(super) hops: u64,
    seen: Vec<u64>,
}

impl FlowReceipt {
    /// Whether packet `n` comes for the first time.
    fn is_new(&mut self, n: u32) -> bool {
        let (word, bit) = ((n / 64) as usize, 1 << (n % 64));
        if word >= MOST_WORDS {
            return false;
        }
        if word >= self.seen.len() {
            self.seen.resize(word + 1, 0);
        }
        let new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        new
    }
}

/// Measures what one application sends and receives, by the stamps.
pub(super) struct Meter {
    pub(super) node: NodeId,
    pub(super) begun: Instant,
    pub(super) records: Records,
    /// Set when sending must stop.
    pub(super) stop: Arc<AtomicBool>,
    /// Notified when the sockets are open.
    pub(super) opened: Option<Sender<()>>,
    pub(super) sends: Option<FlowEnds>,
    pub(super) expected: Vec<Expected>,
    /// When its node is down: from, until.
    pub(super) down: Vec<(Time, Time)>,
    pub(super) departures: Departures,
    /// Delays of departures.
    pub(super) lateness: Lateness,
    /// One for each flow with arrivals.
    pub(super) receipts: Vec<FlowReceipt>,
}

impl Meter {
    /// Nothing measured yet.
    pub(super) fn new(node: usize, begun: Instant, records: Records, stop: Arc<AtomicBool>) -> Self {
        Self {
            node: NodeId(node as u32),
            begun,
            records,
            stop,
            opened: None,
            sends: None,
            expected: Vec::new(),
            down: Vec::new(),
            departures: Departures::default(),
            lateness: Lateness::default(),
            receipts: Vec::new(),
        }
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.begun.elapsed().as_nanos() as u64)
    }

    fn record(&self, time: Time, kind: HopKind, ends: &FlowEnds, seq: u32, (ttl, data): (u8, &[u8])) {
        let row = HopEvent {
            iface: wayhop_core::IfaceId::ANY,
            time,
            packet: packet_id(ends.flow, seq),
            flow: Some(FlowTag { flow: ends.flow, seq }),
            node: self.node,
            // An echo message has a header as long as a datagram's.
            bytes: (ip::Repr::header_len(ends.to) + udp::HEADER_LEN + data.len()) as u32,
            source: ends.from,
            destination: ends.to,
            peer: Addr::UNSPECIFIED,
            signal_dbm: f32::NAN,
            kind,
            class: ends.class,
            messages: Messages::NONE,
            ttl,
            reason: None,
        };
        self.records.add(Record::Hop(row, None));
    }
}

impl Watcher for Meter {
    fn ready(&mut self) {
        // The receiver is gone if another application failed to start.
        let _ = self.opened.take().map(|opened| opened.send(()));
    }

    fn is_down(&self, at: Time) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.down.iter().any(|(from, until)| (*from..*until).contains(&at))
    }

    fn sent(&mut self, data: &[u8]) {
        let (Some(ends), Some(stamp)) = (self.sends, Stamp::parse(data)) else { return };
        self.lateness.record(self.now().since(stamp.sent));
        self.departures.count(stamp.sent);
        self.record(stamp.sent, HopKind::Originate, &ends, stamp.seq, (INITIAL_TTL, data));
    }

    fn received(&mut self, port: u16, from: IpAddr, ttl: Option<u8>, data: &[u8]) {
        let now = self.now();
        let is_from = |e: &&Expected| (e.port, e.ends.from) == (port, from.into());
        let Some(ends) = self.expected.iter().find(is_from).map(|e| e.ends) else { return };
        let Some(stamp) = Stamp::parse(data) else { return };
        let known = self.receipts.iter().position(|r| r.flow == ends.flow).unwrap_or(self.receipts.len());
        if known == self.receipts.len() {
            self.receipts.push(FlowReceipt { flow: ends.flow, ..FlowReceipt::default() });
        }
        let r = &mut self.receipts[known];
        if !r.is_new(stamp.seq) {
            return;
        }
        let ttl = ttl.unwrap_or(INITIAL_TTL);
        r.latencies_ns.push(now.since(stamp.sent).as_nanos());
        r.octets += data.len() as u64;
        r.hops += u64::from((INITIAL_TTL + 1).saturating_sub(ttl));
        self.record(now, HopKind::Deliver, &ends, stamp.seq, (ttl, data));
    }
}
