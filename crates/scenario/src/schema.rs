//! The keys of a scenario file.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_document::Document;
use wayhop_simulator_files::Columns;
use wayhop_world::Geodetic;

use crate::attacks_schema::Attacks;
use crate::ipv6_schema::{IpVersion, NodesIpv6, StaticRoute};
use crate::neighbour_limits::NeighbourLimits;
use crate::outages_schema::Outages;
use crate::references::{NodeRef, Place};
use crate::security::Security;
use crate::traffic_schema::payload;

/// A scenario: who moves where, who talks to whom, over which radio, by which protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A name for summaries and reports. Without one, the file's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Seed of every random stream of the run.
    #[serde(default = "one")]
    pub seed: u64,
    /// Length of the run, seconds of simulated time. Without it: the time at which ns-2 files end the run (`$ns_ at 150.0
    /// "$ns_ halt"`, or `finish`, `stop`, `exit`); if they do not, the time of the last move in them, rounded up to two digits; 10 s after the last flow stops if that is later, or if all flows stop and there are no
    /// such files (or programs); otherwise 900 s. A flow that begins no sooner than that has 100 s. A warning says so if flows
    /// go on at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// The nodes.
    #[serde(default)]
    pub nodes: Nodes,
    /// The area for the movement kinds that need one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
    /// Where on the globe the local frame has its origin; positions may then be given as latitude and longitude.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Geodetic>,
    /// A map in GeoJSON (RFC 7946), with features that other keys refer to by their property `name`: lines to drive along,
    /// areas with a propagation of their own. Nodes that bear the name of a point of kind `node` (its property `kind`)
    /// stand there, in the place of what `movement` says. Needs an `origin`; a relative path counts from the scenario
    /// file's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<PathBuf>,
    /// A picture below the map of `wayhop studio`. Runs do not read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<crate::background::Background>,
    /// Where the nodes are, when.
    pub movement: Movement,
    /// Who sends what to whom. Flows are numbered in this order.
    #[serde(default)]
    pub traffic: Vec<Traffic>,
    /// The radio; with `radios` or `wires`, the first one.
    #[serde(default)]
    pub radio: Radio,
    /// Further radios, on channels of their own, with the same keys as `radio`: docs/concepts/interfaces.md.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub radios: Vec<Radio>,
    /// Ethernet segments between nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wires: Vec<crate::interfaces_schema::Wire>,
    /// The routing protocol.
    #[serde(default)]
    pub protocol: Protocol,
    /// Limits on what nodes take from their neighbours.
    #[serde(default, skip_serializing_if = "NeighbourLimits::is_empty")]
    pub limits: NeighbourLimits,
    /// Keys with which nodes authenticate routing messages.
    #[serde(default, skip_serializing_if = "Security::is_empty")]
    pub security: Security,
    /// Routes that nodes have from the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<StaticRoute>,
    /// Nodes that lead out of the mesh.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gateways: Vec<crate::gateways_schema::Gateway>,
    /// When drivers stop serving their interface queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Stall>,
    /// Links whose path loss follows a table, in the place of distance and propagation: radios at a matrix of attenuators.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_losses: Vec<crate::path_losses_schema::PathLosses>,
    /// When nodes go down, and when they come back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outages>,
    /// Nodes that attack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attacks: Vec<Attacks>,
    /// Batteries: a node whose battery is empty goes down for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<crate::energy_schema::Energy>,
    /// Bundles: who stores and carries them, and who sends them to whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtn: Option<crate::dtn_schema::Dtn>,
    /// Orders that nodes get from outside, as by their control interface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
    /// Real programs in nodes, in emulation and lab. They run without rights unless `--trust` is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
    /// Which nodes write a capture of what their radio sends and hears.
    #[serde(default)]
    pub captures: Captures,
    /// Of which nodes and flows a run records what became of each frame at its receivers.
    #[serde(default, skip_serializing_if = "Receptions::is_none")]
    pub receptions: Receptions,
    /// What else a run writes.
    #[serde(default)]
    pub output: Output,
    /// The text that it was read from, to name lines in messages.
    #[serde(skip)]
    #[schemars(skip)]
    pub document: Document,
}

fn one() -> u64 {
    1
}

/// The nodes of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nodes {
    /// How many. Needed where the movement does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// IPv6 addresses, besides those of IPv4: true for addresses in fd00:77::/64, or a prefix such as "fd00:1::/64". Node 0 gets
    /// the first address of the prefix, fd00:77::1, and so on upwards; each interface has its link-local address besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<NodesIpv6>,
    /// What single nodes have of their own.
    #[serde(default, rename = "node", skip_serializing_if = "Vec::is_empty")]
    pub single: Vec<Node>,
}

