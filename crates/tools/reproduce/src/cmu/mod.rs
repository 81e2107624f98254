//! D. A. Maltz, J. Broch, D. B. Johnson: *Experiences Designing and Building a Multi-Hop Wireless Ad Hoc Network Testbed*,
//! CMU-CS-99-116, 1999.
//!
//! Numbers are taken from runs as the paper took them from its captures and from `/dev/kdsr`: what E1 and its neighbours
//! sent and heard ([`Observer`](wayhop_trace::Observer)s see the same frames that `--captures` writes), and the protocol's
//! state at each send.

mod bad_routes;
mod congestion;
mod goodput;
#[cfg(test)]
mod goodput_tests;
mod links;
mod packet;
mod paper;
mod ping;
mod route_length;
mod spacing;
mod survey;
mod tcp;
#[cfg(test)]
mod tests;
mod timers;
mod topology;
mod totals;
mod transfer;

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_core::NodeId;
use wayhop_report::{Page, Row, Section};
use wayhop_scenario::{Map, Resolved};

use crate::outcome::{facts, missing_runs};
use crate::simulate::{by_seed, each};
use crate::{Options, Outcome, Plan, RunError, Runs};
use bad_routes::{Transfer, WAYS};
use congestion::Congestion;
use ping::{Ping, Roles};
use survey::{Survey, SurveyWatch};
use topology::Changes;
use transfer::{Case, Connection, Connections};

const FILES: &[(&str, &str)] = &[
    ("ping.toml", include_str!("../../../../../scenarios/cmu/ping.toml")),
    ("congestion.toml", include_str!("../../../../../scenarios/cmu/congestion.toml")),
    ("survey-25s.toml", include_str!("../../../../../scenarios/cmu/survey-25s.toml")),
    ("survey-10s.toml", include_str!("../../../../../scenarios/cmu/survey-10s.toml")),
    ("survey-50s.toml", include_str!("../../../../../scenarios/cmu/survey-50s.toml")),
    ("abc.toml", include_str!("../../../../../scenarios/cmu/abc.toml")),
    ("tcp-lab.toml", include_str!("../../../../../scenarios/cmu/tcp-lab.toml")),
    ("site.geojson", SITE),
];
const SITE: &str = include_str!("../../../../../scenarios/cmu/site.geojson");

/// The first hops of Tables I to IV.
const CARS: [&str; 5] = ["T1", "T2", "T3", "T4", "T5"];

/// `Topology` is the movement of the ping test, without a packet; a survey has its number in [`SURVEYS`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Experiment {
    Topology,
    Ping,
    Congestion { queue_in_timer: bool, short: bool },
    Survey(usize),
    BadRoute { way: usize },
    Tcp(Case),
}

/// By the time between the cars.
const SURVEYS: [&str; 3] = ["survey-25s.toml", "survey-10s.toml", "survey-50s.toml"];

fn experiments() -> Vec<Experiment> {
    let mut all = vec![Experiment::Topology, Experiment::Ping];
    for short in [false, true] {
        all.extend([false, true].map(|queue_in_timer| Experiment::Congestion { queue_in_timer, short }));
    }
    all.extend((0..SURVEYS.len()).map(Experiment::Survey));
    all.extend((0..WAYS.len()).map(|way| Experiment::BadRoute { way }));
    all.extend(Case::all().into_iter().map(Experiment::Tcp));
    all
}

type Addition = Box<dyn FnOnce(&mut Results) + Send>;

/// The number of runs that [`reproduce`] makes.
pub fn runs(options: &Options) -> usize {
    experiments().len() * options.seeds as usize
}

/// Makes all runs and sets what they show beside the paper's numbers. The scenarios are written to `dir/scenarios`, where
/// `wayhop run` finds them. `done` is told after each run how many are made; a raised `stop` ends with what there is.
pub fn reproduce(
    options: &Options,
    dir: &Path,
    stop: &AtomicBool,
    done: impl Fn(usize) + Sync,
) -> Result<Outcome, String> {
    let runs = Runs::new(dir, FILES, options.keep_runs, stop)?;
    let jobs = by_seed(options, &experiments());
    let mut found = Results::default();
    let run = |(seed, e): &(u64, Experiment)| run(&runs, *e, *seed);
    found.missing = each(&jobs, (options.threads, stop), done, run, |_, add: Addition| add(&mut found))?;
    let map = runs.resolve("survey-25s.toml", &[]).ok().and_then(|r| Map::parse(SITE, r.origin?).ok());
    Ok(found.outcome(options, dir, map.as_ref()))
}

