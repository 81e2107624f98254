//! Routings that give copies to any neighbour: epidemic routing (Vahdat and Becker 2000), and binary spray and wait (Spyropoulos,
//! Psounis and Raghavendra 2005), with a fixed number of copies.

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

/// Binary spray and wait. A node with n > 1 copies gives half of them, rounded down, to a neighbour without one; a node with one
/// copy waits for the destination.
#[derive(Copy, Clone, Debug)]
pub struct SprayAndWait {
    copies: u32,
}

impl SprayAndWait {
    /// With these many copies of each bundle that is made here, at least 1.
    pub fn new(copies: u32) -> Self {
        Self { copies: copies.max(1) }
    }
}

impl Routing for SprayAndWait {
    fn number(&self) -> Option<u8> {
        Some(2)
    }
    fn copies(&self) -> u32 {
        self.copies
    }
    fn decide(&self, _: &Eid, copies: u32, _: &Eid) -> Decision {
        match copies / 2 {
            0 => Decision::Keep,
            copies => Decision::Copy { copies },
        }
    }
}
