//! What a kind of traffic is, and what it needs to turn its keys into flows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::Value;
use wayhop_core::{NodeId, Span, Time};
use wayhop_document::{Document, Origin, Result, in_range};
use wayhop_simulator_files::{MAX_TRACE_PACKETS, TraceFormat};
use wayhop_transport::{EVERYONE, FlowConfig, FlowKind, MAX_PAYLOAD, Schedule};

use super::ip::{IpVersion, check_flow};
use crate::nodes::NodeRef;

pub(crate) const MAX_FLOWS: usize = 1_000_000;

/// When a flow starts, and when it stops if that is given; seconds.
pub(crate) type Times = (f64, Option<f64>);

/// A key that an entry leaves open, with its value and origin.
pub(crate) type OpenKey = (&'static str, Value, Origin);

pub(crate) trait TrafficKind {
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<()>;
    /// When it starts and stops; `None` if a file says so.
    fn times(&self) -> Option<Times>;
    /// The values of keys that the entry leaves open: by default those of a flow that goes on until the run ends.
    fn unsaid(&self, run: &RunContext<'_>) -> Result<Vec<OpenKey>> {
        Ok(vec![over_ipv4(), ("stop_s", run.end_s.into(), Origin::derived("duration_s"))])
    }
    fn file(&self) -> Option<&Path> {
        None
    }
}

/// What the rest of a scenario says to its traffic.
pub(crate) struct Network<'a> {
    pub(crate) nodes: usize,
    pub(crate) find: &'a dyn Fn(&NodeRef, &str) -> Result<NodeId>,
    pub(crate) has_ipv6: bool,
    /// Whether movement comes from files of ns-2.
    pub(crate) moves_as_in_ns2: bool,
    /// What the profile `ns2` of TCP pads headers by here, octets.
    pub(crate) tcp_padding: u8,
    pub(crate) seed: u64,
}

pub(crate) struct TrafficEntry<'a> {
    pub(crate) number: usize,
    /// Its key, such as `traffic[0]`.
    pub(crate) key: String,
    pub(crate) doc: &'a Document,
    pub(crate) network: &'a Network<'a>,
}

/// What decides the values of keys that an entry leaves open.
pub(crate) struct RunContext<'a> {
    /// The entry's key, such as `traffic[0]`.
    pub(crate) key: String,
    pub(crate) doc: &'a Document,
    /// What the profile `ns2` of TCP pads headers by here, octets.
    pub(crate) tcp_padding: u8,
    pub(crate) end_s: f64,
}

/// From where to where, when, and over which version of IP.
pub(crate) struct FlowKeys<'a> {
    pub(crate) src: &'a NodeRef,
    pub(crate) dst: &'a NodeRef,
    pub(crate) start_s: f64,
    pub(crate) stop_s: Option<f64>,
    pub(crate) ip: IpVersion,
}

/// The keys that these kinds of traffic have in common.
macro_rules! flow_keys {
    ($entry:ident) => {
        $crate::traffic::kind::FlowKeys {
            src: &$entry.src,
            dst: &$entry.dst,
            start_s: $entry.start_s,
            stop_s: $entry.stop_s,
            ip: $entry.ip,
        }
    };
}
pub(crate) use flow_keys;

impl<'a> TrafficEntry<'a> {
    pub(crate) fn new(number: usize, doc: &'a Document, network: &'a Network<'a>) -> Self {
        Self { number, key: format!("traffic[{number}]"), doc, network }
    }

    pub(crate) fn key_of(&self, field: &str) -> String {
        format!("{}.{field}", self.key)
    }

