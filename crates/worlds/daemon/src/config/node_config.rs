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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeConfig {
    /// The interface that is in the mesh, such as `wlan0` or `eth1`. It must be up; it needs no address of its own.
    pub interface: String,
    /// Further interfaces that are in the mesh: a second card on another channel, a cable to another node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<String>,
    /// A number for each interface, in their order: of several on which a neighbour is heard, the one with the lowest carries
    /// what is for it. Without it: 1 for wireless ones, 0 for the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interface_metrics: Vec<u8>,
    /// This node's address, and the mesh's prefix: `10.0.0.3/16`. The TUN interface gets it.
    pub address: String,
    /// This node's IPv6 address and the prefix of its neighbours, `fd00:77::3/64`; without it the node has IPv4 only. The TUN
    /// interface gets it. Routing protocols find no routes for IPv6: a node reaches its neighbours, and others by `routes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address6: Option<String>,
    /// Limits on what the node takes from its neighbours.
    #[serde(default, skip_serializing_if = "NeighbourLimits::is_empty")]
    pub limits: NeighbourLimits,
    /// Keys with which nodes authenticate routing messages.
    #[serde(default, skip_serializing_if = "Security::is_empty")]
    pub security: Security,
    /// Static routes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<StaticRoute>,
    /// What the node leads to outside of the mesh, if it is a gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Gateway>,
    /// Prefixes outside of the mesh that nodes reach by gateways in it, such as `0.0.0.0/0`: packets for them go into the mesh, behind
    /// whatever other routes this host has to them. All nodes of a mesh with gateways have this, but for the gateways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// The TUN interface that programs use.
    #[serde(default = "tun")]
    pub tun: String,
    /// The TUN interface's MTU, octets. Without it: the interface's MTU, less the room that the protocol's headers need with a
    /// route of a few hops. Over a longer one, senders of packets that do not fit are told by ICMP what does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u16>,
    /// Seed of the protocol's random choices. Without one, each start draws its own, as RFC 4728 section 4.3 and RFC 3561
    /// section 6.1 want of a node that comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The user that the node becomes once its sockets are open, if it is started as root.
    #[serde(default = "user")]
    pub user: String,
    /// How much is told on standard error: `error`, `warning`, `info` or `debug`. Each line begins with the time (UTC, ISO 8601).
    #[serde(default)]
    pub log: Level,
    /// A file that gets these lines in the place of standard error. SIGHUP has the node open it anew, after it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_file: Option<PathBuf>,
    /// Where the power comes from with which neighbours are received: `nl80211`, the driver's table of stations;
    /// `monitor:mon0`, the radiotap headers of the monitor interface mon0; or `none`.
    #[serde(default = "signal")]
    pub signal: String,
    /// A file that gets the summary when the node ends: the JSON object of `wayhop run --json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<PathBuf>,
    /// A run directory, in the format of the other worlds: what this node saw, for one experiment; the tables grow with every
    /// packet. An older run in it is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<PathBuf>,
    /// What the node is called in its record and in answers to `wayhop ctl`; without it by the name of its control socket, or of the node
    /// in a scenario, or of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The name of the control socket, for `wayhop ctl`; without it there is none, except that a node without a configuration file
    /// has that of its `tun`, if no other has it. `mesh0` means /run/wayhop/mesh0.sock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// The address and port, such as `127.0.0.1:9464`, at which Prometheus finds the counters under /metrics; without it,
    /// nowhere. Whoever reaches it can read them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub metrics: Option<SocketAddr>,
    /// The gpsd that knows where the node is, such as `localhost:2947`. It need not run yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpsd: Option<String>,
    /// Reports of counters and position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<Monitor>,
    /// Whether the node measures how long frames take in it: the table `timing` of the control socket, with the times of the
    /// last 512 batches from the interface to the process (`in`), in the process (`process`), and in the system call that
    /// sends (`out`), each divided by the batch's frames.
    #[serde(default)]
    pub timing: bool,
    /// What is captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<Capture>,
    /// The log of what goes into the routing engine, for `wayhop replay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<InputLog>,
    /// Whom the node ignores, so that hosts that hear each other make a mesh that a file says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub macfilter: Option<MacFilterConfig>,
    /// The routing protocol: the section of a scenario.
    #[serde(default)]
    pub protocol: Protocol,
}

/// A log of the routing engine's inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputLog {
    /// The file. An older one is replaced. With `run` it may be left out: then it is inputs/NAME.jsonl.gz there.
    /// A name that ends in `.gz` has it compressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
}

/// A capture of the protocol's frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// The pcapng file. An older one is replaced. With `run` it may be left out: then it is captures/NAME.pcapng there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// How much of each frame is kept, octets.
    #[serde(default = "snap_length")]
    pub snap_length_bytes: u32,
    /// Frames that may wait to be written; more are dropped, and counted.
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
            let (key, value) =
                if c.queue_frames == 0 { ("queue_frames", 0) } else { ("snap_length_bytes", 64) };
            return Err(doc.error(
                &format!("capture.{key}"),
                "it is too small",
                format!("give at least {}", value.max(1)),
            ));
        }
        if self.run.is_none() && self.capture.as_ref().is_some_and(|c| c.file.is_none()) {
            return Err(doc.error(
                "capture.file",
                "there is none",
                "name a file, or a run directory with `run`",
            ));
        }
        if self.run.is_none() && self.inputs.as_ref().is_some_and(|c| c.file.is_none()) {
            return Err(doc.error(
                "inputs.file",
                "there is none",
                "name a file, as --record-inputs FILE, or a run directory with `run`",
            ));
        }
        Ok(())
    }

    /// Checks the names and numbers of the interfaces, and of the TUN.
    pub(super) fn check_interfaces(&self, doc: &Document) -> Result<(), wayhop_document::Error> {
        let config = self;
        let further = config.interfaces.iter().enumerate().map(|(i, n)| (format!("interfaces[{i}]"), n));
        let head = [("interface".to_owned(), &config.interface), ("tun".to_owned(), &config.tun)];
        for (key, name) in head.into_iter().chain(further) {
            let key = &key;
            if !is_interface_name(name) {
                return Err(doc.error(
                    key,
                    format!("{name:?} is no name of an interface"),
                    "give 1 to 15 characters without spaces, / and :",
                ));
            }
        }
        for (i, name) in config.interfaces.iter().enumerate() {
            if config.names().take(i + 1).any(|n| n == name) {
                return Err(doc.error(
                    &format!("interfaces[{i}]"),
                    format!("{name} is given already"),
                    "name each interface once",
                ));
            }
        }
        let metrics = config.interface_metrics.len();
        if metrics > 0 && metrics != config.names().count() {
            let reason = format!("{metrics} numbers for {} interfaces", config.names().count());
            return Err(doc.error("interface_metrics", reason, "give one for each, in their order"));
        }
        if config.interfaces.len() >= MAX_INTERFACES {
            let many = format!("{} interfaces are more than fit", config.interfaces.len() + 1);
            return Err(doc.error("interfaces", many, format!("give at most {MAX_INTERFACES} in all")));
        }
        if config.names().any(|n| n == config.tun) {
            return Err(doc.error(
                "tun",
                "it has the name of the mesh interface",
                "name another; it is made by the node",
            ));
        }
        Ok(())
    }

    /// All interfaces that are in the mesh, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.interface).chain(&self.interfaces).map(String::as_str)
    }
}
