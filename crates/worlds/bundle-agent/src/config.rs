//! The configuration of an agent: a TOML file, or settings of the command line.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_control::{NodeRef, SocketName, paths};
use wayhop_core::Span;
use wayhop_document::Document;
use wayhop_dtn::Eid;
use wayhop_dtn::node::{self, DtnRouting, Layer, Ports, Settings};
use wayhop_dtn::routing::StaticRoutes;

use crate::error::Error;
use crate::traffic::Source;

/// Where an agent listens unless it is told otherwise: a name of Linux's abstract namespace, which each network namespace has for
/// itself, so that the agent of an emulated node is found in that node.
pub const DEFAULT_SOCKET: &str = "@wayhop-bundles";

const HEAD: &str = include_str!("reference_head.md");

/// `docs/reference/bundle-agent.md`.
pub fn reference_markdown() -> String {
    format!(
        "{HEAD}{}",
        wayhop_document::reference_tables::<AgentConfig>(&[("peers", "Peer"), ("sources", "Source")])
    )
}

/// The configuration of a bundle agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// The node's own endpoint: `dtn://name/` or `ipn:5.0`.
    pub node: String,
    /// The file of the store. It is created if it is missing; only one agent at a time can use it.
    pub store: PathBuf,
    /// The capacity of the store, bytes of bundles.
    #[serde(default = "store_bytes")]
    pub store_bytes: u64,
    /// The socket for programs: a path, or `@` and a name in Linux's abstract namespace, which is
    /// separate in each network namespace.
    #[serde(default = "socket")]
    pub socket: String,
    /// Who may use it: `own` for this user and root, `all` for every user of this host.
    #[serde(default)]
    pub users: Users,
    /// The address to listen on.
    #[serde(default = "anywhere")]
    #[schemars(with = "String")]
    pub listen: Ipv4Addr,
    /// The convergence layers to listen for: TCPCLv4 on TCP port 4556, UDPCL on UDP port 4556, LTP
    /// on UDP port 1113.
    #[serde(default = "layers")]
    pub layers: Vec<Layer>,
    /// The convergence layer to send with, to neighbours that support it.
    #[serde(default = "layer")]
    pub layer: Layer,
    /// The TCP port of TCPCLv4.
    #[serde(default = "bundle_port")]
    pub tcpcl_port: u16,
    /// The UDP port of UDPCL.
    #[serde(default = "bundle_port")]
    pub udpcl_port: u16,
    /// The UDP port of LTP.
    #[serde(default = "ltp_port")]
    pub ltp_port: u16,
    /// Who gets a copy of a bundle.
    #[serde(default)]
    pub routing: DtnRouting,
    /// Copies of each bundle that `spray-and-wait` makes.
    #[serde(default = "copies")]
    pub copies: u32,
    /// With `static`: routes such as `dtn://b/* via dtn://a/`, `* via dtn://gateway/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<String>,
    /// The maximum size of a bundle, bytes; larger ones are fragmented. The default is 1400 over
    /// `udpcl`, otherwise no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment_bytes: Option<u64>,
    /// The maximum payload of a bundle, or of all fragments of one, bytes.
    #[serde(default = "largest")]
    pub largest_bytes: u64,
    /// Sending rate of `udpcl` and `ltp`, bits per second of datagrams.
    #[serde(default = "rate")]
    pub rate_bps: f64,
    /// Beacon interval on UDP port 4551, seconds; 0 for none.
    #[serde(default = "beacon")]
    pub beacon_s: f64,
    /// The interfaces for beacons. The default is all that are up, except for the loopback.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<String>,
    /// A contact ends when the neighbour has been silent for this long, seconds.
    #[serde(default = "silence")]
    pub silence_s: f64,
    /// How long a custodian waits for another one before it retransmits a bundle, seconds.
    #[serde(default = "custody")]
    pub custody_s: f64,
    /// Send the status reports that bundles request (RFC 9171, section 5.1). Off by default, since
    /// others could have reports sent to third parties.
    #[serde(default)]
    pub status_reports: bool,
    /// Name of the control socket of a `wayhop node` or a run, whose neighbours are contacted as
    /// possible agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<String>,
    /// The node of that run: its number or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh_node: Option<String>,
    /// A file for all events of bundles, one JSON object per line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<PathBuf>,
    /// Neighbours to contact even without beacons, such as agents of other vendors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<Peer>,
    /// Bundles that the agent generates, for emulations and tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Services whose bundles the agent accepts and discards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sinks: Vec<String>,
}

/// A neighbour that is always contacted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Its node endpoint.
    pub node: String,
    /// Its address and port, such as `10.0.0.2:4556`.
    #[schemars(with = "String")]
    pub address: SocketAddr,
    /// The convergence layer.
    pub layer: Layer,
}