/// What one node has of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The node, counted from 0.
    pub id: u32,
    /// A name, to be used in flows and captures. Without one: its number (its number in the file, for ns-2 files).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its IPv4 address. Without one: 10.0.0.1 for node 0, and so on upwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<std::net::Ipv4Addr>,
    /// Its IPv6 address, in scenarios with `nodes.ipv6`. Without one: by its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address6: Option<std::net::Ipv6Addr>,
    /// Where it stands, in the place of what `movement` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Place>,
    /// Its network card: the name of a radio preset, whose `card_` keys stand in the place of those of `radio` (not of
    /// `radios`) at this node. All else of the radio is the same for all nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<String>,
    /// Its battery: these keys stand in the place of those of `energy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<crate::energy_schema::Energy>,
    /// It runs on mains: `energy` is not for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mains: bool,
}

/// The box from the local origin in which nodes are placed and move.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Eastward, metres.
    pub x_m: f64,
    /// Northward, metres.
    pub y_m: f64,
    /// Upward, metres.
    #[serde(default)]
    pub z_m: f64,
}

/// Where the nodes are, when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Movement {
    /// Every node stands at a listed place.
    Static {
        /// One place for each node.
        positions: Vec<Place>,
    },
    /// Every node goes from waypoint to waypoint, as listed: what `wayhop studio SCENARIO` draws.
    Waypoints {
        /// One track for each node.
        tracks: Vec<crate::waypoints_schema::NodeTrack>,
    },
    /// A straight line along x.
    Chain {
        /// Distance of neighbours, metres.
        spacing_m: f64,
    },
    /// Rows of a square grid.
    Grid {
        /// Distance of neighbours, metres.
        spacing_m: f64,
        /// Nodes to a row. Without it: as near to a square as the count allows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        columns: Option<u32>,
    },
    /// Every node stands at a place drawn uniformly from the area.
    Uniform {},
    /// Random waypoint: to a place drawn uniformly from the area, in a straight line at a speed drawn uniformly; pause;
    /// again.
    RandomWaypoint {
        /// Lowest speed, m/s.
        #[serde(default = "slowest")]
        speed_min_mps: f64,
        /// Highest speed, m/s.
        speed_max_mps: f64,
        /// Pause at each waypoint, seconds.
        #[serde(default)]
        pause_s: f64,
        /// Start as if the nodes had moved for ever; otherwise uniformly in the area and with a pause.
        #[serde(default)]
        steady_state: bool,
        /// The same moves so many times as fast, every moment divided by this: a pattern at another speed. The patterns of runs
        /// that last `duration_s` over `speed_factor` are the same.
        #[serde(default = "unchanged", skip_serializing_if = "is_unchanged")]
        speed_factor: f64,
    },
    /// Cars one behind the other along a line of the map: there and back, or round and round if the line ends where it
    /// begins. All nodes drive that have no place of their own, the first in front. The leader draws a speed uniformly
    /// for each stretch between two points of the line; the others do the same at the same places, later.
    Course {
        /// The name of a line in `map`. Its points of kind `stop` that lie within 20 m of it are places to halt at.
        line: String,
        /// Lowest speed, m/s.
        speed_min_mps: f64,
        /// Highest speed, m/s.
        speed_max_mps: f64,
        /// How long every car halts at every stop, seconds.
        #[serde(default)]
        stop_s: f64,
        /// From car to car, metres, at the mean speed under way. Give this or `separation_s`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        separation_m: Option<f64>,
        /// From car to car, seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        separation_s: Option<f64>,
        /// Each car is early or late by up to this, seconds, drawn anew for each lap.
        #[serde(default)]
        jitter_s: f64,
        /// The same drive so many times as fast, every moment divided by this, halts and separations too.
        #[serde(default = "unchanged", skip_serializing_if = "is_unchanged")]
        speed_factor: f64,
    },
    /// A movement file of BonnMotion (`.movements`), plain or gzip: a line for each node.
    Bonnmotion {
        /// The file; a relative path counts from the scenario file's folder.
        path: PathBuf,
        /// The numbers of each waypoint. Without it: what BonnMotion's own file `NAME.params` beside the movement file says; without
        /// that, what the file itself allows, which is refused if there are several ways to read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        columns: Option<Columns>,
        /// The same moves so many times as fast, every moment divided by this. Traffic keeps its times.
        #[serde(default = "unchanged", skip_serializing_if = "is_unchanged")]
        speed_factor: f64,
    },
    /// A movement file of ns-2 (`setdest`), plain or gzip.
    Ns2 {
        /// The file; a relative path counts from the scenario file's folder.
        path: PathBuf,
        /// The same moves so many times as fast, every moment divided by this. Traffic keeps its times.
        #[serde(default = "unchanged", skip_serializing_if = "is_unchanged")]
        speed_factor: f64,
    },
}

