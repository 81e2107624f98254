//! Data MULEs, described by the paper on MeshTest's transport layer (Hahn and others, 2008): the
//! data per contact, and its variation. And the choice of copies: epidemic routing, PRoPHET, spray
//! and wait over the same moves.
//!
//! Neither publishes numbers to compare with ours: the rows have none of a paper, and claimed
//! orderings are judged over pairs of runs.

mod contacts;
mod passes;
mod routing;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_core::{NodeId, Time};
use wayhop_report::{Page, Row, Section, Source};

use crate::simulate::{each, incomplete};
use crate::{Options, Outcome, Plan, RunError, Runs};
use contacts::Condition;
use passes::Passes;

/// The scenarios of scenarios/dtn.
const FILES: &[(&str, &str)] = &[
    ("mule.toml", include_str!("../../../../../scenarios/dtn/mule.toml")),
    ("compare.toml", include_str!("../../../../../scenarios/dtn/compare.toml")),
];
/// The MULE of mule.toml.
const MULE: NodeId = NodeId(4);
/// Seeds with which routings are compared, at most.
const COMPARED: u64 = 20;

/// How many runs there are unless a user says otherwise.
pub const SEEDS: u64 = 100;

/// One run, but for its seed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Experiment {
    /// The number of a condition.
    Mule(usize),
    /// The number of a routing.
    Routing(usize),
}

/// All runs, seed by seed, so that what there is after an interruption is of whole seeds.
fn all(options: &Options) -> Vec<(u64, Experiment)> {
    let of_seed = |(k, seed): (u64, u64)| {
        let mules = (0..Condition::ALL.len()).map(Experiment::Mule);
        let routings = (0..routing::ALL.len()).map(Experiment::Routing).filter(move |_| k < COMPARED);
        mules.chain(routings).map(move |e| (seed, e))
    };
    (0..options.seeds).zip(options.first_seed..).flat_map(of_seed).collect()
}

/// The number of runs that [`reproduce`] makes.
pub fn runs(options: &Options) -> usize {
    all(options).len()
}

/// Makes all runs. The scenarios are written to `dir/scenarios`, where `wayhop run` finds them. `done` is told after each run
/// how many are made; a raised `stop` ends with what there is.
pub fn reproduce(
    options: &Options,
    dir: &Path,
    stop: &AtomicBool,
    done: impl Fn(usize) + Sync,
) -> Result<Outcome, String> {
    let runs = Runs::new(dir, FILES, options.keep_runs, stop).map_err(|e| e.to_string())?;
    let jobs = all(options);
    let mut found = Results::default();
    found.missing = each(
        &jobs,
        (options.threads, stop),
        done,
        |(seed, e)| run(&runs, *e, *seed),
        |(_, experiment), shown| found.add(*experiment, shown),
    )?;
    Ok(found.outcome(options, dir))
}

/// What a run showed.
enum RunResult {
    Mule(passes::MuleRun),
    Routing(routing::RoutingRun),
}

impl Experiment {
    fn plan(self) -> Plan {
        match self {
            Self::Mule(k) => {
                let name = Condition::ALL[k].name().replace(", ", "-").replace(' ', "-").to_lowercase();
                Plan::new(format!("mule-{name}"), "mule.toml", Condition::ALL[k].sets())
            }
            Self::Routing(k) => {
                let routing = routing::ALL[k];
                Plan::new(
                    format!("routing-{routing}"),
                    "compare.toml",
                    vec![format!("dtn.routing={routing}")],
                )
            }
        }
    }
}

fn run(runs: &Runs<'_>, experiment: Experiment, seed: u64) -> Result<RunResult, RunError> {
    let scenario = runs.ready(&experiment.plan(), seed)?;
    match experiment {
        Experiment::Mule(_) => {
            let passes = Passes::new(MULE, scenario.duration);
            let (passes, summary) = runs.summarise(&scenario, passes)?;
            Ok(RunResult::Mule(passes.closed(&summary)))
        }
        Experiment::Routing(_) => {
            let nobody = Passes::new(NodeId(u32::MAX), Time::ZERO);
            let (_, summary) = runs.summarise(&scenario, nobody)?;
            Ok(RunResult::Routing(routing::RoutingRun::of(&summary)))
        }
    }
}

/// What makes the runs behind a row.
fn source(row: &Row, dir: &Path, options: &Options) -> Vec<Source> {
    let condition = Condition::ALL.iter().position(|c| c.name() == row.row).map(Experiment::Mule);
    let of_routing =
        || routing::ALL.iter().position(|r| routing::name(r) == row.row).map(Experiment::Routing);
    let experiment = condition.or_else(of_routing);
    let seeds = match experiment {
        Some(Experiment::Routing(_)) => options.seeds.min(COMPARED),
        _ => options.seeds,
    };
    experiment.map(|e| e.plan().source(dir, &Options { seeds, ..options.clone() })).into_iter().collect()
}

