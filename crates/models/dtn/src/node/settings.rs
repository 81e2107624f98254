//! The settings of a node.

use std::net::SocketAddr;
use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Span;

use super::layer::Layer;
use super::traffic::Source;
use crate::agent::Config;
use crate::beacon::BEACON_PORT;
use crate::eid::Eid;
use crate::routing::{Epidemic, Prophet, ProphetParameters, RouteError, Routing, SprayAndWait, StaticRoutes};

/// Who gets a copy of a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DtnRouting {
    /// Every agent that has none.
    #[default]
    Epidemic,
    /// Half of the `copies` that are left go to each agent that has none; the last one goes to the destination only.
    SprayAndWait,
    /// Agents that are likelier to meet the destination (RFC 6693).
    Prophet,
    /// The neighbour that `routes` names; without a route, the destination only.
    Static,
}

wayhop_core::names!(DtnRouting {
    Epidemic = "epidemic",
    SprayAndWait = "spray-and-wait",
    Prophet = "prophet",
    Static = "static",
});

impl DtnRouting {
    /// With the number of copies and the routes that some of them need.
    pub fn plan(self, copies: u32, routes: Vec<String>) -> RoutingPlan {
        match self {
            Self::Epidemic => RoutingPlan::Epidemic,
            Self::SprayAndWait => RoutingPlan::Spray(copies),
            Self::Prophet => RoutingPlan::Prophet(ProphetParameters::default()),
            Self::Static => RoutingPlan::Static(routes),
        }
    }
}

/// The same with all that it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutingPlan {
    /// Everybody.
    Epidemic,
    /// With this many copies.
    Spray(u32),
    /// Those who are likelier to meet the destination.
    Prophet(ProphetParameters),
    /// Those whom routes name, such as `dtn://b/* via dtn://a/`.
    Static(Vec<String>),
}

impl RoutingPlan {
    /// As settings have it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Epidemic => DtnRouting::Epidemic,
            Self::Spray(_) => DtnRouting::SprayAndWait,
            Self::Prophet(_) => DtnRouting::Prophet,
            Self::Static(_) => DtnRouting::Static,
        }
        .name()
    }
    /// The routing.
    pub fn build(&self) -> Result<Box<dyn Routing>, RouteError> {
        Ok(match self {
            Self::Epidemic => Box::new(Epidemic),
            Self::Spray(copies) => Box::new(SprayAndWait::new(*copies)),
            Self::Prophet(parameters) => Box::new(Prophet::new(*parameters)),
            Self::Static(routes) => Box::new(StaticRoutes::parse(routes.iter().map(String::as_str))?),
        })
    }
}

/// The ports on which a node listens.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    /// For beacons.
    pub beacon: u16,
    /// UDPCL.
    pub udpcl: u16,
    /// LTP.
    pub ltp: u16,
    /// TCPCLv4.
    pub tcpcl: u16,
}

impl Default for Ports {
    /// Those that IANA has given them; beacons have [`BEACON_PORT`].
    fn default() -> Self {
        Self { beacon: BEACON_PORT, udpcl: 4556, ltp: 1113, tcpcl: 4556 }
    }
}

/// The settings of a node. They serialise, so that a log of its inputs has them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The agent's.
    pub agent: Config,
    /// Who gets a copy.
    pub routing: RoutingPlan,
    /// By which layer bundles are sent to neighbours that have it. Bundles come by any for which it listens.
    pub layer: Layer,
    /// The layers for which it listens, which beacons tell.
    pub listens: Vec<Layer>,
    /// Where.
    pub ports: Ports,
    /// The longest bundle that is sent; longer ones go in fragments.
    pub largest: Option<usize>,
    /// Octets of a datagram's data that reach a neighbour.
    pub datagram: usize,
    /// From beacon to beacon; `None` for no beacons.
    pub beacon: Option<Span>,
    /// A contact of a layer without connections ends after so much silence.
    pub silence: Span,
    /// How fast datagrams are sent, bits per second.
    pub rate_bps: NonZeroU64,
    /// The number of LTP's engine; that of the node.
    pub engine: u64,
    /// From it, and from how often the node was up, follows where LTP's session numbers begin.
    pub life: u64,
    /// How long LTP waits for an answer.
    pub ltp_wait: Span,
    /// Whether inputs that come together share a commit of the store. On a disk a commit takes its time, in memory none.
    pub shares_commits: bool,
    /// Neighbours that are always tried, whether or not they send beacons.
    pub peers: Vec<(Eid, Layer, SocketAddr)>,
    /// Bundles that it makes by itself.
    pub sources: Vec<Source>,
    /// Endpoints at which it takes what comes by itself, and forgets it.
    pub sinks: Vec<Eid>,
}

impl Settings {
    /// The usual ones of a node.
    pub fn new(node: Eid) -> Self {
        Self {
            agent: Config::new(node),
            routing: RoutingPlan::Epidemic,
            layer: Layer::Udpcl,
            listens: vec![Layer::Udpcl],
            ports: Ports::default(),
            largest: Some(1_400),
            datagram: 1_472,
            beacon: Some(Span::from_secs(1)),
            silence: Span::from_millis(3_500),
            rate_bps: NonZeroU64::new(1_000_000).unwrap_or(NonZeroU64::MIN),
            engine: 1,
            life: 0,
            ltp_wait: Span::from_secs(2),
            shares_commits: false,
            peers: Vec::new(),
            sources: Vec::new(),
            sinks: Vec::new(),
        }
    }
}
