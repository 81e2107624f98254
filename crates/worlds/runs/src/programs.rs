//! The programs that a run starts in its nodes.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, lchown};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use wayhop_core::{NodeId, Time, file_name};
use wayhop_netns::{Confinement, Launch, Namespace, Registry, Restart};
use wayhop_scenario::{ProgramPlan, ProgramRestart, Resolved};
use wayhop_trace::{Recorder, Summary};

use crate::error::Error;
use crate::hosted::{Agents, Applications, RecordFolder};

/// In the run directory: what programs say, each in a file.
const SAID: &str = "programs";
/// What confined programs write besides, in a folder for each node: their working directory.
const FILES: &str = "files";

/// The programs of a scenario, its bundle agents and applications, and the command with which the run ends.
pub(crate) struct Programs {
    /// Each with its time.
    pub(crate) plan: Vec<(Time, Launch)>,
    /// The number in `plan` of the command.
    pub(crate) main: Option<usize>,
    agents: Option<Agents>,
    applications: Option<Applications>,
    /// The run directory, if somebody else's files are to be its owner's when the run is over.
    leave: Option<PathBuf>,
    /// The nodes' folders, which go with this if the run has no directory.
    _folders: Option<RecordFolder>,
}

impl Programs {
    /// Their output goes into the run directory, whose folders are made if they are needed. Unless the user has `trust` in them, they are
    /// confined. `log` says where the inputs of an application at a node are logged, by the log's name, if they are.
    pub(crate) fn new(
        scenario: &Resolved,
        run: Option<&Path>,
        trust: bool,
        command: Option<Launch>,
        log: impl Fn(NodeId, &str) -> Option<PathBuf>,
    ) -> Result<Self, Error> {
        let is_any = !scenario.programs.is_empty();
        let cannot = |what: PathBuf| {
            move |e: io::Error| wayhop_netns::Error::system(format!("cannot create {}", what.display()), e)
        };
        if let Some(folder) = run.map(|r| r.join(SAID)).filter(|_| is_any) {
            fs::create_dir_all(&folder).map_err(cannot(folder))?;
        }
        let names_folder = |p: &ProgramPlan| p.command.iter().any(|c| c.contains(ProgramPlan::FOLDER));
        let wants_folders = trust && scenario.programs.iter().any(names_folder);
        let folders = wants_folders.then(|| RecordFolder::create(run, FILES)).transpose()?;
        let launch = |p: &ProgramPlan| -> Result<Launch, Error> {
            let name = file_name(&scenario.names[p.node.index()]);
            let own = run.map(|r| r.join(FILES).join(&name));
            let confine = || {
                Confinement::new(p.node.0, own.as_deref())
                    .map_err(|e| wayhop_netns::Error::system("cannot find the working directory", e))
            };
            let folder = match &folders {
                Some(folders) => folders.make(&name)?,
                None => Confinement::HOME.to_owned(),
            };
            let restart = match p.restart {
                ProgramRestart::Never => Restart::Never,
                ProgramRestart::OnFailure => Restart::OnFailure,
                ProgramRestart::Always => Restart::Always,
            };
            Ok(Launch {
                node: p.node.0,
                command: p.command.iter().map(|c| c.replace(ProgramPlan::FOLDER, &folder).into()).collect(),
                output: run.map(|r| r.join(SAID).join(&p.output)),
                has_terminal: false,
                confined: (!trust).then(confine).transpose()?,
                restart,
            })
        };
        let plan = scenario.programs.iter().map(|p| Ok((p.start, launch(p)?)));
        let mut plan = plan.collect::<Result<Vec<_>, Error>>()?;
        let mut launches = Vec::new();
        let agents = Agents::new(scenario, run, &mut launches)?;
        let applications = Applications::new(scenario, run, log, &mut launches)?;
        let main = command.is_some().then_some(plan.len() + launches.len());
        plan.extend(launches.into_iter().chain(command).map(|launch| (Time::ZERO, launch)));
        let leave = run.filter(|_| is_any && !trust).map(Path::to_path_buf);
        Ok(Self { plan, main, agents, applications, leave, _folders: folders })
    }

    /// Gives what they left to the owner of the run directory. None of them may run any more.
    pub(crate) fn hand_over(&self) {
        let Some(run) = &self.leave else { return };
        let Ok(owner) = fs::metadata(run) else { return };
        // What cannot be given, without the right to, belongs to the owner already.
        let _ = give(&run.join(SAID), owner.uid(), owner.gid());
        let files = run.join(FILES);
        let _ = give(&files, owner.uid(), owner.gid());
        // Most programs write no files.
        for folder in fs::read_dir(&files).into_iter().flatten().flatten() {
            let _ = fs::remove_dir(folder.path());
        }
        let _ = fs::remove_dir(files);
    }

    /// Adds what agents and applications wrote to the tables and the summary of a run that began at this time of the clock.
    pub(crate) fn finish(self, begun: SystemTime, summary: &mut Summary, recorder: &mut Recorder) {
        let start = begun.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        let end = Time::from_secs_f64(summary.simulated_s);
        summary.bundles = self.agents.map(|agents| agents.finish(start, end, recorder));
        if let Some(applications) = self.applications {
            let of_network_layers = std::mem::take(&mut summary.applications);
            summary.applications = applications.finish(start, end, recorder, of_network_layers);
        }
    }
}

/// Makes the run of this name known, with its nodes' namespaces.
pub(crate) fn registry(scenario: &Resolved, run: &str, namespaces: &[&Namespace]) -> Result<Registry, Error> {
    let (names, addresses) = (&scenario.names, &scenario.addresses);
    let addresses6 = scenario.ipv6.as_ref().map_or(&[][..], |plan| &plan.addresses);
    Ok(Registry::new(&scenario.name, run, names, addresses, addresses6, namespaces)?)
}

/// Gives a folder and all that is in it; not what links there lead to.
fn give(folder: &Path, user: u32, group: u32) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        lchown(&folder, Some(user), Some(group))?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                lchown(entry.path(), Some(user), Some(group))?;
            }
        }
    }
    Ok(())
}