fn unchanged() -> f64 {
    1.0
}
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_unchanged(factor: &f64) -> bool {
    *factor == 1.0
}

fn slowest() -> f64 {
    0.01
}

/// One flow, or a source of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Traffic {
    /// UDP packets at a constant rate.
    Cbr(Cbr),
    /// UDP packets at exponentially distributed intervals.
    Poisson(Poisson),
    /// UDP packets in bursts, whose lengths are exponentially distributed.
    OnOff(crate::traffic_schema::OnOff),
    /// UDP packets in bursts, whose lengths follow Pareto's law.
    Pareto(crate::traffic_schema::Pareto),
    /// UDP packets at the times and of the sizes that a file gives.
    Trace(crate::traffic_schema::TrafficTrace),
    /// ICMP echo requests, which the destination answers.
    Ping(Ping),
    /// A TCP connection.
    Tcp(Box<crate::tcp_schema::Tcp>),
    /// Several CBR flows between nodes drawn at random, as ns-2's `cbrgen` makes them.
    CbrRandom(CbrRandom),
    /// A traffic file of ns-2 (`cbrgen`), plain or gzip. Needs a movement of kind `ns2`.
    Ns2(Ns2File),
}

/// UDP packets at a constant rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cbr {
    /// The source.
    pub src: NodeRef,
    /// The destination; "all" for every other node, by packets for a multicast group. In the summary each packet then
    /// counts once for each node that it is meant for, and `dst` is null. DSR floods them; AODV has no route
    /// for them.
    pub dst: NodeRef,
    /// When the first packet is sent, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Without it: at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// UDP payload of each packet, octets.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// Packets a second.
    #[serde(default = "rate")]
    pub rate_pps: f64,
    /// Each interval is drawn uniformly from (1 - jitter) to (1 + jitter) times the mean; `cbrgen` has 0.5.
    #[serde(default)]
    pub jitter: f64,
    /// Stop after so many packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets: Option<u64>,
    /// The version of IP: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

/// UDP packets at exponentially distributed intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// The source.
    pub src: NodeRef,
    /// The destination; "all" as with `cbr`.
    pub dst: NodeRef,
    /// When to begin, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Without it: at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// UDP payload of each packet, octets.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// Mean packets a second.
    #[serde(default = "rate")]
    pub rate_pps: f64,
    /// Stop after so many packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets: Option<u64>,
    /// The version of IP: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

/// ICMP echo requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    /// Who asks.
    pub src: NodeRef,
    /// Who answers.
    pub dst: NodeRef,
    /// When the first request is sent, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Without it: at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// Data after the ICMP header, octets.
    #[serde(default = "echo_payload")]
    pub payload_bytes: u32,
    /// Time between requests, seconds.
    #[serde(default = "echo_interval")]
    pub interval_s: f64,
    /// Stop after so many requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets: Option<u64>,
    /// The version of IP: 4 or 6.
    #[serde(default, skip_serializing_if = "IpVersion::is_default")]
    pub ip: IpVersion,
}

/// CBR flows between nodes drawn at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrRandom {
    /// How many flows. Sources differ as long as there are nodes enough.
    pub connections: u32,
    /// UDP payload of each packet, octets.
    #[serde(default = "payload")]
    pub payload_bytes: u32,
    /// Packets a second of each flow.
    #[serde(default = "rate")]
    pub rate_pps: f64,
    /// Each interval is drawn uniformly from (1 - jitter) to (1 + jitter) times the mean; `cbrgen` has 0.5.
    #[serde(default)]
    pub jitter: f64,
    /// Each flow starts at a time drawn uniformly from 0 to this, seconds.
    #[serde(default = "start_max")]
    pub start_max_s: f64,
    /// Stop each flow after so many packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_packets: Option<u64>,
}

/// A traffic file of ns-2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ns2File {
    /// The file; a relative path counts from the scenario file's folder.
    pub path: PathBuf,
}

fn rate() -> f64 {
    4.0
}
fn echo_payload() -> u32 {
    56
}
fn echo_interval() -> f64 {
    1.0
}
fn start_max() -> f64 {
    180.0
}

