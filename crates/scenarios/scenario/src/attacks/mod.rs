//! Attackers among the nodes: who attacks how, and when.

mod resolve;
mod schema;

pub use resolve::{Action, Attack};
pub(crate) use resolve::{AttackContext, resolve};
pub use schema::{AttackKind, Attacks};
