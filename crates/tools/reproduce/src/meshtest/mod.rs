//! MeshTest: UDP and TCP between two radios that a matrix of attenuators moves apart and past each other.
//!
//! The two 802.11g radios are those of the preset `meshtest`, one as access point. Once a second
//! the attenuator solver makes the path loss of free space at that second's distance (`levels`).
//! Throughput is the payload that arrives in each second (`watch`).

#[cfg(feature = "linux")]
mod emulation;
mod figures;
mod leaving;
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

use wayhop_report::{Page, Row, Section, Source};

use crate::outcome::facts;
use crate::simulate::{by_seed, each};
use crate::{Options, Outcome, Runs};
use levels::{Levels, error_db};
use plan::{Experiment, FILES, Motion, Transport};
use shape::Shape;
use watch::LinkSeries;

/// How many runs of each experiment the paper has.
pub const PAPER_RUNS: u64 = paper::RUNS;

/// The number of runs that [`reproduce`] makes in simulated time.
pub fn runs(options: &Options) -> usize {
    (Experiment::ALL.len() + leaving::OTHERS_DBM.len()) * options.seeds as usize
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
    let runs = Runs::new(dir, FILES, options.keep_runs, stop)?;
    let levels = Levels::new(&runs.resolve(FILES[0].0, &[])?)?;
    let mut experiments = Experiment::ALL.map(|e| (e, None)).to_vec();
    experiments.extend(leaving::OTHERS_DBM.map(|dbm| (leaving::EXPERIMENT, Some(dbm))));
    let jobs = by_seed(options, &experiments);
    let mut found = Results { worst_db: levels.worst_db(), ..Results::default() };
    found.missing = each(
        &jobs,
        (options.threads, stop),
        done,
        |(seed, (e, leave_dbm))| e.run(&runs, &levels, *seed, *leave_dbm),
        |(seed, (e, leave_dbm)), seen| found.add(*seed, *e, *leave_dbm, seen),
    )?;
    let mut sections = found.sections(&levels);
    if emulate && found.missing == 0 {
        #[cfg(feature = "linux")]
        let emulated = emulation::section(&runs, &levels, options.first_seed, dir, stop, &found.shapes)
            .map_err(|e| format!("emulation: {e}"));
        #[cfg(not(feature = "linux"))]
        let emulated = Err("emulation requires Linux; remove --emulate".to_owned());
        match emulated {
            Ok(Some(section)) => sections.push(section),
            Ok(None) => found.missing += 1,
            // The simulated runs are shown all the same.
            Err(e) => found.trouble = Some(e),
        }
    }
    Ok(found.outcome(options, emulate, dir, sections))
}

#[derive(Debug, Default)]
struct Results {
    /// By [`Experiment::number`].
    shapes: [Shape; 4],
    /// Of [`leaving::EXPERIMENT`] by [`leaving::OTHERS_DBM`].
    leaving: [Shape; leaving::OTHERS_DBM.len()],
    walked: Vec<u64>,
    /// How far the attenuators are off what the positions ask for, at most, dB.
    worst_db: f64,
    missing: usize,
    trouble: Option<String>,
}

impl Results {
    fn add(&mut self, seed: u64, experiment: Experiment, leave_dbm: Option<i32>, seen: LinkSeries) {
        let place = leave_dbm.and_then(|dbm| leaving::OTHERS_DBM.iter().position(|other| *other == dbm));
        if let Some(k) = place {
            return self.leaving[k].runs.push(seen);
        }
        if experiment.number() == 0 {
            self.walked.push(seed);
        }
        self.shapes[experiment.number()].runs.push(seen);
    }

    fn of(&self, motion: Motion) -> [&Shape; 2] {
        Transport::ALL.map(|transport| &self.shapes[Experiment { motion, transport }.number()])
    }

