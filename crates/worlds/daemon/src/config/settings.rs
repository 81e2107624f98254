//! The configuration of a node: a TOML file, the command line, and derived settings.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_auth::Keys;
use wayhop_core::{Configured, Limits, Mac, Route};
use wayhop_document::Document;
use wayhop_linux::Error;
use wayhop_scenario::{Ignores, NeighbourLimits, Outage, Protocol, Radio, Security};
use wayhop_wire::ipv6::MIN_MTU;

use crate::config::gateway::{self, Edge, Gateway};
use crate::config::interface_name::is_interface_name;
use crate::config::ipv6::{self, StaticRoute, Surroundings};
use crate::config::macfilter::MacFilterConfig;
use crate::config::monitor::Monitor;
use crate::config::{scenario, signal};
use crate::log::Level;

/// The configuration of one node.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u16>,
    /// Seed of the protocol's random choices. By default each start uses a new one, as RFC 4728
    /// section 4.3 and RFC 3561 section 6.1 require of a node that restarts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_file: Option<PathBuf>,
    /// Source of neighbours' signal strengths: `nl80211`, the driver's station table;
    /// `monitor:mon0`, the radiotap headers of the monitor interface mon0; or `none`.
    #[serde(default = "signal")]
    pub signal: String,
    /// A file for the summary when the node ends: the JSON object of `wayhop run --json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<PathBuf>,
    /// A run directory for what this node saw in one experiment, in the same format as simulations.
    /// It grows with every packet. An older run in it is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<PathBuf>,
    /// The node's name in its record and in answers to `wayhop ctl`. The default is the name of the
    /// control socket, of the node in the scenario, or of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of the control socket, for `wayhop ctl`: `mesh0` means /run/wayhop/mesh0.sock. The default is
    /// none, except that a node without a configuration file uses the name of its `tun`, if that is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// The address and port, such as `127.0.0.1:9464`, at which Prometheus can scrape the counters
    /// (`/metrics`). Off by default. There is no authentication: anyone who can reach it can read them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub metrics: Option<SocketAddr>,
    /// The gpsd to get the position from, such as `localhost:2947`. It may be started later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpsd: Option<String>,
    /// Reports of counters and position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<Monitor>,
    /// Measures how long frames take in the node. The table `timing` of the control socket then has
    /// the times of the last 512 batches from the interface to the process (`in`), in the process
    /// (`process`), and in the system call that sends (`out`), each divided by the batch's frames.
    #[serde(default)]
    pub timing: bool,
    /// Capture of the protocol's frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<Capture>,
    /// Log of the routing engine's inputs, for `wayhop replay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<InputLog>,
    /// Nodes to ignore, so that hosts in range of each other form the topology of a file.
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
    /// The file. An older one is replaced. With `run`, the default is inputs/NAME.jsonl.gz there.
    /// It is compressed if the name ends in `.gz`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
}

/// A capture of the protocol's frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// The pcapng file. An older one is replaced. With `run`, the default is captures/NAME.pcapng there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// More interfaces are hardly meant for one node.
const MAX_INTERFACES: usize = 32;

/// What the command line sets over the head of the file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `interface` and `interfaces`.
    pub interfaces: Vec<String>,
    /// `address`.
    pub address: Option<String>,
    /// `tun`.
    pub tun: Option<String>,
    /// `protocol.name`.
    pub protocol: Option<String>,
    /// `protocol.profile`.
    pub profile: Option<String>,
    /// `macfilter.file`.
    pub macfilter: Option<PathBuf>,
    /// `inputs`; the inner `None` for a log in the run directory.
    pub inputs: Option<Option<PathBuf>>,
    /// The node of a scenario that this host is: then the file is that scenario.
    pub node: Option<String>,
    /// `run`.
    pub run: Option<PathBuf>,
    /// `path.key=value` settings.
    pub sets: Vec<String>,
}

