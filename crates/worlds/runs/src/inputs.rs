//! Logs of engines' inputs.

use wayhop_core::NodeId;
use wayhop_scenario::Resolved;
use wayhop_sim::{Pace, Simulation};
use wayhop_trace::RunDir;

use crate::error::Error;

/// The nodes of a run whose inputs are logged, and the run directory whose folder `inputs` gets the logs.
#[derive(Clone, Debug)]
pub struct InputLogs {
    /// The run directory.
    pub dir: RunDir,
    /// The nodes.
    pub nodes: Vec<NodeId>,
}

impl InputLogs {
    /// The log of something at this node, if its inputs are wanted.
    #[cfg(feature = "linux")]
    pub(crate) fn path(&self, node: NodeId, name: &str) -> Option<std::path::PathBuf> {
        self.nodes.contains(&node).then(|| self.dir.inputs_path(name))
    }

    /// Has a simulation write them.
    pub(crate) fn begin(
        &self,
        simulation: &mut Simulation,
        scenario: &Resolved,
        pace: Pace,
    ) -> Result<(), Error> {
        self.dir.make_inputs_dir()?;
        let path = |name: &str| self.dir.inputs_path(name);
        simulation.log_inputs(scenario, &self.nodes, pace, path).map_err(Error::Run)
    }
}
