//! ICMP echo requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_document::{Result, in_range};
use wayhop_transport::FlowKind;

use crate::nodes::NodeRef;
use crate::traffic::IpVersion;
use crate::traffic::kind::{Flows, Times, TrafficEntry, TrafficKind, flow_keys, interval};

/// ICMP echo requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    /// The node that sends requests.
    pub src: NodeRef,
    /// The node that replies.
    pub dst: NodeRef,
    /// When the first request is sent, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Default: at the end of the run.
    pub stop_s: Option<f64>,
    /// Data after the ICMP header, bytes.
    #[serde(default = "echo_payload")]
    pub payload_bytes: u32,
    /// Interval between requests, seconds.
    #[serde(default = "echo_interval")]
    pub interval_s: f64,
    /// Stop after this number of requests.
    pub max_packets: Option<u64>,
    /// The IP version: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

impl TrafficKind for Ping {
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<()> {
        in_range(entry.doc, &entry.key_of("interval_s"), self.interval_s, 1e-6, 1e9)?;
        let kind = FlowKind::Ping { interval: interval(self.interval_s) };
        flows.add(entry.flow(kind, flow_keys!(self), self.payload_bytes, self.max_packets)?);
        Ok(())
    }

    fn times(&self) -> Option<Times> {
        Some((self.start_s, self.stop_s))
    }
}

defaults! {
    echo_payload: u32 = 56;
    echo_interval: f64 = 1.0;
}
