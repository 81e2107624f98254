//! Packets at a constant rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_document::{Error, in_range};
use wayhop_transport::FlowKind;

use crate::nodes::NodeRef;
use crate::traffic::ip_version::IpVersion;
use crate::traffic::kind::{Flows, Times, TrafficEntry, TrafficKind, flow_keys, interval, payload, rate};

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
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<(), Error> {
        let kind = flow_kind(entry, self.rate_pps, self.jitter)?;
        flows.add(entry.flow(kind, flow_keys!(self), self.payload_bytes, self.max_packets)?);
        Ok(())
    }

    fn times(&self) -> Option<Times> {
        Some((self.start_s, self.stop_s))
    }
}

/// The same rate for one flow or several.
pub(super) fn flow_kind(entry: &TrafficEntry<'_>, rate_pps: f64, jitter: f64) -> Result<FlowKind, Error> {
    entry.check_rate(rate_pps)?;
    in_range(entry.doc, &entry.key_of("jitter"), jitter, 0.0, 1.0)?;
    Ok(FlowKind::Cbr { interval: interval(1.0 / rate_pps), jitter })
}
