//! Packets in bursts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Span;
use wayhop_document::{Result, in_range};
use wayhop_transport::{FlowKind, Lengths};

use crate::nodes::NodeRef;
use crate::traffic::IpVersion;
use crate::traffic::kind::{Flows, Times, TrafficEntry, TrafficKind, flow_keys, interval, payload};

/// UDP packets in bursts: first a pause, then a burst of packets at a constant rate, and so on. Both lengths are
/// exponentially distributed; a burst is rounded to whole packets and has at least one. ns-2's
/// `Application/Traffic/Exponential`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// The source.
    pub src: NodeRef,
    /// The destination; "all" as with `cbr`.
    pub dst: NodeRef,
    /// Start of the first pause, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Default: at the end of the run.
    pub stop_s: Option<f64>,
    /// UDP payload of each packet, bytes.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// Rate within a burst, bits of payload per second. The mean rate is `rate_bps` times `on_s` / (`on_s` + `off_s`).
    #[serde(default = "rate")]
    pub rate_bps: f64,
    /// Mean length of a burst, seconds.
    #[serde(default = "half_a_second")]
    pub on_s: f64,
    /// Mean length of a pause, seconds.
    #[serde(default = "half_a_second")]
    pub off_s: f64,
    /// Stop after this number of packets.
    pub max_packets: Option<u64>,
    /// The IP version: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

impl TrafficKind for OnOff {
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<()> {
        let (times, lengths) = ((self.on_s, self.off_s), Lengths::Exponential);
        let kind = flow_kind(entry, self.payload_bytes, self.rate_bps, times, lengths)?;
        flows.add(entry.flow(kind, flow_keys!(self), self.payload_bytes, self.max_packets)?);
        Ok(())
    }

    fn times(&self) -> Option<Times> {
        Some((self.start_s, self.stop_s))
    }
}

/// Like `on-off`, with Pareto-distributed lengths: a few bursts and pauses are very long. Many such flows together
/// produce self-similar traffic. ns-2's `Application/Traffic/Pareto`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pareto {
    /// The source.
    pub src: NodeRef,
    /// The destination; "all" as with `cbr`.
    pub dst: NodeRef,
    /// Start of the first pause, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Default: at the end of the run.
    pub stop_s: Option<f64>,
    /// UDP payload of each packet, bytes.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// Rate within a burst, bits of payload per second. The mean rate is `rate_bps` times `on_s` / (`on_s` + `off_s`).
    #[serde(default = "rate")]
    pub rate_bps: f64,
    /// Mean length of a burst, seconds.
    #[serde(default = "half_a_second")]
    pub on_s: f64,
    /// Mean length of a pause, seconds.
    #[serde(default = "half_a_second")]
    pub off_s: f64,
    /// The shape parameter of the Pareto distribution. Between 1 and 2 the lengths have a finite mean but no finite
    /// variance.
    #[serde(default = "shape")]
    pub shape: f64,
    /// Stop after this number of packets.
    pub max_packets: Option<u64>,
    /// The IP version: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

impl TrafficKind for Pareto {
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<()> {
        in_range(entry.doc, &entry.key_of("shape"), self.shape, 1.01, 100.0)?;
        let (times, lengths) = ((self.on_s, self.off_s), Lengths::Pareto { shape: self.shape });
        let kind = flow_kind(entry, self.payload_bytes, self.rate_bps, times, lengths)?;
        flows.add(entry.flow(kind, flow_keys!(self), self.payload_bytes, self.max_packets)?);
        Ok(())
    }

    fn times(&self) -> Option<Times> {
        Some((self.start_s, self.stop_s))
    }
}

fn flow_kind(
    entry: &TrafficEntry<'_>,
    payload_bytes: u32,
    rate_bps: f64,
    (on_s, off_s): (f64, f64),
    lengths: Lengths,
) -> Result<FlowKind> {
    entry.check_payload(payload_bytes)?;
    // A packet's bits from one a gigasecond to a million packets a second, as for other flows.
    let bits = 8.0 * f64::from(payload_bytes);
    in_range(entry.doc, &entry.key_of("rate_bps"), rate_bps, 1e-9 * bits, 1e6 * bits)?;
    in_range(entry.doc, &entry.key_of("on_s"), on_s, 1e-6, 1e9)?;
    in_range(entry.doc, &entry.key_of("off_s"), off_s, 0.0, 1e9)?;
    let [on, off] = [on_s, off_s].map(Span::from_secs_f64);
    Ok(FlowKind::OnOff(wayhop_transport::OnOff { interval: interval(bits / rate_bps), on, off, lengths }))
}

defaults! {
    rate: f64 = 64_000.0;
    half_a_second: f64 = 0.5;
    shape: f64 = 1.5;
}
