//! The keys of a scenario file.

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
    pub background: Option<Background>,
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
    pub wires: Vec<Wire>,
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
    pub gateways: Vec<Gateway>,
    /// When drivers stop serving their interface queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Stall>,
    /// Links whose path loss follows a table, in the place of distance and propagation: radios at a matrix of attenuators.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_losses: Vec<PathLosses>,
    /// When nodes go down, and when they come back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outages>,
    /// Nodes that attack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attacks: Vec<Attacks>,
    /// Batteries: a node whose battery is empty goes down for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// Bundles: who stores and carries them, and who sends them to whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtn: Option<Dtn>,
    /// Applications at nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applications: Vec<ApplicationSection>,
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