impl Experiment {
    fn plan(self) -> Plan {
        let captures = || "captures.all=true".to_owned();
        match self {
            Self::Topology => Plan::new("topology", "ping.toml", vec![]),
            Self::Ping => Plan::new("ping", "ping.toml", vec![captures()]),
            Self::Congestion { queue_in_timer, short } => {
                let mut name = "congestion".to_owned();
                let mut sets = vec![];
                if short {
                    name.push_str("-64-bytes");
                    sets.push("traffic.0.payload_bytes=56".to_owned());
                }
                if !queue_in_timer {
                    name.push_str("-no-queue-in-timer");
                    sets.push("protocol.rexmt_queue_factor_ms=0".to_owned());
                }
                Plan::new(name, "congestion.toml", sets)
            }
            Self::Survey(k) => Plan::new(SURVEYS[k].trim_end_matches(".toml"), SURVEYS[k], vec![captures()]),
            Self::BadRoute { way } => {
                let name = format!("bad-route-{}", WAYS[way].name.replace(' ', "-"));
                Plan::new(name, "abc.toml", WAYS[way].setting.map(str::to_owned).into_iter().collect())
            }
            Self::Tcp(case) => {
                let (file, sets) = case.scenario();
                Plan::new(case.name(), file, sets)
            }
        }
    }
}

fn run(runs: &Runs<'_>, experiment: Experiment, seed: u64) -> Result<Addition, RunError> {
    let scenario = runs.ready(&experiment.plan(), seed)?;
    Ok(match experiment {
        Experiment::Topology => {
            let changes = Changes::new(&scenario, [node(&scenario, "E1")?, node(&scenario, "E2")?]);
            Box::new(move |found: &mut Results| found.changes.push(changes))
        }
        Experiment::Ping => {
            let roles = Roles {
                from: node(&scenario, "E1")?,
                to: node(&scenario, "E2")?,
                cars: CARS
                    .iter()
                    .map(|n| Ok(scenario.addresses[node(&scenario, n)?.index()]))
                    .collect::<Result<_, _>>()?,
                addresses: scenario.addresses.clone(),
            };
            let ping = runs.run(&scenario, Ping::new(roles))?;
            Box::new(move |found: &mut Results| found.pings.push(ping))
        }
        Experiment::Congestion { queue_in_timer, short } => {
            let seen = runs.run(&scenario, Congestion::new(node(&scenario, "A")?))?;
            Box::new(move |found: &mut Results| {
                found.congestion[usize::from(short)][usize::from(queue_in_timer)].push(seen);
            })
        }
        Experiment::Survey(k) => {
            let watch = SurveyWatch::new(node(&scenario, "T2")?, node(&scenario, "T1")?);
            let survey = Survey::from(runs.run(&scenario, watch)?);
            Box::new(move |found: &mut Results| found.surveys[k].push(survey))
        }
        Experiment::BadRoute { way } => {
            let transfer = runs.run(&scenario, Transfer::new(node(&scenario, "C")?))?;
            Box::new(move |found: &mut Results| found.transfers[way].push(transfer))
        }
        Experiment::Tcp(case) => {
            let ends = scenario.flows.first().map(|f| (f.src, f.dst));
            let (from, to) = ends.ok_or_else(|| RunError::Scenario(format!("{}: no flow", scenario.name)))?;
            let watch = Connection::new(from, scenario.addresses[to.index()]);
            let (connection, summary) = runs.summarise(&scenario, watch)?;
            let connection = connection.closed(&summary);
            Box::new(move |found: &mut Results| found.connections.entry(case).or_default().push(connection))
        }
    })
}

