//! The Parquet tables of a run.

mod cell;
mod checkpoint;
mod column;
mod csv;
mod encode;
mod killed;
mod lives;
mod parquet_copy;
mod pieces;
mod read;
mod rows;
mod schema;
mod table;
#[cfg(test)]
mod tests;
mod texts;
mod whole;

pub(crate) use cell::Cell;
pub(crate) use checkpoint::{Checkpoint, Checkpoints, remove as remove_checkpoint};
pub use csv::export_csv;
pub use lives::{ColumnCells, OutcomeRow, PacketRow, outcome_rows, packet_rows};
pub use parquet_copy::export_parquet;
pub use pieces::TableFile;
pub(crate) use read::mend;
pub use read::{RouteSearch, addresses, node_names, open_table, searches};
pub use schema::TABLES;
pub(crate) use schema::{
    BUNDLES, CONNECTIONS, CONTACTS, COUNTERS, EVENTS, FLOWS, GPS, IDENTITIES, NODES, OUTCOMES, PACKETS,
    POSITIONS, RECEPTIONS, SENDS, SIZES, TCP,
};
pub(crate) use table::TableWriter;
pub use whole::{PowerChange, Tables, motion, power};
