//! Applications of libraries and modules: what they say of themselves, and their descriptions.

mod description;
mod facts;

pub(crate) use description::{Foreign, add};
pub use facts::{ApplicationClaims, ApplicationFacts};
