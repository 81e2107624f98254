//! The programs of a scenario.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, lchown};
use std::path::{Path, PathBuf};

use wayhop_core::{Time, file_name};
use wayhop_netns::{Confinement, Launch};
use wayhop_scenario::{ProgramPlan, Resolved};

use crate::error::Error;

/// In the run directory: what programs say, each in a file.
const SAID: &str = "programs";
/// What confined programs write besides, in a folder for each node: their working directory.
const FILES: &str = "files";

/// The programs of a scenario, and what they leave.
pub(crate) struct Programs {
    /// Each with its time.
    pub(crate) plan: Vec<(Time, Launch)>,
    /// The run directory, if somebody else's files are to be its owner's when the run is over.
    leave: Option<PathBuf>,
}

impl Programs {
    /// Their output goes into the run directory, whose folders are made if they are needed. Unless the user has `trust` in them, they are
    /// confined.
    pub(crate) fn new(scenario: &Resolved, run: Option<&Path>, trust: bool) -> Result<Self, Error> {
        let is_any = !scenario.programs.is_empty();
        let cannot = |what: PathBuf| {
            move |e: io::Error| wayhop_netns::Error::system(format!("cannot create {}", what.display()), e)
        };
        if let Some(folder) = run.map(|r| r.join(SAID)).filter(|_| is_any) {
            fs::create_dir_all(&folder).map_err(cannot(folder))?;
        }
        let launch = |p: &ProgramPlan| -> io::Result<Launch> {
            let own = || run.map(|r| r.join(FILES).join(file_name(&scenario.names[p.node.index()])));
            let confine = || Confinement::new(p.node.0, own().as_deref());
            Ok(Launch {
                node: p.node.0,
                command: p.command.iter().map(Into::into).collect(),
                output: run.map(|r| r.join(SAID).join(&p.output)),
                has_terminal: false,
                confined: (!trust).then(confine).transpose()?,
                comes_back: false,
            })
        };
        let plan: io::Result<Vec<_>> = scenario.programs.iter().map(|p| Ok((p.start, launch(p)?))).collect();
        let plan = plan.map_err(|e| wayhop_netns::Error::system("cannot find the working directory", e))?;
        Ok(Self { plan, leave: run.filter(|_| is_any && !trust).map(Path::to_path_buf) })
    }

    /// Gives what they left to the owner of the run directory. None of them may run any more.
    pub(crate) fn hand_over(leave: Option<&Path>) {
        let Some(run) = leave else { return };
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

    pub(crate) fn split(self) -> (Vec<(Time, Launch)>, Option<PathBuf>) {
        (self.plan, self.leave)
    }
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
