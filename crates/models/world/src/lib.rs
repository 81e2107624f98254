//! Where nodes are, when: analytic motion, placements, connectivity, geodesy.
//!
//! * [`Track`] is a node's complete motion: consecutive [`Leg`]s of uniform motion. A position is
//!   computed on request; there are no steps. [`Cursor`] answers monotone queries in constant time.
//! * [`TrackBuilder`] makes tracks from moves (`setdest`) and jumps, by the rules of ns-2's mobile node.
//! * [`Track::through`] visits listed [`Waypoint`]s.
//! * [`Convoy`] drives cars one after the other along a [`Course`].
//! * [`RandomWaypoint`] and [`placement`] generate scenarios.
//! * [`links`] solves motion for the moments when pairs of nodes come into range and leave it; [`HopTable`] keeps all
//!   shortest hop counts as links come and go.
//! * [`GeoOrigin`] ties the local frame (metres; x east, y north, z up) to latitude and longitude;
//!   [`Gps`] is what a receiver reports.

mod builder;
mod course;
mod geodesy;
mod hops;
pub mod links;
pub mod placement;
mod track;
mod waypoint;

pub use builder::{Axis, TrackBuilder};
pub use course::{Convoy, Course};
pub use geodesy::{GeoOrigin, Geodetic, Gps};
pub use hops::{Adjacency, HopRow, HopTable, UNREACHABLE};
pub use track::{Cursor, Track, Waypoint};
pub use wayhop_core::Leg;
pub use waypoint::{RandomWaypoint, Start};
