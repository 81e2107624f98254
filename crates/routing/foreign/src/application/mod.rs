//! Applications of libraries: what they say of themselves, and their descriptions.

mod facts;
mod slots;

pub use facts::{ApplicationClaims, ApplicationFacts};
pub(crate) use slots::add;
