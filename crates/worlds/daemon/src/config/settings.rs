//! A node's settings: its configuration file, the command line, and what follows from them.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use wayhop_auth::Keys;
use wayhop_core::{Configured, Limits, Mac, Route};
use wayhop_document::Document;
use wayhop_linux::Error;
use wayhop_scenario::{Ignores, Outage, Protocol, Radio};
use wayhop_wire::ipv6::MIN_MTU;

use crate::config::gateway::{self, EdgePlan};
use crate::config::ipv6::{self, Surroundings};
use crate::config::monitor::Monitor;
use crate::config::node_config::NodeConfig;
use crate::config::{scenario, signal};

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
    pub edge: Option<EdgePlan>,
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
        config.protocol.load(&document).map_err(|e| config_error(&e))?;
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
            let what = format!("{:?} is not an IPv4 address of a host with a prefix length", config.address);
            doc.error("address", what, "give one such as 10.0.0.3/16")
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
            let what = format!("{:?} is not a source of signals", config.signal);
            let remedy = "give nl80211, none, or monitor:NAME with a monitor interface";
            return Err(doc.error("signal", what, remedy));
        }
        if let Some(at) = config.gpsd.as_ref().filter(|at| !is_host_and_port(at)) {
            let what = format!("{at:?} is not a host and port");
            return Err(doc.error("gpsd", what, "give one such as localhost:2947"));
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
        let protocol = self.protocol.as_deref().map(wayhop_protocols::absolute);
        let flags = [named("protocol.name", &protocol), named("protocol.profile", &self.profile)];
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
            text("protocol.name", &self.protocol.as_deref().map(wayhop_protocols::absolute)),
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
