//! Applications in Python. The messages are as those of protocols, with calls ([`call`]) and effects ([`application_wishes`]) of
//! their own.
//!
//! One interpreter hosts a module's applications of all nodes, so that the sections of a scenario that name it share one.

mod apply;
mod call;
mod describe;
mod engine;
mod foreign;
mod module;
mod read;

pub(crate) use module::ApplicationModule;
pub use read::{ApplicationWish, application_wishes};
