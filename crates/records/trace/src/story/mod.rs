//! The story of a packet across nodes, read back from the tables of a run: why it was lost.
//!
//! * [`stories`]: all that happened to a packet, in order of time.
//! * [`lost`]: the packets that did not arrive, each with its causes.
//! * [`PathBetween`]: the paths that movement and range allowed meanwhile; `wayhop-topology` fills
//!   it in.

mod attempts;
mod lost;
mod names;
mod path;
mod read;
mod steps;
mod tell;

pub use lost::{LostPacket, lost};
pub use path::PathBetween;
pub use steps::{At, Step, Story};
pub use tell::{PacketQuery, stories};
