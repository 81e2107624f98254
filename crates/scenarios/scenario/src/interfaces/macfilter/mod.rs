//! Who ignores whose frames on one wire, so that it is a mesh.

mod file;
mod range;

pub use file::{Ignores, MacFilter, MacFilterError, parse_link_address};