/// A configuration that was checked, with nothing left to look up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The configuration as it was given.
    pub config: NodeConfig,
    /// This node.
    pub address: Ipv4Addr,
    /// The mesh's prefix length.
    pub prefix_len: u8,
    /// Its IPv6 address, if it has one, with the length of the prefix of its neighbours.
    pub address6: Option<(Ipv6Addr, u8)>,
    /// Its static routes.
    pub routes: Vec<Route>,
    /// What it knows of the outside; `None` in a mesh without gateways.
    pub edge: Option<Edge>,
    /// The keys with which it authenticates routing messages.
    pub keys: Option<Keys>,
    /// The protocol, fit for an interface that does not acknowledge.
    pub protocol: Configured,
    /// Whom it ignores from when on, in order of time.
    pub ignores: Vec<Ignores>,
    /// Link addresses that its macfilter's file names, for orders about links.
    pub cards: Vec<Mac>,
    /// When it is down, by its scenario.
    pub outages: Vec<Outage>,
    /// The node's name in its scenario, if it is of one.
    pub name: Option<String>,
    /// The radio that its scenario has, for its record; the host has one of its own.
    pub radio: Option<Radio>,
    /// The name of the control socket of a node that no file configures, unless `control` gives one; another node may have it.
    pub usual_control: Option<String>,
    /// The file and the command line that it was read from, to read it again.
    pub source: Option<(PathBuf, Overrides)>,
    /// What the user should know.
    pub remarks: Vec<String>,
}

impl NodeConfig {
    /// Captures and logs: how much they hold, and that they have a place.
    fn check_files(&self, doc: &Document) -> Result<(), wayhop_document::Error> {
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
                "no path given",
                "give a file, or a run directory with `run`",
            ));
        }
        if self.run.is_none() && self.inputs.as_ref().is_some_and(|c| c.file.is_none()) {
            return Err(doc.error(
                "inputs.file",
                "no path given",
                "give a file (--record-inputs FILE), or a run directory with `run`",
            ));
        }
        Ok(())
    }

    /// Checks the names and numbers of the interfaces, and of the TUN.
    fn check_interfaces(&self, doc: &Document) -> Result<(), wayhop_document::Error> {
        let config = self;
        let further = config.interfaces.iter().enumerate().map(|(i, n)| (format!("interfaces[{i}]"), n));
        let head = [("interface".to_owned(), &config.interface), ("tun".to_owned(), &config.tun)];
        for (key, name) in head.into_iter().chain(further) {
            let key = &key;
            if !is_interface_name(name) {
                return Err(doc.error(
                    key,
                    format!("{name:?} is not an interface name"),
                    "give 1 to 15 characters without spaces, / and :",
                ));
            }
        }
        for (i, name) in config.interfaces.iter().enumerate() {
            if config.names().take(i + 1).any(|n| n == name) {
                return Err(doc.error(
                    &format!("interfaces[{i}]"),
                    format!("{name} is given twice"),
                    "give each interface once",
                ));
            }
        }
        let metrics = config.interface_metrics.len();
        if metrics > 0 && metrics != config.names().count() {
            let reason = format!("{metrics} metrics for {} interfaces", config.names().count());
            return Err(doc.error("interface_metrics", reason, "give one for each, in the same order"));
        }
        if config.interfaces.len() >= MAX_INTERFACES {
            let many = format!("{} interfaces are too many", config.interfaces.len() + 1);
            return Err(doc.error("interfaces", many, format!("give at most {MAX_INTERFACES}")));
        }
        if config.names().any(|n| n == config.tun) {
            return Err(doc.error(
                "tun",
                "the TUN interface cannot have the name of a mesh interface",
                "choose another name; the node creates it",
            ));
        }
        Ok(())
    }

    /// All interfaces that are in the mesh, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.interface).chain(&self.interfaces).map(String::as_str)
    }
}

impl Settings {
    /// What the node takes from its neighbours.
    pub(crate) fn limits(&self) -> Limits {
        self.config.limits.or(self.config.protocol.limits())
    }

