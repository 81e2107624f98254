//! Epidemic routing (Vahdat and Becker 2000): every node that can have a copy gets one.

use wayhop_core::Time;

use crate::eid::Eid;
use crate::routing::{Carried, Decision, Routing};

/// Epidemic routing. Neighbours tell each other which bundles they have seen when they meet, and get what they lack.
#[derive(Copy, Clone, Debug, Default)]
pub struct Epidemic;

impl Routing for Epidemic {
    fn name(&self) -> &'static str {
        "epidemic"
    }
    fn number(&self) -> Option<u8> {
        Some(1)
    }
    fn decide(&self, _: Time, _: &Carried<'_>, _: &Eid) -> Decision {
        Decision::Copy { copies: 0 }
    }
}
