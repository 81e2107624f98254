//! The event queue and the assembly of nodes: the one place where the layers touch.

mod air;
mod arp;
mod classify;
mod event;
mod flows;
mod frames;
mod ledger;
mod motion;
mod net;
mod node;
mod queue;
mod simulation;
mod slab;

pub use flows::Quick;
pub use ledger::Ends;
pub use simulation::{Setup, Simulation};
