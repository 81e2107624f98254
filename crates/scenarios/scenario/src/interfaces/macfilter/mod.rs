//! Which frames nodes on one wire ignore, so that the wire becomes a mesh.

mod file;
mod range;

pub use file::{Ignores, MacFilter, MacFilterError, parse_link_address};
