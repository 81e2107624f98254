//! The scenario's applications in emulation and lab: a program at each node, and their records.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use wayhop_application_host::Line;
use wayhop_core::{NodeId, Time, TraceNote};
use wayhop_netns::Launch;
use wayhop_scenario::{ApplicationPlan, Resolved};
use wayhop_trace::{ApplicationSummary, NoteEvent, Recorder};

use super::records::{RecordFolder, each_line, launch};
use crate::error::Error;

/// In the run directory: what applications wrote down and said.
const RECORDS: &str = "applications";
/// Where each node's GPS receiver is.
const GPSD: &str = "localhost:2947";

/// The applications of a run.
pub(crate) struct Applications {
    folder: RecordFolder,
    plans: Vec<ApplicationPlan>,
    names: Vec<String>,
}

impl Applications {
    /// Those of a scenario; `launches` gets how each is started. Their records go into the run directory.
    /// `log` says where the inputs of one at a node are logged, by the log's name, if they are.
    pub(crate) fn new(
        scenario: &Resolved,
        run: Option<&Path>,
        log: impl Fn(NodeId, &str) -> Option<PathBuf>,
        launches: &mut Vec<Launch>,
    ) -> Result<Option<Self>, Error> {
        let plans = scenario.applications.clone();
        if plans.iter().all(|p| !p.links.is_empty()) {
            return Ok(None);
        }
        let folder = RecordFolder::create(run, RECORDS)?;
        let program = std::env::current_exe().map_err(Error::run)?;
        let all = Self { folder, plans, names: scenario.names.clone() };
        let start = |(number, plan): (usize, &ApplicationPlan)| {
            let d = plan.application.description;
            let name: OsString =
                wayhop_applications::library(d).map_or(d.name.into(), |file| file.path.into());
            let mut command: Vec<OsString> = vec![program.clone().into(), "application".into(), name];
            let mut option = |name: &str, value: String| command.extend([name.into(), value.into()]);
            for (key, value) in plan.application.parameters.values().iter().filter(|(_, v)| !v.is_null()) {
                option("--set", format!("{key}={value}"));
            }
            option("--address", scenario.addresses[plan.node.index()].to_string());
            option("--seed", scenario.seed.to_string());
            option("--number", number.to_string());
            option("--gpsd", GPSD.to_owned());
            if let Some(path) = log(plan.node, &all.name(number)) {
                command.extend(["--record-inputs".into(), path.into()]);
            }
            command.extend(["--record".into(), all.file(number, "jsonl").into()]);
            launch(plan.node, command, all.file(number, "log"))
        };
        // Those of the network layer are the simulated hosts'.
        let programs = all.plans.iter().enumerate().filter(|(_, plan)| plan.links.is_empty());
        launches.extend(programs.map(start));
        Ok(Some(all))
    }

    fn file(&self, number: usize, kind: &str) -> PathBuf {
        self.folder.file(&self.name(number), kind)
    }

    /// Its name, as that of its log: node, application, number.
    fn name(&self, number: usize) -> String {
        let plan = &self.plans[number];
        format!("{}-{}-{number}", self.names[plan.node.index()], plan.application.description.name)
    }

    /// Reads what they wrote, into the run's table `events`, and returns what they counted, beside what those of the network layer did.
    /// `start`: when the run began, nanoseconds since 1970.
    pub(crate) fn finish(
        self,
        start: u64,
        end: Time,
        recorder: &mut Recorder,
        of_network_layers: Vec<ApplicationSummary>,
    ) -> Vec<ApplicationSummary> {
        let mut of_network_layers = of_network_layers.into_iter();
        let mut notes = Vec::new();
        let mut summaries = Vec::new();
        for (number, plan) in self.plans.iter().enumerate() {
            if !plan.links.is_empty() {
                summaries.extend(of_network_layers.next());
                continue;
            }
            let figures = read(&self.file(number, "jsonl"), plan, start, end, &mut notes);
            let mut summary = ApplicationSummary::new(plan.node.0, plan.application.description.name);
            for (name, value) in &figures {
                summary.add(name, *value);
            }
            summaries.push(summary);
        }
        notes.sort_by_key(|n| (n.time, n.node));
        for note in &notes {
            recorder.note(note);
        }
        summaries
    }
}

/// Reads a record; an incomplete last line is ignored. Returns the last figures.
fn read(
    path: &Path,
    plan: &ApplicationPlan,
    start: u64,
    end: Time,
    notes: &mut Vec<NoteEvent>,
) -> BTreeMap<String, f64> {
    let mut last = BTreeMap::new();
    each_line(path, |line| match serde_json::from_slice(line) {
        Ok(Line::Note { time_ns, what, about, value }) => {
            let known = plan.application.description.notes.iter().find(|n| **n == what);
            let time = Time::from_nanos(time_ns.saturating_sub(start)).min(end);
            let note = |what: &&'static str| TraceNote { what, about, value };
            notes.extend(known.map(|what| NoteEvent { time, node: plan.node, note: note(what) }));
        }
        Ok(Line::Figures(figures)) => last = figures,
        Err(_) => {}
    });
    last
}
