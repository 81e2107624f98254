//! Commands from outside the network.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::{Addr, NotIpv4, Outside, Route};

/// An order to a protocol: from the control interface of a running node, or from a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Command {
    /// Forget the route to this destination, or (`None`) all routes, without a word to anybody: the next packet begins a
    /// new discovery.
    PurgeRoutes {
        /// Whose.
        destination: Option<Addr>,
    },
    /// Replace the parameters. Rejected as a whole, with key, reason and fix, if the protocol's
    /// check rejects them, or if one that cannot change at run time differs.
    SetParameters {
        /// The whole set, as a JSON object: the protocol's `Params`.
        json: String,
    },
    /// Replace all routes of a protocol that takes its routes from a controller. Others refuse it.
    SetRoutes {
        /// The routes.
        routes: Vec<Route>,
    },
    /// Which addresses are the mesh's, and what this node leads to besides. The node gives it after the start, and again when an
    /// interface that leads out goes down or comes up.
    SetOutside(Outside),
}

/// Why a protocol does not carry out a [`Command`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Refused(pub String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Refused {}

impl From<NotIpv4> for Refused {
    fn from(why: NotIpv4) -> Self {
        Self(why.to_string())
    }
}
