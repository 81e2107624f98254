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

use wayhop_core::NodeId;
use wayhop_report::{Page, Row, Source};

use crate::outcome::{facts, missing_runs};
use crate::simulate::each;
use crate::{Options, Outcome, Plan, RunError, Runs};
use contacts::Condition;
use passes::Passes;

const FILES: &[(&str, &str)] = &[
    ("mule.toml", include_str!("../../../../../scenarios/dtn/mule.toml")),
    ("compare.toml", include_str!("../../../../../scenarios/dtn/compare.toml")),
];
const MULE: NodeId = NodeId(4);
/// Seeds with which routings are compared, at most.
const COMPARED: u64 = 20;

/// How many runs there are unless a user says otherwise.
pub const SEEDS: u64 = 100;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Experiment {
    Mule(usize),
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
    let runs = Runs::new(dir, FILES, options.keep_runs, stop)?;
    let mut found = Results::default();
    let run = |(seed, e): &(u64, Experiment)| run(&runs, *e, *seed);
    let jobs = all(options);
    found.missing = each(&jobs, (options.threads, stop), done, run, |_, add: Addition| add(&mut found))?;
    Ok(found.outcome(options, dir))
}

type Addition = Box<dyn FnOnce(&mut Results) + Send>;

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

fn run(runs: &Runs<'_>, experiment: Experiment, seed: u64) -> Result<Addition, RunError> {
    let scenario = runs.ready(&experiment.plan(), seed)?;
    let (passes, summary) = runs.summarise(&scenario, Passes::new(MULE, scenario.duration))?;
    Ok(match experiment {
        Experiment::Mule(k) => {
            let run = passes.closed(&summary);
            Box::new(move |found: &mut Results| found.mules[k].push(run))
        }
        Experiment::Routing(k) => {
            let run = routing::RoutingRun::of(&summary);
            Box::new(move |found: &mut Results| found.routings[k].push(run))
        }
    })
}

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
    fn outcome(&self, options: &Options, dir: &Path) -> Outcome {
        let compared = options.seeds.min(COMPARED);
        let seeds = format!("{}; routings are compared with the first {compared}", options.seeds_in_words());
        let own: [(&str, &str); 3] = [
            (
                "Paper",
                "Hahn and others: experimental validation of the MeshTest wireless testbed's transport layer, 2008; RFC 6693",
            ),
            ("Scenarios", "mule.toml and compare.toml in the folder scenarios beside this page"),
            ("Seeds", &seeds),
        ];
        let page = Page {
            title: "A data MULE".to_owned(),
            lead: "Three sources that only the MULE can hear, a MULE that circles past them, and a sink at the start of \
                   its path; and twenty wandering nodes with the routing protocols of delay-tolerant networks."
                .to_owned(),
            facts: facts(&own, missing_runs(self.missing, runs(options))),
            command: options.command("mule"),
            sections: vec![contacts::section(&self.mules), routing::section(&self.routings)],
        };
        Outcome::new("mule", page, self.missing == 0, |row| source(row, dir, options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(experiments: &[Experiment], seeds: std::ops::RangeInclusive<u64>) -> Results {
        let folder = tempfile::tempdir().expect("a folder");
        let stop = AtomicBool::new(false);
        let runs = Runs::new(folder.path(), FILES, false, &stop).expect("a folder");
        let mut found = Results::default();
        for seed in seeds {
            for experiment in experiments {
                let Ok(add) = run(&runs, *experiment, seed) else { panic!("a run") };
                add(&mut found);
            }
        }
        found
    }

    /// The orderings that RFC 6693's authors report, on three seeds of the comparison.
    #[test]
    fn epidemic_routing_is_fastest_and_spray_and_wait_transmits_least() {
        let found = results(&[0, 1, 2, 3].map(Experiment::Routing), 1..=3);
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
        let found = results(&[1, 3].map(Experiment::Mule), 1..=1);
        let variation = [1, 3].map(|k| {
            let shown = &found.mules[k][0];
            // Four laps of 380 s past four stations from the second one on; the run's end cuts the last one short.
            assert!((14..=16).contains(&shown.kbytes.len()), "{}", shown.kbytes.len());
            shown.variation_pct.expect("passes")
        });
        assert!(variation[0] < 0.5 && variation[1] > 1.0, "{variation:?}");
    }
}
