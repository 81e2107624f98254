//! What a node knows of its neighbours and of links, for any routing protocol to use.
//!
//! * [`RttEstimator`]: a neighbour's round-trip time.
//! * [`Signals`]: neighbours' signal strengths.
//! * [`Positions`]: where nodes are, as far as they said so.
//! * [`bad_links`]: links that were tried and found not to work, remembered in one of three ways.
//! * [`etx`]: the cost of links, measured by probes.
//! * [`Notices`]: telling transport protocols that a packet's way ends here.
//!
//! Everything here is a plain bounded state machine: the caller reports events with their times,
//! and queries it. Nothing draws random numbers or sets timers, only [`Notices`] sends, and nothing
//! allocates once the tables have grown to their use.

pub mod bad_links;
pub mod etx;
mod notices;
mod positions;
mod rtt;
mod signal;
mod table;

pub use notices::Notices;
pub use positions::{DatedPosition, Positions, distance_m};
pub use rtt::RttEstimator;
pub use signal::{Signal, Signals};
