//! From the scenario's traffic entries to flows.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use wayhop_core::{NodeId, Purpose, Rng, Span, Time, stream};
use wayhop_document::{Document, Error, in_range};
use wayhop_simulator_files::{MAX_TRACE_PACKETS, TraceFormat};
use wayhop_transport::{DEFAULT_PORT, EVERYONE, FlowConfig, FlowKind, Lengths, MAX_PAYLOAD, OnOff, Schedule};

use super::ip_version::IpVersion;
use super::schema::{Cbr, CbrRandom, Ping, Poisson, Traffic, TrafficTrace};
use crate::file::Scenario;
use crate::nodes::{NodeRef, Placed};

/// The most flows of a scenario.
pub(crate) const MAX_FLOWS: usize = 1_000_000;

/// How many ports there are from [`DEFAULT_PORT`] upwards.
const PORTS: usize = 65_536 - DEFAULT_PORT as usize;
/// Streams of generators, apart from those of flows, which are numbered from 0.
const GENERATOR_STREAMS: u64 = 1 << 32;

/// A flow of an ns-2 traffic file; TCP's with this padding.
fn padded(flow: &FlowConfig, padding: u8) -> FlowConfig {
    let mut flow = flow.clone();
    if let FlowKind::Tcp(config) = &mut flow.kind {
        config.padding = padding;
    }
    flow
}

pub(crate) fn flows(scenario: &Scenario, placed: &Placed, seed: u64) -> Result<Vec<FlowConfig>, Error> {
    let doc = &scenario.document;
    let mut out = Vec::new();
    let mut ns2_done = false;
    let mut traces = Traces::default();
    let padding = scenario.protocol.tcp_padding();
    let from_files = || placed.ns2_flows.iter().map(|f| padded(f, padding));
    for (k, entry) in scenario.traffic.iter().enumerate() {
        let at = Entry { key: format!("traffic[{k}]"), doc, placed };
        match entry {
            Traffic::Cbr(f) => out.push(at.cbr(f)?),
            Traffic::Poisson(f) => out.push(at.poisson(f)?),
            Traffic::Ping(f) => out.push(at.ping(f)?),
            Traffic::OnOff(f) => {
                let kind = at.bursts(f.payload_bytes, f.rate_bps, (f.on_s, f.off_s), Lengths::Exponential)?;
                let (ends, times) = ((&f.src, &f.dst), (f.start_s, f.stop_s));
                let flow = at.flow(kind, ends, times, f.payload_bytes, f.max_packets)?;
                out.push(at.over(f.ip, flow)?);
            }
            Traffic::Pareto(f) => {
                in_range(doc, &at.sub("shape"), f.shape, 1.01, 100.0)?;
                let lengths = Lengths::Pareto { shape: f.shape };
                let kind = at.bursts(f.payload_bytes, f.rate_bps, (f.on_s, f.off_s), lengths)?;
                let (ends, times) = ((&f.src, &f.dst), (f.start_s, f.stop_s));
                let flow = at.flow(kind, ends, times, f.payload_bytes, f.max_packets)?;
                out.push(at.over(f.ip, flow)?);
            }
            Traffic::Trace(f) => out.push(at.trace(f, &mut traces)?),
            Traffic::Tcp(f) => {
                let config = crate::traffic::tcp::resolve(f, &at.key, doc, padding)?;
                let (ends, times) = ((&f.src, &f.dst), (f.start_s, f.stop_s));
                let flow = at.flow(FlowKind::Tcp(config), ends, times, config.segment_bytes, None)?;
                out.push(at.over(f.ip, flow)?);
            }
            Traffic::CbrRandom(f) => {
                let mut rng = stream(seed, Purpose::Traffic, GENERATOR_STREAMS + k as u64);
                at.random(f, &mut rng, &mut out)?;
            }
            Traffic::Ns2(_) if !matches!(scenario.movement, crate::movement::Movement::Ns2 { .. }) => {
                return Err(doc.error(
                    &at.key,
                    "an ns-2 traffic file with a movement of another kind: its node numbers would mean nothing",
                    "take the movement from an ns-2 file too, or write the flows out",
                ));
            }
            // All ns-2 files are read together; their flows stand where the first of them does.
            Traffic::Ns2(_) if ns2_done => {}
            Traffic::Ns2(_) => {
                ns2_done = true;
                out.extend(from_files());
            }
        }
        if out.len() > MAX_FLOWS {
            return Err(doc.error(&at.key, format!("more than {MAX_FLOWS} flows"), "give fewer"));
        }
    }
    if !ns2_done {
        // A movement file may hold traffic lines as well.
        out.extend(from_files());
    }
    // A port of its own tells each flow apart in captures, and in real networks.
    for (k, flow) in out.iter_mut().enumerate() {
        flow.src_port = DEFAULT_PORT + (k % PORTS) as u16;
        flow.dst_port = flow.src_port;
    }
    Ok(out)
}

