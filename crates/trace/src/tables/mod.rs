//! The Parquet tables of a run.

mod column;
mod csv;
mod read;
mod schema;
mod sink;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use column::Column;
pub use csv::{TABLES, export_csv};
pub use read::{Search, addresses, searches};
pub(crate) use schema::{COUNTERS, EVENTS, FLOWS, NODES, OUTCOMES, PACKETS, POSITIONS, SENDS, TCP};
pub(crate) use table::Table;
