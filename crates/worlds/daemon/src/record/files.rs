//! The record's needs at the host: files created with the node's initial privileges, and threads
//! that write them after the privileges are dropped.

use wayhop_linux::Error;
use wayhop_trace::RunDir;

use crate::config::plan::RecordPlan;
use crate::kernel::ownership::prepare_folder;
use crate::log::Log;
use crate::node::host::Host;
use crate::record::capture::CaptureFile;
use crate::record::captures::Captures;
use crate::record::telemetry::Telemetry;
use crate::record::{inputs, run_dir};

/// What is recorded and reported about the node, besides the engine's own record.
pub(crate) struct NodeRecord {
    pub(crate) captures: Captures,
    pub(crate) telemetry: Telemetry,
}

/// Files that nothing is written to yet.
pub(crate) struct RecordFiles {
    plan: RecordPlan,
    run: Option<RunDir>,
    capture: Option<CaptureFile>,
}

impl RecordFiles {
    pub(crate) fn make(plan: RecordPlan, host: &mut Host) -> Result<Self, Error> {
        let (name, user) = (&plan.about.name, &plan.user);
        let run = plan.run.as_ref().map(|run| run_dir::make(run, user)).transpose()?;
        let capture = match &plan.capture {
            Some(c) => {
                let in_run = run.as_ref().map(|r| r.capture_path(name));
                let path = c.file.clone().or(in_run).unwrap_or_default();
                Some(CaptureFile::create(c, path, plan.interfaces.iter().map(String::as_str))?)
            }
            None => None,
        };
        if let (Some(logs), Some(c)) = (&mut host.around.inputs, &plan.inputs) {
            inputs::make(logs, c.file.as_deref(), run.as_ref(), name, user)?;
        }
        if let Some(log) = plan.telemetry.monitor.as_ref().and_then(|m| m.log.as_ref()) {
            prepare_folder(log, user)?;
        }
        Ok(Self { plan, run, capture })
    }

    /// Begins to write, and to tell.
    pub(crate) fn begin(self, host: &mut Host, log: &Log) -> Result<NodeRecord, Error> {
        let Self { plan, run, capture } = self;
        let capture = capture.map(CaptureFile::begin).transpose()?;
        if let (Some(run), Some(dir)) = (&mut host.around.run, run) {
            run.begin(dir, &plan)?;
        }
        if let Some(logs) = &mut host.around.inputs {
            logs.begin().map_err(Error::system("start a thread for the log of inputs"))?;
        }
        let RecordPlan { telemetry, about, addresses, run, .. } = plan;
        let telemetry = Telemetry::begin(&telemetry, about, &addresses, run.is_some(), log)?;
        Ok(NodeRecord { captures: Captures::new(capture), telemetry })
    }
}