/// Who may use the socket for programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Users {
    /// The agent's own user, and root.
    #[default]
    Own,
    /// Every user of this host.
    All,
}

/// The values of keys that need not be given.
macro_rules! defaults {
    ($($key:ident: $type:ty = $value:expr,)+) => {
        $(fn $key() -> $type {
            $value
        })+
    };
}
defaults! {
    store_bytes: u64 = 256 << 20,
    socket: String = DEFAULT_SOCKET.to_owned(),
    anywhere: Ipv4Addr = Ipv4Addr::UNSPECIFIED,
    layers: Vec<Layer> = vec![Layer::Tcpcl, Layer::Udpcl],
    layer: Layer = Layer::Tcpcl,
    bundle_port: u16 = Ports::default().tcpcl,
    ltp_port: u16 = Ports::default().ltp,
    copies: u32 = 8,
    largest: u64 = 64 << 20,
    rate: f64 = 1e6,
    beacon: f64 = 1.0,
    silence: f64 = 3.5,
    custody: f64 = 60.0,
}

/// A configuration, checked.
#[derive(Clone, Debug)]
pub struct AgentPlan {
    /// As it was written.
    pub config: AgentConfig,
    /// What the node needs to know.
    pub(crate) settings: Settings,
    /// Where programs find it.
    pub socket: SocketName,
}

impl AgentConfig {
    /// Reads a file, if there is one, and `sets` of the form `key=value` on top, and checks it all.
    ///
    /// # Errors
    /// What cannot be used, with file, line, key and remedy.
    pub fn load(path: Option<&Path>, sets: &[String]) -> Result<AgentPlan, Error> {
        let told = |e: wayhop_document::Error| Error::Config(e.lines().join("\n"));
        let mut document = match path {
            Some(path) => Document::load(path).map_err(told)?,
            None => Document::new(None, String::new()),
        };
        let config: Self = document.deserialize_with(sets).map_err(told)?;
        config.check(&document).map_err(told)
    }

    fn check(self, doc: &Document) -> Result<AgentPlan, wayhop_document::Error> {
        let eid = |text: &str, key: &str| {
            let parsed = text
                .parse::<Eid>()
                .map_err(|e| doc.error(key, e.to_string(), "write dtn://name/ or ipn:5.0"))?;
            if parsed.is_none() || parsed != parsed.node() {
                let why = format!("{text} is not a node's endpoint");
                return Err(doc.error(key, why, "remove the service, as in dtn://name/ or ipn:5.0"));
            }
            Ok(parsed)
        };
        let range = |key: &str, v: f64, low: f64, high: f64| {
            if (low..=high).contains(&v) {
                return Ok(());
            }
            Err(doc.error(key, format!("{v} is not a number from {low} to {high}"), "give one in that range"))
        };
        range("store_bytes", self.store_bytes as f64, 1_024.0, 1e13)?;
        range("largest_bytes", self.largest_bytes as f64, 1_024.0, (1_u64 << 30) as f64)?;
        range("fragment_bytes", self.fragment_bytes.unwrap_or(1_400) as f64, 256.0, (1_u64 << 30) as f64)?;
        range("rate_bps", self.rate_bps, 1e3, 1e12)?;
        range("silence_s", self.silence_s, 0.01, 1e6)?;
        range("custody_s", self.custody_s, 0.1, 1e7)?;
        range("copies", f64::from(self.copies), 1.0, 1e6)?;
        if self.beacon_s != 0.0 {
            range("beacon_s", self.beacon_s, 0.01, self.silence_s)?;
        }
        if self.routing == DtnRouting::Static {
            StaticRoutes::parse(self.routes.iter().map(String::as_str))
                .map_err(|e| doc.error("routes", e.to_string(), "see docs/reference/bundle-agent.md"))?;
        } else if !self.routes.is_empty() {
            return Err(doc.error(
                "routes",
                "routes are for static routing only",
                "set routing = \"static\"",
            ));
        }
        let node = eid(&self.node, "node")?;
        let peer =
            |(k, p): (usize, &Peer)| Ok((eid(&p.node, &format!("peers[{k}].node"))?, p.layer, p.address));
        let peers = self.peers.iter().enumerate().map(peer).collect::<Result<Vec<_>, _>>()?;
        let own = |service: &str, key: &str| {
            let whole = node.service(service).to_string().parse::<Eid>();
            whole.map_err(|e| doc.error(key, e.to_string(), "give a service of this node, such as inbox"))
        };
        let source = |(k, s): (usize, &Source)| {
            let key = |field: &str| format!("sources[{k}].{field}");
            range(&key("start_s"), s.start_s, 0.0, 1e9)?;
            range(&key("size_bytes"), s.size_bytes as f64, 1.0, self.largest_bytes as f64)?;
            range(&key("interval_s"), s.interval_s, 1e-3, 1e9)?;
            range(&key("lifetime_s"), s.lifetime_s, 1e-3, 3.2e9)?;
            let to = s.destination.parse::<Eid>();
            let to =
                to.map_err(|e| doc.error(&key("destination"), e.to_string(), "write dtn://name/service"))?;
            Ok(node::Source { from: own(&s.service, &key("service"))?, to, series: s.series() })
        };
        let sources = self.sources.iter().enumerate().map(source).collect::<Result<Vec<_>, _>>()?;
        let sink = |(k, s): (usize, &String)| own(s, &format!("sinks[{k}]"));
        let sinks = self.sinks.iter().enumerate().map(sink).collect::<Result<Vec<_>, _>>()?;
        let settings = Settings { peers, sources, sinks, ..self.settings(node) };
        Ok(AgentPlan { settings, socket: SocketName::parse(&self.socket), config: self })
    }

