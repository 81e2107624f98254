//! The Parquet tables of a run.

mod cell;
mod cells;
mod checkpoint;
mod column;
mod csv;
mod killed;
mod lives;
mod motion;
mod names;
mod pieces;
mod read;
mod schema;
mod sink;
mod table;
#[cfg(test)]
mod tests;
mod whole;

pub(crate) use cell::Cell;
pub use cells::ColumnCells;
pub(crate) use checkpoint::{Checkpoint, Checkpoints, remove as remove_checkpoint};
pub use csv::export_csv;
pub use lives::{OutcomeRow, PacketRow, outcome_rows, packet_rows};
pub use motion::{PowerChange, motion, power};
pub use names::TABLES;
pub use pieces::TableFile;
pub(crate) use read::mend;
pub use read::{RouteSearch, addresses, node_names, open_table, searches};
pub(crate) use schema::{
    BUNDLES, CONNECTIONS, CONTACTS, COUNTERS, EVENTS, FLOWS, GPS, IDENTITIES, NODES, OUTCOMES, PACKETS,
    POSITIONS, RECEPTIONS, SENDS, SIZES, TCP,
};
pub(crate) use table::TableWriter;
pub use whole::Tables;
