//! The record's needs at the host: files created with the node's initial privileges, and threads
//! that write them after the privileges are dropped.

use wayhop_control::About;
use wayhop_linux::Error;
use wayhop_trace::RunDir;

use crate::config::identity::Addresses;
use crate::config::settings::Settings;
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
pub(crate) struct RecordFiles<'a> {
    settings: &'a Settings,
    about: About,
    run: Option<RunDir>,
    capture: Option<CaptureFile>,
}

impl<'a> RecordFiles<'a> {
    pub(crate) fn make(
        settings: &'a Settings,
        about: About,
        seed: u64,
        host: &mut Host,
    ) -> Result<Self, Error> {
        let (config, name) = (&settings.config, &about.name);
        let user = &config.user;
        let run = config.run.as_ref().map(|path| run_dir::make(path, settings, seed)).transpose()?;
        let capture = match &config.capture {
            Some(c) => {
                let in_run = run.as_ref().map(|r| r.capture_path(name));
                let path = c.file.clone().or(in_run).unwrap_or_default();
                Some(CaptureFile::create(c, path, config.names())?)
            }
            None => None,
        };
        if let (Some(logs), Some(c)) = (&mut host.around.inputs, &config.inputs) {
            inputs::make(logs, c.file.as_deref(), run.as_ref(), name, user)?;
        }
        if let Some(log) = config.monitor.as_ref().and_then(|m| m.log.as_ref()) {
            prepare_folder(log, user)?;
        }
        Ok(Self { settings, about, run, capture })
    }

    /// Begins to write, and to tell.
    pub(crate) fn begin(self, host: &mut Host, log: &Log) -> Result<NodeRecord, Error> {
        let Self { settings, about, run, capture } = self;
        let addresses = Addresses::of(settings);
        let capture = capture.map(CaptureFile::begin).transpose()?;
        if let (Some(run), Some(dir)) = (&mut host.around.run, run) {
            run.begin(dir, &about.name, &addresses, settings.config.names())?;
        }
        if let Some(logs) = &mut host.around.inputs {
            logs.begin().map_err(Error::system("start a thread for the log of inputs"))?;
        }
        let telemetry = Telemetry::begin(settings, about, &addresses, log)?;
        Ok(NodeRecord { captures: Captures::new(capture), telemetry })
    }
}
