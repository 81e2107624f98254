//! Times in which drivers do not serve their interface queues.

mod resolve;
mod schema;

pub use resolve::QueueStall;
pub(crate) use resolve::resolve;
pub use schema::Stall;