    /// Reads the text of a configuration file.
    ///
    /// # Errors
    /// If it is none: line, key and remedy.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        let document = Document::new(None, text.to_owned());
        document
            .deserialize()
            .and_then(|config| Self::resolve(config, &document))
            .map_err(|e| config_error(&e))
    }

    /// Reads a file, if there is one, and what the command line says besides.
    pub fn load(path: Option<&Path>, overrides: &Overrides) -> Result<Self, Error> {
        let chosen = match (path, &overrides.node) {
            (Some(path), Some(node)) => Some(scenario::choose(
                path,
                node,
                &overrides.interfaces,
                &overrides.scenario_sets(),
                overrides.has_run(),
            )?),
            (None, Some(node)) => {
                return Err(Error::Config(format!(
                    "--as {node} needs a scenario file: wayhop node SCENARIO.toml --as {node}"
                )));
            }
            (Some(path), None) => {
                scenario::expect_config(path)?;
                None
            }
            (None, None) => None,
        };
        let file = path.filter(|_| chosen.is_none());
        let mut sets = chosen.as_ref().map(|c| c.sets.clone()).unwrap_or_default();
        sets.extend(overrides.sets());
        if file.is_none() {
            check_alone(&sets)?;
        }
        let mut document =
            file.map(Document::load).transpose().map_err(|e| config_error(&e))?.unwrap_or_default();
        let mut config: NodeConfig = document.deserialize_with(&sets).map_err(|e| config_error(&e))?;
        if let (Some(macfilter), Some(chosen)) = (&mut config.macfilter, &chosen) {
            macfilter.node = macfilter.node.or(Some(chosen.index));
        }
        let mut settings = Self::resolve(config, &document).map_err(|e| config_error(&e))?;
        if let Some(chosen) = chosen {
            settings.remarks.splice(..0, chosen.remarks);
            settings.name = Some(chosen.name);
            settings.outages = chosen.outages;
            settings.radio = Some(chosen.radio);
        }
        settings.usual_control = file.is_none().then(|| settings.config.tun.clone());
        settings.source = path.map(|p| (p.to_owned(), overrides.clone()));
        Ok(settings)
    }

    fn resolve(mut config: NodeConfig, doc: &Document) -> Result<Self, wayhop_document::Error> {
        config.check_interfaces(doc)?;
        let (address, prefix_len) = parse_address(&config.address).ok_or_else(|| {
            doc.error(
                "address",
                format!("{:?} is not an IPv4 address of a host with a prefix length", config.address),
                "give one such as 10.0.0.3/16",
            )
        })?;
        if let Some(mtu) = config.mtu.filter(|m| *m < 576) {
            return Err(doc.error("mtu", format!("{mtu} is too short for IPv4"), "give at least 576"));
        }
        let address6 = ipv6::address(config.address6.as_deref(), doc)?;
        if let Some(mtu) = config.mtu.filter(|m| usize::from(*m) < MIN_MTU && address6.is_some()) {
            return Err(doc.error("mtu", format!("{mtu} is too short for IPv6"), "give at least 1280"));
        }
        config.check_files(doc)?;
        if let Some(name) = &config.control {
            wayhop_control::paths::socket(name)
                .map_err(|e| doc.error("control", e, "give a short name such as mesh0"))?;
        }
        if let Some(name) =
            config.name.as_ref().filter(|n| n.trim().is_empty() || n.chars().any(char::is_control))
        {
            let wrong = format!("{name:?} is empty or contains control characters");
            return Err(doc.error("name", wrong, "give one such as relay-3, or remove the key"));
        }
        if let Some(Err((key, wrong, remedy))) = config.monitor.as_ref().map(Monitor::check) {
            return Err(doc.error(&format!("monitor.{key}"), wrong, remedy));
        }
        if signal::source(&config.signal, &config.interface).is_none() {
            return Err(doc.error(
                "signal",
                format!("{:?} is not a source of signals", config.signal),
                "give nl80211, none, or monitor:NAME with a monitor interface",
            ));
        }
        if let Some(at) = config.gpsd.as_ref().filter(|at| !is_host_and_port(at)) {
            return Err(doc.error(
                "gpsd",
                format!("{at:?} is not a host and port"),
                "give one such as localhost:2947",
            ));
        }
        let loaded = config.macfilter.as_ref().map(|m| m.load(doc)).transpose()?;
        let (ignores, cards) = loaded.unwrap_or_default();
        let remarks = config.protocol.adapt(doc)?;
        let protocol = config.protocol.resolve(doc)?;
        let keys = config.security.load(protocol.description(), doc)?;
        let around = Surroundings {
            interfaces: config.names().collect(),
            mesh: wayhop_linux::Prefix::around(address, prefix_len),
            address,
            address6,
            protocol: &protocol,
        };
        let routes = ipv6::routes(&config.routes, &around, doc)?;
        let mesh = wayhop_core::Prefix::around(address, prefix_len);
        let taken: Vec<&str> = config.names().chain([config.tun.as_str()]).collect();
        let gateway = config.gateway.as_ref();
        let edge = gateway::edge(gateway, &config.outside, (mesh, &taken), &protocol, doc)?;
        Ok(Self {
            config,
            address,
            prefix_len,
            address6,
            routes,
            edge,
            keys,
            protocol,
            ignores,
            cards,
            outages: Vec::new(),
            name: None,
            radio: None,
            usual_control: None,
            source: None,
            remarks,
        })
    }

    /// The configuration with all defaults, and the protocol with all parameters, as TOML.
    pub fn to_toml(&self) -> Result<String, Error> {
        let wrong = |e: toml::ser::Error| Error::Config(e.to_string());
        let mut config = self.config.clone();
        config.protocol = Protocol::complete(&self.protocol).map_err(wrong)?;
        toml::to_string(&config).map_err(wrong)
    }

    /// What the record keeps: [`Settings::to_toml`], and the radio of the scenario that the node is of, which a simulation of the run needs.
    pub(crate) fn record(&self) -> Result<String, Error> {
        let mut text = self.to_toml()?;
        if let Some(radio) = &self.radio {
            let radio = toml::to_string(radio).map_err(|e| Error::Config(e.to_string()))?;
            text.push_str("\n[radio]\n");
            text.push_str(&radio);
        }
        Ok(text)
    }
}

