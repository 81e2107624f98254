//! Epidemic routing (Vahdat and Becker 2000): every node that can have a copy gets one.

use crate::eid::Eid;
use crate::routing::{Decision, Routing};

/// Epidemic routing. Neighbours tell each other which bundles they have seen when they meet, and get what they lack.
#[derive(Copy, Clone, Debug, Default)]
pub struct Epidemic;

impl Routing for Epidemic {
    fn number(&self) -> Option<u8> {
        Some(1)
    }
    fn decide(&self, _: &Eid, _: u32, _: &Eid) -> Decision {
        Decision::Copy { copies: 0 }
    }
}
