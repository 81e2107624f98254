//! How a run ended.

use wayhop_trace::{Observer, Recorder, RunStatus, Summary};

use crate::error::Error;

/// A run that ended, or was broken off.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The run in numbers.
    pub summary: Summary,
    /// Whether it came to its end.
    pub complete: bool,
    /// What went wrong with programs and daemons.
    pub complaints: Vec<String>,
    /// Packets of programs that were left out: not IP, or not from their node's address.
    pub ignored: u64,
    pub(crate) recorder: Option<Recorder>,
    /// What its audit found.
    pub(crate) defect: Option<String>,
    /// Why the logs of inputs are not whole.
    pub(crate) inputs: Option<String>,
}

impl Outcome {
    pub(crate) fn new(summary: Summary, complete: bool, recorder: Recorder) -> Self {
        Self { summary, complete, recorder: Some(recorder), ..Self::default() }
    }

    /// What the recorder's observer has become, once.
    pub fn take_observer<O: Observer>(&mut self) -> Option<O> {
        self.recorder.as_mut()?.take_observer()
    }

    /// Completes the run directory, if there is one, with the summary as it is now.
    pub fn save(&mut self) -> Result<(), Error> {
        let Some(recorder) = self.recorder.take() else { return Ok(()) };
        let status = if self.complete { RunStatus::Complete } else { RunStatus::Interrupted };
        recorder.finish(&mut self.summary, status).map_err(Error::run)
    }

    /// Fails if a packet was lost track of: a defect of Wayhop, not of the scenario. Or if the logs of inputs that were wanted
    /// are not whole.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(what) = &self.defect {
            return Err(Error::Defect(what.clone()));
        }
        self.inputs.as_ref().map_or(Ok(()), |why| {
            let what = "the logs of inputs are incomplete, the rest of the run is complete";
            Err(Error::Run(format!("{what}: {why}")))
        })
    }
}