/// An error of the reader of scenarios, in the words of a node's configuration.
pub(crate) fn config_error(e: &wayhop_document::Error) -> Error {
    let text = e.to_string().replace("; paths in a scenario are relative to its folder", "");
    Error::Config(text.replace("docs/reference/scenario.md", "docs/reference/node.md"))
}

impl Overrides {
    /// Those about the scenario, before a node is chosen: the protocol, whose parameters follow from its profile.
    pub(crate) fn scenario_sets(&self) -> Vec<String> {
        let named = |key: &str, value: &Option<String>| value.as_ref().map(|v| format!("{key}={v}"));
        let flags = [named("protocol.name", &self.protocol), named("protocol.profile", &self.profile)];
        let sets = self.sets.iter().filter(|s| s.trim_start().starts_with("protocol."));
        flags.into_iter().flatten().chain(sets.cloned()).collect()
    }

    /// Whether a run directory is written.
    pub(crate) fn has_run(&self) -> bool {
        self.run.is_some() || self.sets.iter().any(|s| s.split('=').next().is_some_and(|k| k.trim() == "run"))
    }

    fn sets(&self) -> Vec<String> {
        let text = |key: &str, value: &Option<String>| {
            value.as_ref().map(|v| format!("{key}={}", toml::Value::String(v.clone())))
        };
        let list = |key: &str, values: &[String]| {
            let values = values.iter().cloned().map(toml::Value::String).collect();
            (!self.interfaces.is_empty()).then(|| format!("{key}={}", toml::Value::Array(values)))
        };
        let flags = [
            text("interface", &self.interfaces.first().cloned()),
            list("interfaces", self.interfaces.get(1..).unwrap_or_default()),
            text("address", &self.address),
            text("tun", &self.tun),
            text("protocol.name", &self.protocol),
            text("protocol.profile", &self.profile),
            text("macfilter.file", &self.macfilter.as_ref().map(|file| file.display().to_string())),
            text("run", &self.run.as_ref().map(|run| run.display().to_string())),
            self.inputs.as_ref().map(|file| match file {
                Some(file) => format!("inputs.file={}", toml::Value::String(file.display().to_string())),
                None => "inputs={}".to_owned(),
            }),
        ];
        flags.into_iter().flatten().chain(self.sets.iter().cloned()).collect()
    }
}

/// Without a file, what a node cannot do without has to be on the command line.
fn check_alone(sets: &[String]) -> Result<(), Error> {
    let is_set = |key: &str| sets.iter().any(|s| s.split('=').next().is_some_and(|k| k.trim() == key));
    let options = [("interface", "--interface wlan0"), ("address", "--address 10.0.0.3/16")];
    match options.iter().find(|(key, _)| !is_set(key)) {
        None => Ok(()),
        Some((key, option)) => Err(Error::Config(format!(
            "{key} is missing: give {option}, or set it in a configuration file (docs/reference/node.md)"
        ))),
    }
}

