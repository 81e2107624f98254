//! Packets at exponentially distributed intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_document::Error;
use wayhop_transport::FlowKind;

use crate::nodes::NodeRef;
use crate::traffic::ip_version::IpVersion;
use crate::traffic::kind::{Flows, Times, TrafficEntry, TrafficKind, flow_keys, interval, payload, rate};

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
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<(), Error> {
        entry.check_rate(self.rate_pps)?;
        let kind = FlowKind::Poisson { interval: interval(1.0 / self.rate_pps) };
        flows.add(entry.flow(kind, flow_keys!(self), self.payload_bytes, self.max_packets)?);
        Ok(())
    }

    fn times(&self) -> Option<Times> {
        Some((self.start_s, self.stop_s))
    }
}
