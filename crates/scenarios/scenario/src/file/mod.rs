//! The scenario file as a whole: its top-level keys, how it is read, and its reference page.

mod load;
mod reference;
mod schema;

pub use reference::reference_markdown;
pub use schema::Scenario;
