//! Packets at a constant rate or at random intervals, and several such flows between nodes drawn at random.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::{NodeId, Purpose, Time, stream};
use wayhop_document::{Result, in_range};
use wayhop_transport::{FlowConfig, FlowKind};

use crate::nodes::NodeRef;
use crate::traffic::IpVersion;
use crate::traffic::kind::{
    Flows, MAX_FLOWS, OpenKey, RunContext, Times, TrafficEntry, TrafficKind, flow_keys, interval, payload,
    rate,
};

/// UDP packets at a constant rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cbr {
    /// The source.
    pub src: NodeRef,
    /// The destination; "all" for every other node, by multicast packets. The summary then counts each packet once for
    /// each receiver, and `dst` is null. DSR floods them; AODV has no route for them.
    pub dst: NodeRef,
    /// When the first packet is sent, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Default: at the end of the run.
    pub stop_s: Option<f64>,
    /// UDP payload of each packet, bytes.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// Packets per second.
    #[serde(default = "rate")]
    pub rate_pps: f64,
    /// Each interval is drawn uniformly from (1 - jitter) to (1 + jitter) times the mean; `cbrgen` uses 0.5.
    #[serde(default)]
    pub jitter: f64,
    /// Stop after this number of packets.
    pub max_packets: Option<u64>,
    /// The IP version: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

impl TrafficKind for Cbr {
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<()> {
        let kind = flow_kind(entry, self.rate_pps, self.jitter)?;
        flows.add(entry.flow(kind, flow_keys!(self), self.payload_bytes, self.max_packets)?);
        Ok(())
    }

    fn times(&self) -> Option<Times> {
        Some((self.start_s, self.stop_s))
    }
}

fn flow_kind(entry: &TrafficEntry<'_>, rate_pps: f64, jitter: f64) -> Result<FlowKind> {
    entry.check_rate(rate_pps)?;
    in_range(entry.doc, &entry.key_of("jitter"), jitter, 0.0, 1.0)?;
    Ok(FlowKind::Cbr { interval: interval(1.0 / rate_pps), jitter })
}

/// UDP packets at exponentially distributed intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// The source.
    pub src: NodeRef,
    /// The destination; "all" as with `cbr`.
    pub dst: NodeRef,
    /// When to start, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Default: at the end of the run.
    pub stop_s: Option<f64>,
    /// UDP payload of each packet, bytes.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// Mean number of packets per second.
    #[serde(default = "rate")]
    pub rate_pps: f64,
    /// Stop after this number of packets.
    pub max_packets: Option<u64>,
    /// The IP version: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

impl TrafficKind for Poisson {
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<()> {
        entry.check_rate(self.rate_pps)?;
        let kind = FlowKind::Poisson { interval: interval(1.0 / self.rate_pps) };
        flows.add(entry.flow(kind, flow_keys!(self), self.payload_bytes, self.max_packets)?);
        Ok(())
    }

    fn times(&self) -> Option<Times> {
        Some((self.start_s, self.stop_s))
    }
}

/// Streams of generators, apart from those of flows, which are numbered from 0.
const GENERATOR_STREAMS: u64 = 1 << 32;

/// CBR flows between nodes drawn at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrRandom {
    /// The number of flows. Sources differ as long as there are enough nodes.
    pub connections: u32,
    /// UDP payload of each packet, bytes.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// Packets per second of each flow.
    #[serde(default = "rate")]
    pub rate_pps: f64,
    /// Each interval is drawn uniformly from (1 - jitter) to (1 + jitter) times the mean; `cbrgen` uses 0.5.
    #[serde(default)]
    pub jitter: f64,
    /// Each flow starts at a time drawn uniformly from 0 to this, seconds.
    #[serde(default = "start_max")]
    pub start_max_s: f64,
    /// Stop each flow after this number of packets.
    pub max_packets: Option<u64>,
}

impl TrafficKind for CbrRandom {
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<()> {
        let nodes = entry.network.nodes;
        let connections = self.connections as usize;
        if nodes < 2 {
            let remedy = "use at least two nodes";
            return Err(entry.doc.error(&entry.key, "the scenario has only one node", remedy));
        }
        if connections > MAX_FLOWS {
            let reason = format!("more than {MAX_FLOWS} flows");
            return Err(entry.doc.error(&entry.key_of("connections"), reason, "reduce their number"));
        }
        in_range(entry.doc, &entry.key_of("start_max_s"), self.start_max_s, 0.0, 1e9)?;
        entry.check_payload(self.payload_bytes)?;
        let kind = flow_kind(entry, self.rate_pps, self.jitter)?;
        let mut rng = stream(entry.network.seed, Purpose::Traffic, GENERATOR_STREAMS + entry.number as u64);
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
            flows.add(FlowConfig {
                start: Time::from_secs_f64(rng.unit() * self.start_max_s),
                max_packets: self.max_packets,
                ..FlowConfig::new(kind.clone(), NodeId(src), NodeId(dst), self.payload_bytes)
            });
        }
        Ok(())
    }

    fn times(&self) -> Option<Times> {
        Some((self.start_max_s, None))
    }

    fn unsaid(&self, _: &RunContext<'_>) -> Result<Vec<OpenKey>> {
        Ok(Vec::new())
    }
}

fn start_max() -> f64 {
    180.0
}