/// A word on flows that are the same in everything but their number: somebody has probably written one twice.
pub(crate) fn twins(flows: &[FlowConfig], names: &[String]) -> Option<String> {
    /// So many flows of the same ends and times are compared with each: a bound on the work.
    const NEAR: usize = 16;
    let same = |a: &FlowConfig, b: &FlowConfig| {
        FlowConfig { src_port: b.src_port, dst_port: b.dst_port, ..a.clone() } == *b
    };
    let mut order: Vec<usize> = (0..flows.len()).collect();
    order.sort_by_key(|&i| (flows[i].src, flows[i].dst, flows[i].start, flows[i].stop, i));
    let mut pairs = Vec::new();
    for (k, &i) in order.iter().enumerate() {
        let earlier = order[k.saturating_sub(NEAR)..k].iter().find(|&&j| same(&flows[j], &flows[i]));
        pairs.extend(earlier.map(|&j| (j, i)));
    }
    let &(first, second) = pairs.iter().min_by_key(|p| p.1)?;
    // A flow to all has no node at its end.
    let name = |id: NodeId| names.get(id.index()).map_or("all nodes", String::as_str);
    Some(format!(
        "{} of {} flows repeat another one, flow {second} (from {} to {}, like flow {first}) for one: all are sent",
        pairs.len(),
        flows.len(),
        name(flows[first].src),
        name(flows[first].dst)
    ))
}

/// At least a nanosecond, so that time goes on.
fn interval(seconds: f64) -> Span {
    Span::from_secs_f64(seconds).max(Span::from_nanos(1))
}

/// The traffic traces of a scenario: each file is read once.
#[derive(Default)]
struct Traces {
    read: BTreeMap<(PathBuf, TraceFormat), Arc<Schedule>>,
    packets: usize,
}

impl Traces {
    fn read(&mut self, path: PathBuf, format: TraceFormat) -> Result<Arc<Schedule>, Error> {
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

struct Entry<'a> {
    key: String,
    doc: &'a Document,
    placed: &'a Placed,
}

impl Entry<'_> {
    fn sub(&self, field: &str) -> String {
        format!("{}.{field}", self.key)
    }

    fn cbr(&self, f: &Cbr) -> Result<FlowConfig, Error> {
        let kind = self.cbr_kind(f.rate_pps, f.jitter)?;
        let flow =
            self.flow(kind, (&f.src, &f.dst), (f.start_s, f.stop_s), f.payload_bytes, f.max_packets)?;
        self.over(f.ip, flow)
    }

    fn poisson(&self, f: &Poisson) -> Result<FlowConfig, Error> {
        self.rate(f.rate_pps)?;
        let kind = FlowKind::Poisson { interval: interval(1.0 / f.rate_pps) };
        let flow =
            self.flow(kind, (&f.src, &f.dst), (f.start_s, f.stop_s), f.payload_bytes, f.max_packets)?;
        self.over(f.ip, flow)
    }

    fn ping(&self, f: &Ping) -> Result<FlowConfig, Error> {
        in_range(self.doc, &self.sub("interval_s"), f.interval_s, 1e-6, 1e9)?;
        let kind = FlowKind::Ping { interval: interval(f.interval_s) };
        let flow =
            self.flow(kind, (&f.src, &f.dst), (f.start_s, f.stop_s), f.payload_bytes, f.max_packets)?;
        self.over(f.ip, flow)
    }

    fn bursts(
        &self,
        payload_bytes: u32,
        rate_bps: f64,
        (on_s, off_s): (f64, f64),
        lengths: Lengths,
    ) -> Result<FlowKind, Error> {
        self.payload(payload_bytes)?;
        // A packet's bits from one a gigasecond to a million packets a second, as for other flows.
        let bits = 8.0 * f64::from(payload_bytes);
        in_range(self.doc, &self.sub("rate_bps"), rate_bps, 1e-9 * bits, 1e6 * bits)?;
        in_range(self.doc, &self.sub("on_s"), on_s, 1e-6, 1e9)?;
        in_range(self.doc, &self.sub("off_s"), off_s, 0.0, 1e9)?;
        let [on, off] = [on_s, off_s].map(Span::from_secs_f64);
        Ok(FlowKind::OnOff(OnOff { interval: interval(bits / rate_bps), on, off, lengths }))
    }

