//! Which neighbour gets which bundle.
//!
//! With any routing, the agent gives a bundle to its destination, and never offers a neighbour a
//! bundle that it has seen. Everything else is decided by a [`Routing`].

mod flooding;
mod prophet;
mod static_routes;

use wayhop_core::Time;

pub use flooding::{Epidemic, SprayAndWait};
pub use prophet::{Prophet, ProphetParameters};
pub use static_routes::{RouteError, StaticRoutes};

use crate::eid::Eid;

/// What is to be done with a bundle at a neighbour.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Keep,
    /// The neighbour gets a copy, and one stays. `copies` is how many of the node's copies the neighbour may spread; 0 with
    /// routing that does not count.
    Copy {
        /// The neighbour's.
        copies: u32,
    },
    /// The neighbour gets it, and no copy stays.
    Move,
}

/// Why a message of routing is not understood.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message of routing: {0}")]
pub struct MessageError(pub &'static str);

/// A routing of bundles: one instance a node.
pub trait Routing: core::fmt::Debug + Send {
    /// Its number in messages (docs/concepts/dtn.md); `None` if neighbours exchange no messages.
    fn number(&self) -> Option<u8>;
    /// A neighbour came. Called for those that exchange messages, and for all if there are none.
    fn contact_up(&mut self, _now: Time, _peer: &Eid) {}
    /// What it tells a neighbour that came, besides the list of bundles.
    fn message(&mut self, _now: Time) -> Vec<u8> {
        Vec::new()
    }
    /// What a neighbour told.
    fn hear(&mut self, _now: Time, _peer: &Eid, _message: &[u8]) -> Result<(), MessageError> {
        Ok(())
    }
    /// How many copies of a bundle that is made here may be spread; 0 with routing that does not count.
    fn copies(&self) -> u32 {
        0
    }
    /// What to do with a bundle for this destination at a neighbour that does not have it. `copies` is how many of them this node
    /// may spread, with routing that counts them.
    fn decide(&self, destination: &Eid, copies: u32, peer: &Eid) -> Decision;
    /// What is to survive a restart.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }
    /// What survived.
    fn restore(&mut self, _now: Time, _saved: &[u8]) -> Result<(), MessageError> {
        Ok(())
    }
}
