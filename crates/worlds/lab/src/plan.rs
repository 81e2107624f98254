//! The plan of a lab.

use std::path::PathBuf;

use wayhop_scenario::{MacFilter, Resolved};

/// A lab that is to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Nodes, flows, orders, and how long it runs. The nodes' addresses lie in one network.
    pub scenario: Resolved,
    /// `path.key=value` settings of the nodes' configuration.
    pub sets: Vec<String>,
    /// What the nodes' file of keys is to say, if they have keys.
    pub keys: Option<String>,
    /// Who ignores whom.
    pub filter: MacFilter,
    /// The nodes' captures, if there are to be any.
    pub captures: Vec<Option<PathBuf>>,
    /// The logs of what goes into the nodes' engines, if there are to be any.
    pub inputs: Vec<Option<PathBuf>>,
    /// The nodes' own run directories, if there are to be any.
    pub runs: Vec<Option<PathBuf>>,
}
