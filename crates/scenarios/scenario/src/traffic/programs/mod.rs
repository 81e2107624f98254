//! Real programs in nodes.

mod resolve;
mod schema;

pub use resolve::ProgramPlan;
pub(crate) use resolve::resolve;
pub use schema::Program;