fn behind(row: &Row) -> Vec<Experiment> {
    let congestion = |queue_in_timer, short| Experiment::Congestion { queue_in_timer, short };
    let way = || WAYS.iter().position(|w| row.row.ends_with(w.name));
    let survey = |k| vec![Experiment::Survey(k)];
    let case = |c| vec![Experiment::Tcp(c)];
    match (row.artefact.as_str(), row.row.as_str()) {
        ("Section 2", _) => vec![Experiment::Topology],
        ("Figure 7", "node A of Figure 8") => vec![congestion(true, false)],
        ("Figure 8", "without over with") => vec![congestion(false, false), congestion(true, false)],
        ("Figure 8", who) => vec![congestion(who.starts_with("with queue"), who.ends_with("octets"))],
        ("Figure 11" | "Figure 12" | "Figure 13" | "Section 7.2", "25 s apart") => survey(0),
        ("Figure 11" | "Figure 12" | "Figure 13" | "Section 7.2", "10 s apart") => survey(1),
        ("Figure 11" | "Figure 12" | "Figure 13" | "Section 7.2", _) => survey(2),
        ("Figure 15", _) => way().map(|way| Experiment::BadRoute { way }).into_iter().collect(),
        ("Figure 16", _) => {
            let mut ways: Vec<usize> = way().into_iter().chain([0]).collect();
            ways.dedup();
            ways.into_iter().map(|way| Experiment::BadRoute { way }).collect()
        }
        ("Section 6.5.3", _) => case(Case::Lab { hops: 1 }),
        ("Section 9.2", "two hops") => {
            [Case::Field { way: 0 }, Case::Lab { hops: 2 }].map(Experiment::Tcp).to_vec()
        }
        ("Section 9.2", _) => way().map(|way| Experiment::Tcp(Case::Field { way })).into_iter().collect(),
        ("Section 9", who) => match who {
            w if w.starts_with("one hop lab") => case(Case::Lab { hops: 1 }),
            w if w.starts_with("two hop lab") => case(Case::Lab { hops: 2 }),
            "one hop outdoor, 5 MB" => case(Case::Outdoor { megabytes: 5 }),
            w if w.starts_with("one hop outdoor") => case(Case::Outdoor { megabytes: 1 }),
            _ => case(Case::Field { way: 0 }),
        },
        _ => vec![Experiment::Ping],
    }
}

fn node(scenario: &Resolved, name: &str) -> Result<NodeId, RunError> {
    let at = scenario.names.iter().position(|n| n == name);
    at.map(|i| NodeId(i as u32))
        .ok_or_else(|| RunError::Scenario(format!("{}: no node {name}", scenario.name)))
}

/// What all runs showed, by experiment, in the order of the seeds.
#[derive(Default)]
struct Results {
    changes: Vec<Changes>,
    pings: Vec<Ping>,
    /// With long and with short packets, without and with the queue in the timer.
    congestion: [[Vec<Congestion>; 2]; 2],
    /// By [`SURVEYS`].
    surveys: [Vec<Survey>; SURVEYS.len()],
    transfers: [Vec<Transfer>; WAYS.len()],
    connections: Connections,
    missing: usize,
}

impl Results {
    fn sections(&self, map: Option<&Map>, first_seed: u64) -> Vec<Section> {
        let (pings, [long, short]) = (&self.pings, &self.congestion);
        let mut sections = vec![topology::section(&self.changes), totals::section(pings)];
        sections.extend(links::sections(pings, &cars(pings)));
        sections.extend([
            totals::direct_section(pings),
            spacing::section(pings),
            route_length::section(pings),
            timers::section(pings, &long[1]),
            congestion::section(long, short),
            survey::section(&self.surveys, map, first_seed),
            bad_routes::section(&self.transfers, first_seed),
            tcp::section(&self.connections, first_seed),
        ]);
        sections
    }

    fn outcome(&self, options: &Options, dir: &Path, map: Option<&Map>) -> Outcome {
        let own: [(&str, &str); 4] = [
            (
                "Paper",
                "Maltz, Broch, Johnson: Experiences Designing and Building a Multi-Hop Wireless Ad Hoc Network Testbed, CMU-CS-99-116, 1999",
            ),
            (
                "Scenarios",
                "ping.toml, congestion.toml, survey-25s.toml, survey-10s.toml, survey-50s.toml, abc.toml and tcp-lab.toml in the folder scenarios beside this page",
            ),
            (
                "Calibrated",
                "the site's loss and shadowing, with other seeds, from two figures: the total loss in Table I and \
                            the one-hop share in Table V (docs/concepts/cmu-site.md); all other numbers are predictions",
            ),
            ("Seeds", &options.seeds_in_words()),
        ];
        let page = Page {
            title: "The CMU testbed, reproduced".to_owned(),
            lead: "The numbers of the paper's evaluation and the same numbers from simulated runs of its testbed: five \
                   cars, two fixed ends, DSR with its own acknowledgements over WaveLAN-I radios. Rows without our number \
                   give the reason."
                .to_owned(),
            facts: facts(&own, missing_runs(self.missing, runs(options))),
            command: options.command("cmu"),
            sections: self.sections(map, options.first_seed),
        };
        let sources = |row: &Row| behind(row).iter().map(|e| e.plan().source(dir, options)).collect();
        Outcome::new("cmu", page, self.missing == 0, sources)
    }
}

/// The addresses of the cars; all runs have the same.
fn cars(pings: &[Ping]) -> Vec<Ipv4Addr> {
    pings.first().map_or_else(|| vec![Ipv4Addr::UNSPECIFIED; CARS.len()], |p| p.cars().to_vec())
}