    /// The control socket whose routing protocol's neighbours are the agent's, and the node of a run.
    ///
    /// # Errors
    /// If there is no such socket.
    pub fn mesh_socket(&self) -> Result<Option<(PathBuf, Option<NodeRef>)>, Error> {
        let Some(run) = &self.mesh else { return Ok(None) };
        let socket = paths::find(run).map_err(Error::Config)?;
        let named = |n: &String| n.parse::<NodeRef>().unwrap_or_else(|_| NodeRef::Name(n.clone()));
        Ok(Some((socket, self.mesh_node.as_ref().map(named))))
    }

    fn settings(&self, node: Eid) -> Settings {
        let mut s = Settings::new(node);
        s.agent.dtn_time_at_zero_ms = Some(0);
        s.agent.limits.octets = self.store_bytes;
        s.agent.limits.adu_octets = self.largest_bytes;
        s.agent.custody_timeout = Span::from_secs_f64(self.custody_s);
        s.agent.status_reports = self.status_reports;
        s.routing = self.routing.plan(self.copies, self.routes.clone());
        s.layer = self.layer;
        s.listens.clone_from(&self.layers);
        (s.ports.udpcl, s.ports.ltp, s.ports.tcpcl) = (self.udpcl_port, self.ltp_port, self.tcpcl_port);
        s.largest = match (self.fragment_bytes, self.layer) {
            (Some(n), _) => Some(n as usize),
            (None, Layer::Udpcl) => Some(1_400),
            (None, _) => None,
        };
        s.datagram = 1_400;
        s.beacon = (self.beacon_s > 0.0).then(|| Span::from_secs_f64(self.beacon_s));
        s.silence = Span::from_secs_f64(self.silence_s);
        s.rate_bps = NonZeroU64::new(self.rate_bps as u64).unwrap_or(NonZeroU64::MIN);
        s.shares_commits = true;
        s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<AgentPlan, Error> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("agent.toml");
        std::fs::write(&path, text).expect("a file");
        AgentConfig::load(Some(&path), &[])
    }

    #[test]
    fn two_keys_are_enough() {
        let loaded = load("node = \"dtn://a/\"\nstore = \"a.redb\"\n").expect("a configuration");
        assert_eq!(loaded.settings.layer, Layer::Tcpcl);
        assert_eq!(loaded.settings.largest, None);
        assert_eq!(loaded.settings.ports.tcpcl, 4556);
        let sets = ["node=ipn:5.0".to_owned(), "store=b.redb".to_owned(), "layer=udpcl".to_owned()];
        let by_command = AgentConfig::load(None, &sets).expect("a configuration");
        assert_eq!(by_command.settings.largest, Some(1_400));
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_file_line_key_and_remedy() {
        let head = "node = \"dtn://a/\"\nstore = \"a.redb\"\n";
        for (keys, words) in [
            ("layer = \"smtp\"", "unknown value `smtp`"),
            ("beacon_s = -1", "beacon_s"),
            ("routes = [\"x\"]\nrouting = \"static\"", "via"),
            ("routes = [\"* via dtn://b/\"]", "static"),
            (
                "[[peers]]\nnode = \"dtn://b/inbox\"\naddress = \"10.0.0.2:4556\"\nlayer = \"tcpcl\"",
                "peers[0].node",
            ),
            ("colour = 1", "colour"),
        ] {
            let e = load(&format!("{head}{keys}\n")).expect_err(keys).to_string();
            assert!(e.contains("agent.toml:") && e.contains(words), "{keys}: {e}");
        }
        assert!(load("store = \"a\"").is_err(), "a node without a name");
    }
}
