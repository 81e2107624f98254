//! The simulator's nodes, MAC and radio on the real clock, and real programs in their nodes.
//!
//! Each node is a network namespace with a TUN interface `mesh0`. A program's packet comes out of
//! the TUN, enters the simulated network at that moment, and goes into another node's TUN when it
//! arrives there. One process owns the medium; no interface connects two namespaces. Without a
//! routing protocol `mesh0` is a TAP, and the same happens to the Ethernet frames of the kernel.
//!
//! * [`Mesh`]: the namespaces and their contents.
//! * [`drive`]: the loop between the clock, the TUNs and the simulation.
//! * [`pace`]: a simulation, without programs, at a given speed.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

mod clock;
mod control;
mod drive;
mod mesh;
mod pace;
mod tell;

pub use control::Control;
pub use drive::{Drive, EmulationOutcome, drive};
pub use mesh::Mesh;
pub use pace::pace;
pub use tell::Telling;
