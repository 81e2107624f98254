//! How nodes move.

pub(crate) mod course;
mod limits;
mod schema;
pub(crate) mod waypoints;

pub(crate) use limits::MAX_TRIPS;
pub use schema::{Movement, NodeTrack, Waypoint};
