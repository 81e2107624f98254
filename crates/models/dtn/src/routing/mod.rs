//! Which neighbour gets which bundle.
//!
//! With any routing, the agent gives a bundle to its destination, and never offers a neighbour a
//! bundle that it has seen. Everything else is decided by a [`Routing`].

mod epidemic;
mod prophet;
mod spray;
mod static_routes;

use wayhop_core::Time;

pub use epidemic::Epidemic;
pub use prophet::{Prophet, ProphetParameters};
pub use spray::SprayAndWait;
pub use static_routes::{RouteError, StaticRoutes};

use crate::bundle::BundleId;
use crate::eid::Eid;

/// What a routing sees of a bundle that the node carries.
#[derive(Copy, Clone, Debug)]
pub struct Carried<'a> {
    /// Which.
    pub id: &'a BundleId,
    /// Where it goes.
    pub destination: &'a Eid,
    /// The neighbour that it came from; `Eid::None` for one that was made here.
    pub previous: &'a Eid,
    /// How many copies this node may spread, with routing that counts them.
    pub copies: u32,
}

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
    /// Its name in scenarios and tables.
    fn name(&self) -> &'static str;
    /// Its number in messages (docs/concepts/dtn.md); `None` if neighbours exchange no messages.
    fn number(&self) -> Option<u8>;
    /// A neighbour came. Called for those that exchange messages, and for all if there are none.
    fn contact_up(&mut self, now: Time, peer: &Eid) {
        let _ = (now, peer);
    }
    /// What it tells a neighbour that came, besides the list of bundles.
    fn message(&mut self, now: Time, peer: &Eid) -> Vec<u8> {
        let _ = (now, peer);
        Vec::new()
    }
    /// What a neighbour told.
    fn hear(&mut self, now: Time, peer: &Eid, message: &[u8]) -> Result<(), MessageError> {
        let _ = (now, peer, message);
        Ok(())
    }
    /// How many copies of a bundle that is made here may be spread; 0 with routing that does not count.
    fn copies(&self) -> u32 {
        0
    }
    /// What to do with a bundle at a neighbour that does not have it.
    fn decide(&self, now: Time, bundle: &Carried<'_>, peer: &Eid) -> Decision;
    /// What is to survive a restart.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }
    /// What survived.
    fn restore(&mut self, now: Time, saved: &[u8]) -> Result<(), MessageError> {
        let _ = (now, saved);
        Ok(())
    }
}