/// Whether this is a host, by name or address, and a port.
fn is_host_and_port(text: &str) -> bool {
    text.rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|p| p > 0))
}

/// `10.0.0.3/16`: a host's address with the length of its network's prefix.
fn parse_address(text: &str) -> Option<(Ipv4Addr, u8)> {
    let (addr, len) = text.split_once('/')?;
    let (addr, len): (Ipv4Addr, u8) = (addr.parse().ok()?, len.parse().ok()?);
    let host = !(addr.is_unspecified() || addr.is_loopback() || addr.is_multicast() || addr.is_broadcast());
    let bits = addr.to_bits();
    let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
    let inside = (1..=30).contains(&len) && bits & !mask != 0 && bits & !mask != !mask;
    (host && inside).then_some((addr, len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Text that is nearly right, and text that is not.
    fn words(right: &'static [&'static str]) -> impl Strategy<Value = String> {
        prop_oneof![8 => proptest::sample::select(right).prop_map(str::to_owned), 1 => "[ -~]{0,20}"]
    }

    fn files() -> impl Strategy<Value = String> {
        let route = (
            words(&["fd00:99::/64", "fd00:77::9", "10.0.0.9", "::/0"]),
            words(&["fd00:77::2", "10.0.0.2", "fd00:77::3"]),
            proptest::option::of(words(&["wlan0", "eth1"])),
        );
        let routes = proptest::collection::vec(route, 0..4);
        let address6 = proptest::option::of(words(&["fd00:77::3/64", "fd00:77::3/126"]));
        let protocol = words(&["none", "dsr", "aodv", "dsdv"]);
        (words(&["10.0.0.3/16", "192.168.7.1/30"]), address6, protocol, routes, any::<u16>()).prop_map(
            |(address, address6, protocol, routes, mtu)| {
                let mut lines = vec![
                    "interface = \"wlan0\"".to_owned(),
                    format!("address = {address:?}\nmtu = {mtu}\nprotocol = {{ name = {protocol:?} }}"),
                ];
                lines.extend(address6.map(|a| format!("address6 = {a:?}")));
                for (destination, via, interface) in routes {
                    lines.push(format!("[[routes]]\ndestination = {destination:?}\nvia = {via:?}"));
                    lines.extend(interface.map(|i| format!("interface = {i:?}")));
                }
                lines.join("\n")
            },
        )
    }

    proptest! {
        #[test]
        fn a_file_is_refused_or_means_the_same_when_it_is_written_out(text in files()) {
            match Settings::from_text(&text) {
                Err(e) => prop_assert!(!e.to_string().is_empty()),
                Ok(settings) => {
                    let whole = settings.to_toml().unwrap();
                    let again = Settings::from_text(&whole).map_err(|e| TestCaseError::fail(e.to_string()))?;
                    prop_assert_eq!(again.to_toml().unwrap(), whole);
                    prop_assert_eq!((again.address6, again.routes), (settings.address6, settings.routes));
                }
            }
        }
    }

    #[test]
    fn a_file_with_ipv6_and_static_routes_is_taken() {
        let file = "interface = \"wlan0\"\naddress = \"10.0.0.3/16\"\naddress6 = \"fd00:77::3/64\"\n\
                    protocol = { name = \"none\" }\n[[routes]]\ndestination = \"fd00:99::/64\"\nvia = \"fd00:77::2\"\n";
        let settings = Settings::from_text(file).unwrap();
        assert_eq!(settings.routes.len(), 1);
        assert_eq!(settings.routes[0].next_hop, "fd00:77::2".parse::<wayhop_core::Addr>().unwrap());
    }

    #[test]
    fn addresses_of_hosts_are_taken_and_those_of_networks_are_not() {
        assert_eq!(parse_address("10.0.0.3/16"), Some((Ipv4Addr::new(10, 0, 0, 3), 16)));
        for wrong in [
            "10.0.0.3",
            "10.0.0.0/24",
            "10.0.0.255/24",
            "10.0.0.3/32",
            "10.0.0.3/0",
            "127.0.0.1/8",
            "x/8",
            "224.0.0.1/8",
        ] {
            assert_eq!(parse_address(wrong), None, "{wrong}");
        }
    }
}