    pub(crate) fn flow(
        &self,
        kind: FlowKind,
        FlowKeys { src, dst, start_s, stop_s, ip }: FlowKeys<'_>,
        payload_bytes: u32,
        max_packets: Option<u64>,
    ) -> Result<FlowConfig> {
        check_times(self.doc, |field| self.key_of(field), start_s, stop_s)?;
        self.check_payload(payload_bytes)?;
        let from = (self.network.find)(src, &self.key_of("src"))?;
        let to = match dst {
            NodeRef::Name(name) if name == "all" => EVERYONE,
            one => (self.network.find)(one, &self.key_of("dst"))?,
        };
        if to == EVERYONE && matches!(kind, FlowKind::Ping { .. } | FlowKind::Tcp(_)) {
            let reason = "a ping or connection cannot go to all nodes";
            return Err(self.doc.error(&self.key_of("dst"), reason, "name one node"));
        }
        if from == to {
            let reason = "source and destination are the same node";
            return Err(self.doc.error(&self.key_of("dst"), reason, "name another node"));
        }
        let flow = FlowConfig {
            start: Time::from_secs_f64(start_s),
            stop: stop_s.map(Time::from_secs_f64),
            max_packets,
            ip6: ip == IpVersion::V6,
            ..FlowConfig::new(kind, from, to, payload_bytes)
        };
        let key = if flow.ip6 && flow.is_to_all() { "dst" } else { "ip" };
        check_flow(&flow, self.network.has_ipv6, &self.key_of(key), self.doc)?;
        Ok(flow)
    }

    pub(crate) fn check_rate(&self, rate_pps: f64) -> Result<f64> {
        in_range(self.doc, &self.key_of("rate_pps"), rate_pps, 1e-9, 1e6)
    }

    pub(crate) fn check_payload(&self, bytes: u32) -> Result<f64> {
        in_range(self.doc, &self.key_of("payload_bytes"), f64::from(bytes), 1.0, f64::from(MAX_PAYLOAD))
    }
}

/// The flows of a scenario, as they are made.
pub(crate) struct Flows<'a> {
    pub(crate) made: Vec<FlowConfig>,
    /// The flows of files of ns-2, until an entry takes them.
    ns2: &'a [FlowConfig],
    pub(crate) traces: Traces,
}

impl<'a> Flows<'a> {
    /// None yet; `ns2` are those of files of ns-2.
    pub(crate) fn new(ns2: &'a [FlowConfig]) -> Self {
        Self { made: Vec::new(), ns2, traces: Traces::default() }
    }

    pub(crate) fn add(&mut self, flow: FlowConfig) {
        self.made.push(flow);
    }

    /// Adds those of files of ns-2, once.
    pub(crate) fn add_ns2(&mut self) {
        self.made.extend_from_slice(std::mem::take(&mut self.ns2));
    }
}

/// The traffic traces of a scenario: each file is read once.
#[derive(Default)]
pub(crate) struct Traces {
    read: BTreeMap<(PathBuf, TraceFormat), Arc<Schedule>>,
    packets: usize,
}

impl Traces {
    pub(crate) fn read(&mut self, path: PathBuf, format: TraceFormat) -> Result<Arc<Schedule>> {
        let key = (path, format);
        if let Some(known) = self.read.get(&key) {
            return Ok(Arc::clone(known));
        }
        let schedule = Arc::new(format.read(&key.0, MAX_TRACE_PACKETS - self.packets)?);
        self.packets += schedule.packets().len();
        self.read.insert(key, Arc::clone(&schedule));
        Ok(schedule)
    }
}

/// At least a nanosecond, so that time goes on.
pub(crate) fn interval(seconds: f64) -> Span {
    Span::from_secs_f64(seconds).max(Span::from_nanos(1))
}

/// Unless an entry says so, its packets are IPv4's.
pub(crate) fn over_ipv4() -> OpenKey {
    ("ip", 4.into(), Origin::Default)
}

pub(crate) fn payload() -> u32 {
    64
}
pub(crate) fn rate() -> f64 {
    4.0
}

/// Checks when a flow begins and ends, seconds.
pub(crate) fn check_times(
    doc: &Document,
    key: impl Fn(&str) -> String,
    start_s: f64,
    stop_s: Option<f64>,
) -> Result<()> {
    in_range(doc, &key("start_s"), start_s, 0.0, 1e9)?;
    let stop_s = in_range(doc, &key("stop_s"), stop_s, 0.0, 1e9)?;
    let Some(stop) = stop_s.filter(|stop| *stop <= start_s) else { return Ok(()) };
    let reason = format!("{stop} is not after start_s = {start_s}");
    Err(doc.error(&key("stop_s"), reason, "give a later time, or remove the key"))
}
