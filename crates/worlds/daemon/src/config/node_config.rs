//! The keys of a node's configuration file.

use std::net::SocketAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_document::Document;
use wayhop_scenario::{NeighbourLimits, Protocol, Security};

use crate::config::gateway::Gateway;
use crate::config::interface_name::is_interface_name;
use crate::config::ipv6::StaticRoute;
use crate::config::macfilter::MacFilterConfig;
use crate::config::monitor::Monitor;
use crate::log::Level;

/// More interfaces are hardly meant for one node.
const MAX_INTERFACES: usize = 32;

/// The configuration of one node.
// Keys without a value are left out of what is written: TOML has no null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeConfig {
    /// The mesh interface, such as `wlan0` or `eth1`. It must be up; it needs no address.
    pub interface: String,
    /// Additional mesh interfaces: a second card on another channel, a cable to another node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<String>,
    /// A metric for each interface, in order: if a neighbour is heard on several, the one with the
    /// lowest metric is used. The default is 1 for wireless interfaces, and 0 for others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interface_metrics: Vec<u8>,
    /// This node's address with the mesh's prefix length, such as `10.0.0.3/16`. The TUN interface gets it.
    pub address: String,
    /// This node's IPv6 address with the prefix length of its neighbours, such as `fd00:77::3/64`.
    /// The TUN interface gets it. Without it, the node has IPv4 only. The routing protocols do not
    /// route IPv6: the node reaches its neighbours, and other destinations through `routes`.
    pub address6: Option<String>,
    /// Limits on what the node accepts from its neighbours.
    #[serde(default, skip_serializing_if = "NeighbourLimits::is_empty")]
    pub limits: NeighbourLimits,
    /// Keys to authenticate routing messages with.
    #[serde(default, skip_serializing_if = "Security::is_empty")]
    pub security: Security,
    /// Static routes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<StaticRoute>,
    /// Makes the node a gateway to networks outside the mesh.
    pub gateway: Option<Gateway>,
    /// Prefixes outside the mesh that nodes reach through gateways, such as `0.0.0.0/0`. Packets to
    /// them go into the mesh, unless this host has another route. Set it on all nodes of a mesh
    /// with gateways, except on the gateways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// The TUN interface that programs use.
    #[serde(default = "tun")]
    pub tun: String,
    /// The TUN interface's MTU, bytes. The default is the interface's MTU less the protocol's headers for a
    /// route of a few hops. For longer routes, senders of larger packets get the path MTU by ICMP.
    pub mtu: Option<u16>,
    /// Seed of the protocol's random choices. By default each start uses a new one, as RFC 4728
    /// section 4.3 and RFC 3561 section 6.1 require of a node that restarts.
    pub seed: Option<u64>,
    /// The user to switch to once the sockets are open, if started as root.
    #[serde(default = "user")]
    pub user: String,
    /// Log level on standard error: `error`, `warning`, `info` or `debug`. Each line begins with
    /// the time (UTC, ISO 8601).
    #[serde(default)]
    pub log: Level,
    /// A file for these lines, instead of standard error. After a rename (log rotation), SIGHUP
    /// makes the node reopen it.
    pub log_file: Option<PathBuf>,
    /// Source of neighbours' signal strengths: `nl80211`, the driver's station table;
    /// `monitor:mon0`, the radiotap headers of the monitor interface mon0; or `none`.
    #[serde(default = "signal")]
    pub signal: String,
    /// A file for the summary when the node ends: the JSON object of `wayhop run --json`.
    pub summary: Option<PathBuf>,
    /// A run directory for what this node saw in one experiment, in the same format as simulations.
    /// It grows with every packet. An older run in it is removed.
    pub run: Option<PathBuf>,
    /// The node's name in its record and in answers to `wayhop ctl`. The default is the name of the
    /// control socket, of the node in the scenario, or of the host.
    pub name: Option<String>,
    /// Name of the control socket, for `wayhop ctl`: `mesh0` means /run/wayhop/mesh0.sock. The default is
    /// none, except that a node without a configuration file uses the name of its `tun`, if that is free.
    pub control: Option<String>,
    /// The address and port, such as `127.0.0.1:9464`, at which Prometheus can scrape the counters
    /// (`/metrics`). Off by default. There is no authentication: anyone who can reach it can read them.
    #[schemars(with = "Option<String>")]
    pub metrics: Option<SocketAddr>,
    /// The gpsd to get the position from, such as `localhost:2947`. It may be started later.
    pub gpsd: Option<String>,
    /// Reports of counters and position.
    pub monitor: Option<Monitor>,
    /// Measures how long frames take in the node. The table `timing` of the control socket then has
    /// the times of the last 512 batches from the interface to the process (`in`), in the process
    /// (`process`), and in the system call that sends (`out`), each divided by the batch's frames.
    #[serde(default)]
    pub timing: bool,
    /// Capture of the protocol's frames.
    pub capture: Option<Capture>,
    /// Log of the routing engine's inputs, for `wayhop replay`.
    pub inputs: Option<InputLog>,
    /// Nodes to ignore, so that hosts in range of each other form the topology of a file.
    pub macfilter: Option<MacFilterConfig>,
    /// The routing protocol: the section of a scenario.
    #[serde(default)]
    pub protocol: Protocol,
}

