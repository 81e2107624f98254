//! The keys of `[limits]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Limits;

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