    fn sections(&self, levels: &Levels) -> Vec<Section> {
        let [signal, _] = self.of(Motion::WalkAway);
        let by_settings = |second: usize| -> Vec<f64> {
            let error = |seed: &u64| error_db(*seed, Motion::WalkAway.number());
            self.walked.iter().map(|seed| levels.signal_dbm(second, error(seed))).collect()
        };
        let mut all = vec![sections::signal(signal, &by_settings)];
        all.extend(Motion::ALL.map(|m| sections::throughput(m, self.of(m))));
        all.extend(Motion::ALL.map(|m| sections::distributions(m, self.of(m))));
        all.push(leaving::section(&self.shapes[leaving::EXPERIMENT.number()], &self.leaving));
        all.extend(Motion::ALL.map(|m| sections::variability(m, self.of(m))));
        all
    }

    fn outcome(self, options: &Options, emulate: bool, dir: &Path, sections: Vec<Section>) -> Outcome {
        let attenuators = format!(
            "4 buses, steps of 1 dB, insertion loss of 46 dB: at most {:.2} dB from free space at each second's distance; and an error of \
             each run's own, 1 dB on average",
            self.worst_db
        );
        let own: [(&str, &str); 5] = [
            (
                "Paper",
                "UDP and TCP in the MeshTest testbed: Orbit nodes in shielded boxes, at a matrix of attenuators",
            ),
            ("Scenarios", "the folder scenarios beside this page"),
            ("Seeds", &options.seeds_in_words()),
            (
                "Fitted",
                "radio.leave_dbm, the level at which a station leaves its access point, to the paper's 0.5 at 792 m; no \
                        source gives it for the cards (\"Effect of the level at which a station leaves\")",
            ),
            ("Attenuators", &attenuators),
        ];
        let incomplete = format!("interrupted; {} runs are missing", self.missing);
        let command = options.command("meshtest");
        let page = Page {
            title: "MeshTest's walk-away and drive-by, reproduced".to_owned(),
            lead: "UDP at 29 Mb/s and TCP between two 802.11g radios, one of which walks away or drives by, over a matrix \
                   of attenuators that sets the path loss once a second."
                .to_owned(),
            facts: facts(&own, Some(incomplete).filter(|_| self.missing > 0)),
            command: if emulate { format!("sudo {command} --emulate") } else { command },
            sections,
        };
        let mut outcome = Outcome::new("meshtest", page, self.missing == 0, |row| sources(row, dir, options));
        outcome.trouble = self.trouble;
        outcome
    }
}

/// What makes the runs behind a row. Each run has path losses of its own: only this reproduction can make it again.
fn sources(row: &Row, dir: &Path, options: &Options) -> Vec<Source> {
    let kept = Options { keep_runs: true, ..options.clone() }.command("meshtest");
    let out = dir.display();
    let of = |name: String| Source {
        command: format!("{kept} --out {out}"),
        directory: dir.join("runs").join(name).display().to_string(),
    };
    let is_behind = |e: &&Experiment| {
        let transport = row.row.contains(e.transport.name()) || row.row.ends_with(" m");
        let motion = match row.artefact.as_str() {
            "Figure 6" | "Figure 8" | "Figure 11" | "Figure 12" => Motion::DriveBy,
            _ => Motion::WalkAway,
        };
        transport && e.motion == motion
    };
    match (row.artefact.as_str(), leaving::level(&row.row)) {
        ("emulation", _) => {
            let first = options.first_seed;
            let is_it = |e: &&Experiment| row.row == e.in_words();
            let source = |e: &Experiment| Source {
                command: format!("sudo {} --emulate --out {out}", options.command("meshtest")),
                directory: dir.join("runs").join(plan::emulated(*e, first)).display().to_string(),
            };
            Experiment::ALL.iter().filter(is_it).map(source).collect()
        }
        ("Figure 4", _) => vec![of(Experiment::ALL[0].name())],
        (_, Some(dbm)) if leaving::OTHERS_DBM.contains(&dbm) => {
            vec![of(format!("{}-leave{dbm}", leaving::EXPERIMENT.name()))]
        }
        (_, Some(_)) => vec![of(leaving::EXPERIMENT.name())],
        _ => Experiment::ALL.iter().filter(is_behind).map(|e| of(e.name())).collect(),
    }
}
