//! What a node knows of its neighbours and of links, for any routing protocol to use.
//!
//! * [`RttEstimator`]: how long a neighbour takes to acknowledge.
//!
//! Everything here is a plain bounded state machine: the caller says what happened and when, and asks. Nothing draws
//! random numbers, sends, or sets timers.

mod rtt;

pub use rtt::RttEstimator;