    fn trace(&self, f: &TrafficTrace, traces: &mut Traces) -> Result<FlowConfig, Error> {
        let schedule = traces.read(self.doc.folder().join(&f.path), f.format)?;
        let longest = schedule.longest_payload();
        let (ends, times) = ((&f.src, &f.dst), (f.start_s, f.stop_s));
        let flow = self.flow(FlowKind::Trace(schedule), ends, times, longest, f.max_packets)?;
        self.over(f.ip, flow)
    }

    fn random(&self, f: &CbrRandom, rng: &mut Rng, out: &mut Vec<FlowConfig>) -> Result<(), Error> {
        let nodes = self.placed.tracks.len();
        let connections = f.connections as usize;
        if nodes < 2 {
            return Err(self.doc.error(&self.key, "flows need two nodes", "have at least two nodes"));
        }
        if connections > MAX_FLOWS {
            return Err(self.doc.error(
                &self.sub("connections"),
                format!("more than {MAX_FLOWS} flows"),
                "give fewer",
            ));
        }
        in_range(self.doc, &self.sub("start_max_s"), f.start_max_s, 0.0, 1e9)?;
        self.payload(f.payload_bytes)?;
        let kind = self.cbr_kind(f.rate_pps, f.jitter)?;
        let mut sources: Vec<u32> = Vec::new();
        for i in 0..connections {
            if i % nodes == 0 {
                sources = (0..nodes as u32).collect();
            }
            // Fisher and Yates, a step at a time.
            let k = i % nodes;
            sources.swap(k, k + rng.below((nodes - k) as u64) as usize);
            let src = sources[k];
            let dst = (src + 1 + rng.below(nodes as u64 - 1) as u32) % nodes as u32;
            out.push(FlowConfig {
                start: Time::from_secs_f64(rng.unit() * f.start_max_s),
                max_packets: f.max_packets,
                ..FlowConfig::new(kind.clone(), NodeId(src), NodeId(dst), f.payload_bytes)
            });
        }
        Ok(())
    }

    fn flow(
        &self,
        kind: FlowKind,
        (src, dst): (&NodeRef, &NodeRef),
        (start_s, stop_s): (f64, Option<f64>),
        payload_bytes: u32,
        max_packets: Option<u64>,
    ) -> Result<FlowConfig, Error> {
        in_range(self.doc, &self.sub("start_s"), start_s, 0.0, 1e9)?;
        if let Some(stop) = stop_s {
            in_range(self.doc, &self.sub("stop_s"), stop, 0.0, 1e9)?;
            if stop <= start_s {
                return Err(self.doc.error(
                    &self.sub("stop_s"),
                    format!("{stop} is not after start_s = {start_s}"),
                    "give a later time, or leave the key out",
                ));
            }
        }
        self.payload(payload_bytes)?;
        let from = self.placed.find(src, &self.sub("src"), self.doc)?;
        let to = match dst {
            NodeRef::Name(name) if name == "all" => EVERYONE,
            one => self.placed.find(one, &self.sub("dst"), self.doc)?,
        };
        if to == EVERYONE && matches!(kind, FlowKind::Ping { .. } | FlowKind::Tcp(_)) {
            return Err(self.doc.error(
                &self.sub("dst"),
                "a ping or a connection to all nodes",
                "name one node",
            ));
        }
        if from == to {
            return Err(self.doc.error(
                &self.sub("dst"),
                "a flow from a node to itself",
                "name another node",
            ));
        }
        Ok(FlowConfig {
            start: Time::from_secs_f64(start_s),
            stop: stop_s.map(Time::from_secs_f64),
            max_packets,
            ..FlowConfig::new(kind, from, to, payload_bytes)
        })
    }

    /// The flow over this version of IP.
    fn over(&self, ip: IpVersion, mut flow: FlowConfig) -> Result<FlowConfig, Error> {
        let ip6 = ip == IpVersion::V6;
        let key = if ip6 && flow.is_to_all() { "dst" } else { "ip" };
        crate::traffic::ip::check_flow(ip6, flow.is_to_all(), self.placed, &self.sub(key), self.doc)?;
        flow.ip6 = ip6;
        Ok(flow)
    }

    fn cbr_kind(&self, rate_pps: f64, jitter: f64) -> Result<FlowKind, Error> {
        self.rate(rate_pps)?;
        in_range(self.doc, &self.sub("jitter"), jitter, 0.0, 1.0)?;
        Ok(FlowKind::Cbr { interval: interval(1.0 / rate_pps), jitter })
    }

    fn rate(&self, rate_pps: f64) -> Result<(), Error> {
        in_range(self.doc, &self.sub("rate_pps"), rate_pps, 1e-9, 1e6)
    }

    fn payload(&self, bytes: u32) -> Result<(), Error> {
        in_range(self.doc, &self.sub("payload_bytes"), f64::from(bytes), 1.0, f64::from(MAX_PAYLOAD))
    }
}
