//! The site: a map, a picture under it, and its effect on signals.

pub(crate) mod background;
mod locate;
mod map;
mod resolve;
mod schema;

pub(crate) use locate::{check_geodetic, locate};
pub use map::{Map, MapFeature, Shape};
pub(crate) use resolve::resolve;
pub use schema::{Antenna, Pair, Site, Zone};
