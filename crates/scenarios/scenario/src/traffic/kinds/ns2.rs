//! Traffic files of ns-2.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_document::Result;

use crate::traffic::kind::{Flows, OpenKey, RunContext, Times, TrafficEntry, TrafficKind};

/// An ns-2 traffic file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ns2File {
    /// The file; a relative path is relative to the scenario file's folder.
    pub path: PathBuf,
}

impl TrafficKind for Ns2File {
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<()> {
        if !entry.network.moves_as_in_ns2 {
            let reason = "an ns-2 traffic file requires ns-2 movement, which defines its node numbers";
            let remedy = "use movement of kind ns2, or write the flows into the scenario";
            return Err(entry.doc.error(&entry.key, reason, remedy));
        }
        // All ns-2 files are read together; their flows come in the position of the first of them.
        flows.add_ns2();
        Ok(())
    }

    fn times(&self) -> Option<Times> {
        None
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn unsaid(&self, _: &RunContext<'_>) -> Result<Vec<OpenKey>> {
        Ok(Vec::new())
    }
}
