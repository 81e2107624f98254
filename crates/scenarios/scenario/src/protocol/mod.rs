//! The routing protocol: its parameters, commands to it, static routes, and limits on what nodes accept from their
//! neighbours.

pub(crate) mod commands;
mod library;
mod resolve;
pub(crate) mod routes;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Limits;

pub(crate) use library::cannot_use;
pub use resolve::after_reboot;
pub(crate) use resolve::{unnoticed_breaks, with_notices};

/// The routing protocol: a profile, and parameters that override it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Section")]
#[schemars(!from)]
pub struct Protocol {
    /// The protocol's name, or the path of a shared library or Python module with a protocol of your own.
    #[serde(default = "protocol")]
    pub name: String,
    /// A shared library with a protocol of your own (docs/tutorials/c-protocol.md). The path is relative to the
    /// scenario's folder. `name` is not needed then; with the name of a built-in protocol, the library is not used.
    /// `python` is another name of this key, for a Python module (docs/tutorials/python-protocol.md).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// The name of a profile, a set of parameters of the protocol. Default: the protocol's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Parameters that differ from the profile.
    #[serde(flatten)]
    #[schemars(skip)]
    pub overrides: toml::Table,
}

fn protocol() -> String {
    wayhop_protocols::default().name.into()
}

impl Default for Protocol {
    fn default() -> Self {
        Self { name: protocol(), library: None, profile: None, overrides: toml::Table::new() }
    }
}

/// The section as it is written.
#[derive(Deserialize)]
struct Section {
    #[serde(default, deserialize_with = "crate::presets::names::protocol")]
    name: Option<String>,
    #[serde(alias = "python")]
    library: Option<String>,
    #[serde(default, deserialize_with = "crate::presets::names::profile")]
    profile: Option<String>,
    #[serde(flatten)]
    overrides: toml::Table,
}

impl From<Section> for Protocol {
    fn from(section: Section) -> Self {
        let Section { name, library, profile, overrides } = section;
        // A library has its protocol's name: `Protocol::load`.
        let unnamed = || if library.is_some() { String::new() } else { protocol() };
        Self { name: name.unwrap_or_else(unnamed), library, profile, overrides }
    }
}

/// Limits on the routing traffic that each node accepts from its neighbours, per second: `docs/concepts/limits.md`.
/// Messages above a limit are dropped with the reason `RATE_LIMIT`. 0 means no limit. The profile `ns2` has no limits
/// by default; the defaults below apply to all others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeighbourLimits {
    /// Routing packets of one class (Route Requests, Route Replies, ...) from one neighbour. Default: 50.
    pub routing_per_neighbour: Option<u16>,
    /// Routing packets of one class from all neighbours. Neighbours heard within the last one to two seconds have
    /// equal shares, at least 2 packets each. Default: 500.
    pub routing_total: Option<u16>,
    /// ARP requests from one neighbour that are answered. Default: 50.
    pub arp_per_neighbour: Option<u16>,
}

impl NeighbourLimits {
    /// With the values of `usual` for those that are not given.
    pub fn or(&self, usual: Limits) -> Limits {
        Limits {
            routing_per_neighbour: self.routing_per_neighbour.unwrap_or(usual.routing_per_neighbour),
            routing_total: self.routing_total.unwrap_or(usual.routing_total),
            arp_per_neighbour: self.arp_per_neighbour.unwrap_or(usual.arp_per_neighbour),
        }
    }

    /// Whether none is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// As `path.key=value` settings of a node's configuration: those that are given.
    pub(crate) fn settings(&self) -> impl Iterator<Item = String> + use<> {
        let given = [
            ("routing_per_neighbour", self.routing_per_neighbour),
            ("routing_total", self.routing_total),
            ("arp_per_neighbour", self.arp_per_neighbour),
        ];
        given.into_iter().filter_map(|(key, value)| Some(format!("limits.{key}={}", value?)))
    }
}
