//! MeshTest: UDP and TCP between two radios that a matrix of attenuators moves apart and past each other.
//!
//! The two 802.11g radios are those of the preset `meshtest`, one as access point. Once a second the attenuator solver makes the path
//! loss of free space at that second's distance (`levels`). Throughput is what arrives in each second (`watch`).

#[cfg(feature = "linux")]
mod emulation;
mod figures;
mod levels;
mod paper;
mod plan;
mod sections;
mod shape;
#[cfg(test)]
mod tests;
mod watch;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_report::{Page, Section};
use wayhop_runs::jobs;

use crate::{Options, Outcome, RunError, Runs};
use levels::Levels;
use plan::{Experiment, FILES, Motion, Transport};
use shape::Shape;

/// How many runs of each experiment the paper has.
pub const PAPER_RUNS: u64 = paper::RUNS;

/// The number of runs that [`reproduce`] makes in simulated time.
pub fn runs(options: &Options) -> usize {
    Experiment::ALL.len() * options.seeds as usize
}

/// Makes all runs and sets what they show beside the paper's numbers; with `emulate` also a walk-away of each kind on the real clock, with
/// real programs. The scenarios are written to `dir/scenarios`. `done` is told after each simulated run how many are made; a raised
/// `stop` ends with what there is.
pub fn reproduce(
    options: &Options,
    emulate: bool,
    dir: &Path,
    stop: &AtomicBool,
    done: impl Fn(usize) + Sync,
) -> Result<Outcome, String> {
    let runs = Runs::new(dir.join("scenarios"), FILES, stop).map_err(|e| e.to_string())?;
    let base = runs.resolve(FILES[0].0, &[]).map_err(text)?;
    let levels = Levels::new(&base)?;
    // Seed by seed, so that what there is after an interruption is of whole seeds.
    let jobs: Vec<(u64, Experiment)> = (options.first_seed..)
        .take(options.seeds as usize)
        .flat_map(|seed| Experiment::ALL.map(|e| (seed, e)))
        .collect();
    let results = jobs::run(&jobs, options.threads, stop, done, |(seed, e)| e.run(&runs, &levels, *seed));
    let mut found = Found { worst_db: levels.worst_db(), ..Found::default() };
    for ((_, experiment), result) in jobs.iter().zip(results) {
        match result {
            Some(Ok(seen)) => found.shapes[experiment.number()].runs.push(seen),
            Some(Err(RunError::Scenario(e))) => return Err(e),
            Some(Err(RunError::Stopped)) | None => found.missing += 1,
        }
    }
    let mut sections = found.sections();
    if emulate && found.missing == 0 {
        found.emulate(&runs, &levels, options.first_seed, dir, stop, &mut sections);
    }
    Ok(found.outcome(options, emulate, sections))
}

fn text(e: RunError) -> String {
    match e {
        RunError::Stopped => "stopped".to_owned(),
        RunError::Scenario(e) => e,
    }
}

/// What all runs showed.
#[derive(Debug, Default)]
struct Found {
    /// By [`Experiment::number`].
    shapes: [Shape; 4],
    /// How far the attenuators are off what the positions ask for, at most, dB.
    worst_db: f64,
    missing: usize,
    trouble: Option<String>,
}

impl Found {
    fn of(&self, motion: Motion) -> [&Shape; 2] {
        Transport::BOTH.map(|transport| &self.shapes[Experiment { motion, transport }.number()])
    }

    fn sections(&self) -> Vec<Section> {
        let motions = [Motion::WalkAway, Motion::DriveBy];
        let [signal, _] = self.of(Motion::WalkAway);
        let mut all = vec![sections::signal(signal)];
        all.extend(motions.map(|m| sections::throughput(m, self.of(m))));
        all.extend(motions.map(|m| sections::distributions(m, self.of(m))));
        all.extend(motions.map(|m| sections::variability(m, self.of(m))));
        all
    }

    #[cfg(feature = "linux")]
    fn emulate(
        &mut self,
        runs: &Runs<'_>,
        levels: &Levels,
        seed: u64,
        dir: &Path,
        stop: &AtomicBool,
        sections: &mut Vec<Section>,
    ) {
        match emulation::section(runs, levels, seed, dir, stop, &self.shapes) {
            Ok(Some(section)) => sections.push(section),
            Ok(None) => self.missing += 1,
            // The simulated runs are shown all the same.
            Err(e) => self.trouble = Some(format!("emulation: {e}")),
        }
    }

    #[cfg(not(feature = "linux"))]
    fn emulate(&mut self, _: &Runs<'_>, _: &Levels, _: u64, _: &Path, _: &AtomicBool, _: &mut Vec<Section>) {
        self.trouble = Some("emulation needs Linux; leave --emulate out".to_owned());
    }

    fn outcome(self, options: &Options, emulate: bool, sections: Vec<Section>) -> Outcome {
        let mut rows: Vec<_> = sections.iter().flat_map(|s| s.rows.iter().cloned()).collect();
        for r in rows.iter_mut().filter(|r| r.ours.is_none() && r.note.is_empty()) {
            "No run that was made showed it.".clone_into(&mut r.note);
        }
        let fact = |what: &str, value: String| (what.to_owned(), value);
        let mut facts = vec![
            fact("Paper", "UDP and TCP in the MeshTest testbed: Orbit nodes in shielded boxes, at a matrix of attenuators".to_owned()),
            fact("Scenarios", "the folder scenarios beside this page".to_owned()),
            fact("Seeds", options.seeds_in_words()),
            fact(
                "Attenuators",
                format!(
                    "4 buses, steps of 1 dB, insertion loss of 46 dB: at most {:.2} dB from free space at each second's distance; and an error of \
                     each run's own, 1 dB on average",
                    self.worst_db
                ),
            ),
            fact("Version", format!("wayhop {}", env!("CARGO_PKG_VERSION"))),
        ];
        if self.missing > 0 {
            facts.push(fact("Incomplete", format!("stopped; {} runs were not made", self.missing)));
        }
        let command = options.command("meshtest");
        let page = Page {
            title: "MeshTest's walk-away and drive-by, reproduced".to_owned(),
            lead: "UDP at 29 Mb/s and TCP between two 802.11g radios, one of which walks away, or comes, passes and goes: over a matrix of \
                   attenuators, which sets the path loss once a second."
                .to_owned(),
            facts,
            command: if emulate { format!("sudo {command} --emulate") } else { command },
            sections,
        };
        Outcome { paper: "meshtest", rows, page, complete: self.missing == 0, trouble: self.trouble }
    }
}
