//! The nodes' batteries.

mod resolve;
mod schema;

pub(crate) use resolve::{DRAW, resolve};
pub use schema::Energy;