/// The radio: a preset, and any key of the radio that should differ from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Radio {
    /// The preset's name.
    #[serde(default = "preset", deserialize_with = "crate::names::radio")]
    pub preset: String,
    /// The interface's name: up to 15 letters, digits, `-`, `_` and `.`. Without one: `radio`, and `radio1`, `radio2` ...
    /// for further ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The number of an IEEE 802.11 channel, in the place of `frequency_mhz`: 1 to 14 in the 2.4 GHz band, 36 to 177 in the
    /// 5 GHz band (with `phy = "ofdm"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<u32>,
    /// The nodes that have it. Without it: every node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<NodeRef>>,
    /// What the place around the nodes does to signals, besides distance. Without it: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<crate::site_schema::Site>,
    /// Keys that differ from the preset.
    #[serde(flatten)]
    #[schemars(skip)]
    pub overrides: toml::Table,
}

/// The routing protocol: a profile, and any parameter that should differ from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Protocol {
    /// The protocol's name.
    #[serde(default = "protocol", deserialize_with = "crate::names::protocol")]
    pub name: String,
    /// The name of one of the protocol's sets of parameters; without it, the protocol's first.
    #[serde(default, deserialize_with = "crate::names::profile", skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Parameters that differ from the profile.
    #[serde(flatten)]
    #[schemars(skip)]
    pub overrides: toml::Table,
}

fn preset() -> String {
    "wavelan-914-cmu".into()
}
fn protocol() -> String {
    wayhop_protocols::default().name.into()
}

impl Default for Radio {
    fn default() -> Self {
        Self {
            preset: preset(),
            name: None,
            channel: None,
            nodes: None,
            site: None,
            overrides: toml::Table::new(),
        }
    }
}

impl Default for Protocol {
    fn default() -> Self {
        Self { name: protocol(), profile: None, overrides: toml::Table::new() }
    }
}

/// A time in which a node's driver does not serve its interface queue: congestion made to order, as in the CMU testbed's
/// experiment with retransmission timers (Maltz, Broch and Johnson 1999, section 6.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// Whose.
    pub node: NodeRef,
    /// The name of one of the node's interfaces. Without it: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// When it stops, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// For how long, seconds.
    pub length_s: f64,
    /// From one stop to the next, seconds. Without it there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_s: Option<f64>,
}

/// An order that nodes get from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// Forget routes, without a word to anybody: the next packet begins a new discovery. In AODV the entries stay, as if
    /// their lifetime had ended, for their sequence numbers; DSR's caches forget.
    PurgeRoutes(PurgeRoutes),
}

/// Forget routes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PurgeRoutes {
    /// Who is to forget. Without it: every node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// The route to whom. Without it: all routes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<NodeRef>,
    /// When, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// From one time to the next, seconds. Without it the order is given once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_s: Option<f64>,
}

/// A real program in a node, where nodes are real: in emulation and lab. It reaches the others as `mesh-0`, `mesh-1`, ...
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Where.
    pub node: NodeRef,
    /// When it starts, seconds. One that still runs at the end of the run is ended.
    #[serde(default)]
    pub start_s: f64,
    /// The program and its arguments, one string each. Its working directory is `files/NODE` in the run directory; with `--trust`, that of who
    /// starts the run.
    pub command: Vec<String>,
    /// The file in the run directory's folder `programs` that takes its output and messages. Without it: its number in this
    /// list and its node, as in `0-gateway.txt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// Which nodes write a capture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Captures {
    /// All of them.
    #[serde(default)]
    pub all: bool,
    /// These.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// How much of each frame is kept, octets.
    #[serde(default = "snap")]
    pub snap_length_bytes: u32,
    /// Also frames in range that the node could not decode, marked as damaged, each with a comment that says why; in simulation
    /// and emulation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}

fn snap() -> u32 {
    200
}

impl Default for Captures {
    fn default() -> Self {
        Self { all: false, nodes: Vec::new(), snap_length_bytes: snap(), damaged: false }
    }
}

/// Of which nodes and flows a run records what became of each frame at its receivers: the table `receptions`. In simulation
/// and emulation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receptions {
    /// Of all of them.
    #[serde(default)]
    pub all: bool,
    /// Frames that these nodes send or should receive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// Frames that carry packets of these flows, or are exchanged for them: indexes as in the table `flows`, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<u32>,
}

impl Receptions {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What else a run writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// A trace in ns-2's old wireless format.
    #[serde(default)]
    pub ns2_trace: bool,
}
