//! The keys of traffic in bursts, and of traffic from a file.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_simulator_files::TraceFormat;

use crate::ipv6_schema::IpVersion;
use crate::references::NodeRef;

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
    #[serde(default = "rate")]
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
    #[serde(default = "rate")]
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

pub(crate) fn payload() -> u32 {
    64
}
fn rate() -> f64 {
    64_000.0
}
fn half_a_second() -> f64 {
    0.5
}
fn shape() -> f64 {
    1.5
}
