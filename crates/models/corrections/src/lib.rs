//! Corrections of a GNSS reference station, carried to each node's receiver by the mesh itself, as in the testbed of Maltz, Broch
//! and Johnson (1999, section 6.5.1).
//!
//! * [`send`]: the station's RTCM 3 frames, from a [`Source`], go to a multicast group. DSR carries a packet for a group on a Route
//!   Request to all nodes.
//! * [`receive`]: checks the corrections for the group, and feeds them to the program with the
//!   receiver: gpsd.
//!
//! A datagram contains one or several complete RTCM 3 frames, and nothing else.

mod feed;
mod framer;
mod group;
mod judge;
mod pace;
mod packer;
mod receive;
mod send;
mod source;

pub use group::Group;
pub use judge::Rejection;
pub use receive::{ReceiveStatistics, Rover, receive};
pub use send::{SendStatistics, send};
pub use source::Source;
