//! The keys of traffic.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_simulator_files::TraceFormat;

use super::ip_version::IpVersion;
use crate::nodes::NodeRef;
use crate::traffic::tcp::Tcp;

/// One flow, or a source of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Traffic {
    /// UDP packets at a constant rate.
    Cbr(Cbr),
    /// UDP packets at exponentially distributed intervals.
    Poisson(Poisson),
    /// UDP packets in bursts, whose lengths are exponentially distributed.
    OnOff(OnOff),
    /// UDP packets in bursts, whose lengths follow Pareto's law.
    Pareto(Pareto),
    /// UDP packets at the times and of the sizes that a file gives.
    Trace(TrafficTrace),
    /// ICMP echo requests, which the destination answers.
    Ping(Ping),
    /// A TCP connection.
    Tcp(Box<Tcp>),
    /// Several CBR flows between nodes drawn at random, as ns-2's `cbrgen` makes them.
    CbrRandom(CbrRandom),
    /// A traffic file of ns-2 (`cbrgen`), plain or gzip. Needs a movement of kind `ns2`.
    Ns2(Ns2File),
}

/// UDP packets at a constant rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cbr {
    /// The source.
    pub src: NodeRef,
    /// The destination; "all" for every other node, by packets for a multicast group. In the summary each packet then
    /// counts once for each node that it is meant for, and `dst` is null. DSR floods them; AODV has no route
    /// for them.
    pub dst: NodeRef,
    /// When the first packet is sent, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Without it: at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// UDP payload of each packet, octets.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// Packets a second.
    #[serde(default = "rate")]
    pub rate_pps: f64,
    /// Each interval is drawn uniformly from (1 - jitter) to (1 + jitter) times the mean; `cbrgen` has 0.5.
    #[serde(default)]
    pub jitter: f64,
    /// Stop after so many packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets: Option<u64>,
    /// The version of IP: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

/// UDP packets at exponentially distributed intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// The source.
    pub src: NodeRef,
    /// The destination; "all" as with `cbr`.
    pub dst: NodeRef,
    /// When to begin, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Without it: at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// UDP payload of each packet, octets.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// Mean packets a second.
    #[serde(default = "rate")]
    pub rate_pps: f64,
    /// Stop after so many packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets: Option<u64>,
    /// The version of IP: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

/// ICMP echo requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    /// Who asks.
    pub src: NodeRef,
    /// Who answers.
    pub dst: NodeRef,
    /// When the first request is sent, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Without it: at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// Data after the ICMP header, octets.
    #[serde(default = "echo_payload")]
    pub payload_bytes: u32,
    /// Time between requests, seconds.
    #[serde(default = "echo_interval")]
    pub interval_s: f64,
    /// Stop after so many requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets: Option<u64>,
    /// The version of IP: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

/// CBR flows between nodes drawn at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrRandom {
    /// How many flows. Sources differ as long as there are nodes enough.
    pub connections: u32,
    /// UDP payload of each packet, octets.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// Packets a second of each flow.
    #[serde(default = "rate")]
    pub rate_pps: f64,
    /// Each interval is drawn uniformly from (1 - jitter) to (1 + jitter) times the mean; `cbrgen` has 0.5.
    #[serde(default)]
    pub jitter: f64,
    /// Each flow starts at a time drawn uniformly from 0 to this, seconds.
    #[serde(default = "start_max")]
    pub start_max_s: f64,
    /// Stop each flow after so many packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets: Option<u64>,
}

/// A traffic file of ns-2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ns2File {
    /// The file; a relative path counts from the scenario file's folder.
    pub path: PathBuf,
}

fn rate() -> f64 {
    4.0
}
fn echo_payload() -> u32 {
    56
}
fn echo_interval() -> f64 {
    1.0
}
fn start_max() -> f64 {
    180.0
}

/// UDP packets in bursts: silence first, then a burst of packets at a constant rate, and so on. Both lengths are exponentially
/// distributed; a burst is rounded to whole packets and has at least one. ns-2's `Application/Traffic/Exponential`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// The source.
    pub src: NodeRef,
    /// The destination; "all" as with `cbr`.
    pub dst: NodeRef,
    /// When the first silence begins, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Without it: at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// UDP payload of each packet, octets.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// The rate within a burst, bits of payload a second. The mean rate is `rate_bps` times `on_s` / (`on_s` + `off_s`).
    #[serde(default = "burst_rate")]
    pub rate_bps: f64,
    /// Mean length of a burst, seconds.
    #[serde(default = "half_a_second")]
    pub on_s: f64,
    /// Mean length of a silence, seconds.
    #[serde(default = "half_a_second")]
    pub off_s: f64,
    /// Stop after so many packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets: Option<u64>,
    /// The version of IP: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

/// The same with lengths by Pareto's law: few bursts and silences are very long. Many such flows together make self-similar
/// traffic. ns-2's `Application/Traffic/Pareto`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pareto {
    /// The source.
    pub src: NodeRef,
    /// The destination; "all" as with `cbr`.
    pub dst: NodeRef,
    /// When the first silence begins, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Without it: at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// UDP payload of each packet, octets.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// The rate within a burst, bits of payload a second. The mean rate is `rate_bps` times `on_s` / (`on_s` + `off_s`).
    #[serde(default = "burst_rate")]
    pub rate_bps: f64,
    /// Mean length of a burst, seconds.
    #[serde(default = "half_a_second")]
    pub on_s: f64,
    /// Mean length of a silence, seconds.
    #[serde(default = "half_a_second")]
    pub off_s: f64,
    /// The exponent of Pareto's law. From 1 to 2 the lengths have a mean, but no finite variance.
    #[serde(default = "shape")]
    pub shape: f64,
    /// Stop after so many packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets: Option<u64>,
    /// The version of IP: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

/// UDP packets at the times and of the sizes that a file gives, once. Packets with less than 16 octets of payload
/// carry no number and no time of sending.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficTrace {
    /// The source.
    pub src: NodeRef,
    /// The destination; "all" as with `cbr`.
    pub dst: NodeRef,
    /// From when on the file's times count, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Without it: at the end of the file or of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// The file; a relative path counts from the scenario file's folder.
    pub path: PathBuf,
    /// What it is.
    #[serde(default)]
    pub format: TraceFormat,
    /// Stop after so many packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets: Option<u64>,
    /// The version of IP: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

fn payload() -> u32 {
    64
}
fn burst_rate() -> f64 {
    64_000.0
}
fn half_a_second() -> f64 {
    0.5
}
fn shape() -> f64 {
    1.5
}
