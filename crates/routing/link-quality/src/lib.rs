//! What a node knows of its neighbours and of links, for any routing protocol to use.
//!
//! * [`RttEstimator`]: how long a neighbour takes to acknowledge.
//! * [`Signals`]: at what strength neighbours are heard.
//! * [`Positions`]: where nodes are, as far as they said so.
//! * [`bad_links`]: links that were tried and found not to work, remembered in one of three ways.
//! * [`etx`]: what links cost, measured by probes.
//! * [`Notices`]: telling transport protocols that a packet's way ends here.
//!
//! Everything here is a plain bounded state machine: the caller says what happened and when, and asks. Nothing draws
//! random numbers or sets timers, nothing but [`Notices`] sends; nothing allocates once its tables have grown to what is in use.

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