/// What all runs showed, in the order of the seeds.
#[derive(Default)]
struct Results {
    mules: [Vec<passes::MuleRun>; Condition::ALL.len()],
    routings: [Vec<routing::RoutingRun>; routing::ALL.len()],
    missing: usize,
}

impl Results {
    fn add(&mut self, experiment: Experiment, shown: RunResult) {
        match (experiment, shown) {
            (Experiment::Mule(k), RunResult::Mule(run)) => self.mules[k].push(run),
            (Experiment::Routing(k), RunResult::Routing(run)) => self.routings[k].push(run),
            // `run` answers each experiment in kind.
            _ => {}
        }
    }

    fn outcome(&self, options: &Options, dir: &Path) -> Outcome {
        let sections: Vec<Section> = vec![contacts::section(&self.mules), routing::section(&self.routings)];
        let fact = |what: &str, value: String| (what.to_owned(), value);
        let mut facts = vec![
            fact("Paper", "Hahn and others: experimental validation of the MeshTest wireless testbed's transport layer, 2008; RFC 6693".to_owned()),
            fact("Scenarios", "mule.toml and compare.toml in the folder scenarios beside this page".to_owned()),
            fact("Seeds", format!("{}; routings are compared with the first {}", options.seeds_in_words(), options.seeds.min(COMPARED))),
            fact("Version", format!("wayhop {}", wayhop_core::version::full())),
        ];
        facts.extend(incomplete(self.missing, runs(options)));
        let page = Page {
            title: "A data MULE".to_owned(),
            lead: "Three sources that only the MULE can hear, a MULE that circles past them, and a sink at the start of \
                   its path; and twenty wandering nodes with the routing protocols of delay-tolerant networks."
                .to_owned(),
            facts,
            command: options.command("mule"),
            sections,
        };
        Outcome::new("mule", page, self.missing == 0, |row| source(row, dir, options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The orderings that RFC 6693's authors report, on three seeds of the comparison.
    #[test]
    fn epidemic_routing_is_fastest_and_spray_and_wait_transmits_least() {
        let folder = std::env::temp_dir().join(format!("wayhop-mule-{}", std::process::id()));
        let stop = AtomicBool::new(false);
        let runs = Runs::new(&folder, FILES, false, &stop).expect("a folder");
        let mut found = Results::default();
        for seed in 1..=3 {
            for k in 0..routing::ALL.len() {
                let Ok(shown) = run(&runs, Experiment::Routing(k), seed) else { panic!("a run") };
                found.add(Experiment::Routing(k), shown);
            }
        }
        std::fs::remove_dir_all(folder).expect("a folder");
        let mean = |k: usize, value: &dyn Fn(&routing::RoutingRun) -> Option<f64>| {
            found.routings[k].iter().map(|r| value(r).expect("deliveries")).sum::<f64>() / 3.0
        };
        let [epidemic, prophet, spray, direct] = [0, 1, 2, 3];
        let overhead = |k| mean(k, &|r| r.overhead);
        let (delay, delivery) = (|k| mean(k, &|r| r.delay_s), |k| mean(k, &|r| r.delivery_pct));
        assert!(overhead(epidemic) > overhead(prophet) && overhead(prophet) > overhead(spray));
        assert!(overhead(spray) > overhead(direct) && overhead(direct) == 0.0);
        assert!(delay(epidemic) < delay(prophet) && delay(epidemic) < delay(spray));
        assert!(delivery(epidemic) >= delivery(prophet) && delivery(epidemic) >= delivery(spray));
        assert!(delivery(prophet) > delivery(direct) && delivery(spray) > delivery(direct));
    }

    #[test]
    fn the_mule_carries_more_evenly_over_a_steady_channel_than_over_one_that_fades() {
        let folder = std::env::temp_dir().join(format!("wayhop-mule-channel-{}", std::process::id()));
        let stop = AtomicBool::new(false);
        let runs = Runs::new(&folder, FILES, false, &stop).expect("a folder");
        let mut variation = Vec::new();
        for k in [1, 3] {
            let Ok(RunResult::Mule(shown)) = run(&runs, Experiment::Mule(k), 1) else { panic!("a run") };
            // Four laps of 380 s past four stations from the second one on; the run's end cuts the last one short.
            assert!((14..=16).contains(&shown.kbytes.len()), "{}", shown.kbytes.len());
            variation.push(shown.variation_pct.expect("passes"));
        }
        std::fs::remove_dir_all(folder).expect("a folder");
        assert!(variation[0] < 0.5 && variation[1] > 1.0, "{variation:?}");
    }
}
