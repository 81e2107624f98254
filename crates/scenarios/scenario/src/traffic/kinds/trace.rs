//! Packets with times and sizes from a file.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_document::Result;
use wayhop_simulator_files::TraceFormat;
use wayhop_transport::FlowKind;

use crate::nodes::NodeRef;
use crate::traffic::IpVersion;
use crate::traffic::kind::{
    Flows, OpenKey, RunContext, Times, TrafficEntry, TrafficKind, flow_keys, over_ipv4,
};

/// UDP packets with times and sizes from a file, sent once. Packets with less than 16 bytes of payload carry no
/// sequence number and no timestamp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficTrace {
    /// The source.
    pub src: NodeRef,
    /// The destination; "all" as with `cbr`.
    pub dst: NodeRef,
    /// The time at which the file's time 0 is, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Default: at the end of the file or of the run.
    pub stop_s: Option<f64>,
    /// The file; a relative path is relative to the scenario file's folder.
    pub path: PathBuf,
    /// The format of the file.
    #[serde(default)]
    pub format: TraceFormat,
    /// Stop after this number of packets.
    pub max_packets: Option<u64>,
    /// The IP version: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

impl TrafficKind for TrafficTrace {
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<()> {
        let schedule = flows.traces.read(entry.doc.folder().join(&self.path), self.format)?;
        let longest = schedule.longest_payload();
        flows.add(entry.flow(FlowKind::Trace(schedule), flow_keys!(self), longest, self.max_packets)?);
        Ok(())
    }

    fn times(&self) -> Option<Times> {
        Some((self.start_s, self.stop_s))
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn unsaid(&self, _: &RunContext<'_>) -> Result<Vec<OpenKey>> {
        Ok(vec![over_ipv4()])
    }
}
