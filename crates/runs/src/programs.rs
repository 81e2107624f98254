//! The programs of a scenario.

use std::fs;
use std::path::Path;

use wayhop_core::Time;
use wayhop_netns::Launch;
use wayhop_scenario::{ProgramPlan, Resolved};

use crate::error::Error;

/// The programs of a scenario, each with its time. Their output goes to the folder `programs` of the run directory, which is made
/// if it is needed.
pub(crate) fn programs(scenario: &Resolved, run: Option<&Path>) -> Result<Vec<(Time, Launch)>, Error> {
    let folder = run.map(|r| r.join("programs"));
    if let Some(folder) = folder.as_ref().filter(|_| !scenario.programs.is_empty()) {
        let cannot = || format!("cannot make {}", folder.display());
        fs::create_dir_all(folder).map_err(|e| wayhop_netns::Error::system(cannot(), e))?;
    }
    let launch = |p: &ProgramPlan| Launch {
        node: p.node.0,
        command: p.command.iter().map(Into::into).collect(),
        output: folder.as_ref().map(|f| f.join(&p.output)),
        has_terminal: false,
    };
    Ok(scenario.programs.iter().map(|p| (p.start, launch(p))).collect())
}
