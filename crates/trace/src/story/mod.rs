//! The story of a packet across nodes, read back from the tables of a run: why it was lost.
//!
//! * [`stories`]: all that happened to a packet, in order of time.
//! * [`lost`]: the packets that did not arrive, each with its causes.

mod attempts;
mod lost;
mod names;
mod read;
mod steps;
mod tell;

pub use lost::{LostPacket, lost};
pub use steps::{At, Step, Story};
pub use tell::{Wanted, stories};
