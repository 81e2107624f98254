//! Which rows of its tables a run writes, and what it says of those that it leaves out.
//!
//! [`Selection`] is what the run was asked for, `Sampler` chooses rows by it, `Budget` decides when the tables have become too
//! large for all rows, and [`PartialRecord`] tells readers what is missing.

mod budget;
mod partial;
mod sampler;
mod subject;

use wayhop_core::{NodeId, Time};

pub(crate) use budget::{Budget, Halvings};
pub use partial::{PartialRecord, Thinning};
pub(crate) use sampler::Sampler;
pub(crate) use subject::Subject;

/// Which tables and rows a run writes: the section `output` of a scenario. Everything by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The tables, by name; `None` for all that the run has. The table `nodes` is part of any list that is not empty.
    pub tables: Option<Vec<String>>,
    /// Only rows of these nodes.
    pub nodes: Option<Vec<NodeId>>,
    /// Only rows of these flows, in tables with a column `flow`.
    pub flows: Option<Vec<u32>>,
    /// The size of the tables from which on rows are thinned.
    pub limit: Option<SizeLimit>,
}

/// A size of tables from which on rows are thinned.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SizeLimit {
    /// Bytes of all tables together.
    pub bytes: u64,
    /// When the run is to end.
    pub end: Time,
}

impl Selection {
    /// Whether the run writes this table, if it has it.
    pub(crate) fn has(&self, table: &str) -> bool {
        match &self.tables {
            None => true,
            Some(names) if table == "nodes" => !names.is_empty(),
            Some(names) => names.iter().any(|n| n == table),
        }
    }
}
