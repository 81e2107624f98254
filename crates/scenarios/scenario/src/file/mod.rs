//! The scenario file as a whole: its top-level keys, how it is read, and its reference page.

mod load;
mod reference;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_document::Document;
use wayhop_world::Geodetic;

use crate::applications::schema::ApplicationSection;
use crate::attacks::Attacks;
use crate::dtn::Dtn;
use crate::gateways::Gateway;
use crate::interfaces::energy::Energy;
use crate::interfaces::path_losses::PathLosses;
use crate::interfaces::stalls::Stall;
use crate::interfaces::{Radio, Wire};
use crate::movement::Movement;
use crate::nodes::{Area, Nodes};
use crate::outages::Outages;
use crate::output::{Captures, Output, Receptions};
use crate::protocol::commands::Command;
use crate::protocol::routes::StaticRoute;
use crate::protocol::{NeighbourLimits, Protocol};
use crate::security::Security;
use crate::site::background::Background;
use crate::traffic::Traffic;
use crate::traffic::programs::Program;

pub use reference::reference_markdown;

/// A scenario: nodes and their movement, traffic, radios and the routing protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A name for summaries and reports. Default: the name of the file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Seed of all random streams of the run.
    #[serde(default = "one")]
    pub seed: u64,
    /// Length of the run, seconds of simulated time. Default: the time at which ns-2 files end the run (`$ns_ at 150.0
    /// "$ns_ halt"`, `finish`, `stop` or `exit`); if they do not, the time of their last move, rounded up to two
    /// digits; 10 s after the last flow stops if that is later, or if all flows stop and there are no ns-2 files (or
    /// programs); otherwise 900 s. A flow that would begin after that gets 100 s. A warning appears if flows are still
    /// active at the end.
    pub duration_s: Option<f64>,
    /// The nodes.
    #[serde(default)]
    pub nodes: Nodes,
    /// The area, for the kinds of movement that need one.
    pub area: Option<Area>,
    /// Location of the local frame's origin on the globe; with it, positions may be given as latitude and longitude.
    pub origin: Option<Geodetic>,
    /// A GeoJSON map (RFC 7946). Other keys refer to its features by their property `name`: lines to drive along,
    /// areas with their own propagation. Nodes that have the name of a point of kind `node` (its property `kind`) are
    /// placed there, instead of where `movement` puts them. Requires an `origin`; a relative path is relative to the
    /// scenario file's folder.
    pub map: Option<PathBuf>,
    /// An image below the map of `wayhop studio`. Runs ignore it.
    pub background: Option<Background>,
    /// The positions of the nodes over time. Not required for `wayhop node` and `wayhop fleet`, whose hosts are real.
    pub movement: Option<Movement>,
    /// The traffic. Flows are numbered in this order.
    #[serde(default)]
    pub traffic: Vec<Traffic>,
    /// The radio; with `radios` or `wires`, the first one.
    #[serde(default)]
    pub radio: Radio,
    /// Additional radios, each on its own channel, with the same keys as `radio`: docs/concepts/interfaces.md.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub radios: Vec<Radio>,
    /// Ethernet segments between nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wires: Vec<Wire>,
    /// The routing protocol.
    #[serde(default)]
    pub protocol: Protocol,
    /// Limits on the routing traffic that nodes accept from their neighbours.
    #[serde(default, skip_serializing_if = "NeighbourLimits::is_empty")]
    pub limits: NeighbourLimits,
    /// Keys for the authentication of routing messages.
    #[serde(default, skip_serializing_if = "Security::is_empty")]
    pub security: Security,
    /// Static routes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<StaticRoute>,
    /// Gateways: nodes that connect the mesh to other networks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gateways: Vec<Gateway>,
    /// Times at which drivers stop serving their interface queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Stall>,
    /// Links whose path loss follows a table instead of distance and propagation: radios connected to a matrix of
    /// attenuators.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_losses: Vec<PathLosses>,
    /// Times at which nodes are down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outages>,
    /// Attackers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attacks: Vec<Attacks>,
    /// Batteries: a node whose battery is empty goes down permanently.
    pub energy: Option<Energy>,
    /// Delay-tolerant networking: the agents that store and carry bundles, and the bundles sent.
    pub dtn: Option<Dtn>,
    /// Applications on nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applications: Vec<ApplicationSection>,
    /// Commands sent to nodes during the run, as through their control interface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
    /// Real programs on nodes, in emulation and lab. They run unprivileged unless `--trust` is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
    /// Nodes that write a capture of what their radio sends and hears.
    #[serde(default)]
    pub captures: Captures,
    /// Nodes and flows for which the run records the outcome of each frame at its receivers.
    #[serde(default, skip_serializing_if = "Receptions::is_none")]
    pub receptions: Receptions,
    /// Tables and further output of a run.
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