/// A log of the routing engine's inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputLog {
    /// The file. An older one is replaced. With `run`, the default is inputs/NAME.jsonl.gz there.
    /// It is compressed if the name ends in `.gz`.
    pub file: Option<PathBuf>,
}

/// A capture of the protocol's frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// The pcapng file. An older one is replaced. With `run`, the default is captures/NAME.pcapng there.
    pub file: Option<PathBuf>,
    /// How much of each frame is kept, bytes.
    #[serde(default = "snap_length")]
    pub snap_length_bytes: u32,
    /// Frames that may wait to be written; more are dropped and counted.
    #[serde(default = "queue_frames")]
    pub queue_frames: u32,
}

fn tun() -> String {
    "mesh0".into()
}
fn signal() -> String {
    "nl80211".into()
}
fn user() -> String {
    "nobody".into()
}
fn snap_length() -> u32 {
    65_535
}
fn queue_frames() -> u32 {
    4_096
}

impl NodeConfig {
    /// Captures and logs: how much they hold, and that they have a place.
    pub(super) fn check_files(&self, doc: &Document) -> Result<(), wayhop_document::Error> {
        if let Some(c) = self.capture.as_ref().filter(|c| c.snap_length_bytes < 64 || c.queue_frames == 0) {
            let (key, least) =
                if c.queue_frames == 0 { ("queue_frames", 1) } else { ("snap_length_bytes", 64) };
            let (key, remedy) = (format!("capture.{key}"), format!("give at least {least}"));
            return Err(doc.error(&key, "it is too small", remedy));
        }
        if self.run.is_none() && self.capture.as_ref().is_some_and(|c| c.file.is_none()) {
            let what = "no path given";
            return Err(doc.error("capture.file", what, "give a file, or a run directory with `run`"));
        }
        if self.run.is_none() && self.inputs.as_ref().is_some_and(|c| c.file.is_none()) {
            let remedy = "give a file (--record-inputs FILE), or a run directory with `run`";
            return Err(doc.error("inputs.file", "no path given", remedy));
        }
        Ok(())
    }

    /// Checks the names and numbers of the interfaces, and of the TUN.
    pub(super) fn check_interfaces(&self, doc: &Document) -> Result<(), wayhop_document::Error> {
        let further = self.interfaces.iter().enumerate().map(|(i, n)| (format!("interfaces[{i}]"), n));
        let head = [("interface".to_owned(), &self.interface), ("tun".to_owned(), &self.tun)];
        if let Some((key, name)) = head.into_iter().chain(further).find(|(_, name)| !is_interface_name(name))
        {
            let what = format!("{name:?} is not an interface name");
            return Err(doc.error(&key, what, "give 1 to 15 characters without spaces, / and :"));
        }
        for (i, name) in self.interfaces.iter().enumerate() {
            if self.names().take(i + 1).any(|n| n == name) {
                let what = format!("{name} is given twice");
                return Err(doc.error(&format!("interfaces[{i}]"), what, "give each interface once"));
            }
        }
        let metrics = self.interface_metrics.len();
        if metrics > 0 && metrics != self.names().count() {
            let reason = format!("{metrics} metrics for {} interfaces", self.names().count());
            return Err(doc.error("interface_metrics", reason, "give one for each, in the same order"));
        }
        if self.interfaces.len() >= MAX_INTERFACES {
            let many = format!("{} interfaces are too many", self.interfaces.len() + 1);
            return Err(doc.error("interfaces", many, format!("give at most {MAX_INTERFACES}")));
        }
        if self.names().any(|n| n == self.tun) {
            let what = "the TUN interface cannot have the name of a mesh interface";
            return Err(doc.error("tun", what, "choose another name; the node creates it"));
        }
        Ok(())
    }

    /// All interfaces that are in the mesh, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.interface).chain(&self.interfaces).map(String::as_str)
    }
}
