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

use crate::simulate::{each, incomplete};
use crate::{Options, Outcome, Plan, RunError, Runs};
use bad_routes::{Transfer, WAYS};
use congestion::Congestion;
use ping::{Ping, Roles};
use survey::{Survey, SurveyWatch, Surveys};
use topology::Changes;
use transfer::{Case, Connection};

/// The scenarios of scenarios/cmu.
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

/// The experiments, each with its scenario file and what is set in it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Experiment {
    /// The movement of the ping test, without a packet.
    Topology,
    Ping,
    Congestion {
        queue_in_timer: bool,
        short: bool,
    },
    Survey {
        file: &'static str,
    },
    BadRoute {
        way: usize,
    },
    Tcp(Case),
}

/// All but the transfers over TCP.
const EXPERIMENTS: [Experiment; 9 + WAYS.len()] = [
    Experiment::Topology,
    Experiment::Ping,
    Experiment::Congestion { queue_in_timer: false, short: false },
    Experiment::Congestion { queue_in_timer: true, short: false },
    Experiment::Congestion { queue_in_timer: false, short: true },
    Experiment::Congestion { queue_in_timer: true, short: true },
    Experiment::Survey { file: "survey-25s.toml" },
    Experiment::Survey { file: "survey-10s.toml" },
    Experiment::Survey { file: "survey-50s.toml" },
    Experiment::BadRoute { way: 0 },
    Experiment::BadRoute { way: 1 },
    Experiment::BadRoute { way: 2 },
    Experiment::BadRoute { way: 3 },
    Experiment::BadRoute { way: 4 },
    Experiment::BadRoute { way: 5 },
];

/// All of them.
fn experiments() -> Vec<Experiment> {
    let transfers = Case::all().into_iter().map(Experiment::Tcp);
    EXPERIMENTS.into_iter().chain(transfers).collect()
}

/// What a run showed.
enum RunResult {
    Topology(Changes),
    Ping(Box<Ping>),
    Congestion(Congestion),
    Survey(Survey),
    Transfer(Transfer),
    Connection(Connection),
}

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
    let runs = Runs::new(dir, FILES, options.keep_runs, stop).map_err(|e| e.to_string())?;
    // Seed by seed, so that what there is after an interruption is of whole seeds.
    let jobs: Vec<(u64, Experiment)> = (options.first_seed..)
        .take(options.seeds as usize)
        .flat_map(|seed| experiments().into_iter().map(move |e| (seed, e)))
        .collect();
    let mut found = Results::default();
    found.missing = each(
        &jobs,
        (options.threads, stop),
        done,
        |(seed, e)| run(&runs, *e, *seed),
        |(_, experiment), shown| found.add(*experiment, shown),
    )?;
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
            Self::Survey { file } => {
                Plan::new(file.strip_suffix(".toml").unwrap_or(file), file, vec![captures()])
            }
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

fn run(runs: &Runs<'_>, experiment: Experiment, seed: u64) -> Result<RunResult, RunError> {
    let scenario = runs.ready(&experiment.plan(), seed)?;
    match experiment {
        Experiment::Topology => {
            let ends = [node(&scenario, "E1")?, node(&scenario, "E2")?];
            Ok(RunResult::Topology(Changes::new(&scenario, ends)))
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
            runs.run(&scenario, Ping::new(roles)).map(|p| RunResult::Ping(Box::new(p)))
        }
        Experiment::Congestion { .. } => {
            runs.run(&scenario, Congestion::new(node(&scenario, "A")?)).map(RunResult::Congestion)
        }
        Experiment::Survey { .. } => {
            let watch = SurveyWatch::new(node(&scenario, "T2")?, node(&scenario, "T1")?);
            runs.run(&scenario, watch).map(|w| RunResult::Survey(w.into()))
        }
        Experiment::BadRoute { .. } => {
            runs.run(&scenario, Transfer::new(node(&scenario, "C")?)).map(RunResult::Transfer)
        }
        Experiment::Tcp(_) => {
            let ends = scenario.flows.first().map(|f| (f.src, f.dst));
            let (from, to) = ends.ok_or_else(|| RunError::Scenario(format!("{}: no flow", scenario.name)))?;
            let watch = Connection::new(from, scenario.addresses[to.index()]);
            let (connection, summary) = runs.summarise(&scenario, watch)?;
            Ok(RunResult::Connection(connection.closed(&summary)))
        }
    }
}

/// The experiments that a row is taken from.
fn behind(row: &Row) -> Vec<Experiment> {
    let congestion = |queue_in_timer, short| Experiment::Congestion { queue_in_timer, short };
    let way = || WAYS.iter().position(|w| row.row.ends_with(w.name));
    let survey = |file| vec![Experiment::Survey { file }];
    let case = |c| vec![Experiment::Tcp(c)];
    match (row.artefact.as_str(), row.row.as_str()) {
        ("Section 2", _) => vec![Experiment::Topology],
        ("Figure 7", "node A of Figure 8") => vec![congestion(true, false)],
        ("Figure 8", "without over with") => vec![congestion(false, false), congestion(true, false)],
        ("Figure 8", who) => vec![congestion(who.starts_with("with queue"), who.ends_with("octets"))],
        ("Figure 11" | "Figure 12" | "Figure 13" | "Section 7.2", "25 s apart") => survey("survey-25s.toml"),
        ("Figure 11" | "Figure 12" | "Figure 13" | "Section 7.2", "10 s apart") => survey("survey-10s.toml"),
        ("Figure 11" | "Figure 12" | "Figure 13" | "Section 7.2", _) => survey("survey-50s.toml"),
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
    /// Without and with the queue in the timer.
    congestion: [Vec<Congestion>; 2],
    /// The same with short packets.
    short: [Vec<Congestion>; 2],
    at_25_s: Vec<Survey>,
    at_10_s: Vec<Survey>,
    at_50_s: Vec<Survey>,
    transfers: [Vec<Transfer>; WAYS.len()],
    /// In the order of [`Case::all`].
    connections: tcp::Transfers,
    missing: usize,
}

impl Results {
    fn add(&mut self, experiment: Experiment, shown: RunResult) {
        match (experiment, shown) {
            (_, RunResult::Topology(c)) => self.changes.push(c),
            (_, RunResult::Ping(p)) => self.pings.push(*p),
            (Experiment::Congestion { queue_in_timer, short }, RunResult::Congestion(c)) => {
                let runs = if short { &mut self.short } else { &mut self.congestion };
                runs[usize::from(queue_in_timer)].push(c);
            }
            (Experiment::Survey { file: "survey-10s.toml" }, RunResult::Survey(s)) => self.at_10_s.push(s),
            (Experiment::Survey { file: "survey-50s.toml" }, RunResult::Survey(s)) => self.at_50_s.push(s),
            (_, RunResult::Survey(s)) => self.at_25_s.push(s),
            (Experiment::BadRoute { way }, RunResult::Transfer(t)) => self.transfers[way].push(t),
            (Experiment::Tcp(case), RunResult::Connection(c)) => {
                self.connections.resize_with(Case::all().len(), Vec::new);
                let of = Case::all().iter().position(|other| *other == case);
                if let Some(list) = of.and_then(|i| self.connections.get_mut(i)) {
                    list.push(c);
                }
            }
            (_, RunResult::Congestion(_) | RunResult::Transfer(_) | RunResult::Connection(_)) => {}
        }
    }

    fn sections(&self, map: Option<&Map>, first_seed: u64) -> Vec<Section> {
        let pings = &self.pings;
        let surveys = Surveys { near: &self.at_10_s, middle: &self.at_25_s, far: &self.at_50_s };
        let mut sections = vec![topology::section(&self.changes), totals::section(pings)];
        sections.extend(links::sections(pings, &cars(pings)));
        sections.extend([
            totals::direct_section(pings),
            spacing::section(pings),
            route_length::section(pings),
            timers::section(pings, &self.congestion[1]),
            congestion::section(&self.congestion, &self.short),
            survey::section(&surveys, map, first_seed),
            bad_routes::section(&self.transfers, first_seed),
            tcp::section(&self.connections, first_seed),
        ]);
        sections
    }

    fn outcome(&self, options: &Options, dir: &Path, map: Option<&Map>) -> Outcome {
        let fact = |what: &str, value: String| (what.to_owned(), value);
        let mut facts = vec![
            fact("Paper", "Maltz, Broch, Johnson: Experiences Designing and Building a Multi-Hop Wireless Ad Hoc Network Testbed, CMU-CS-99-116, 1999".to_owned()),
            fact("Scenarios", "ping.toml, congestion.toml, survey-25s.toml, survey-10s.toml, survey-50s.toml, abc.toml and tcp-lab.toml in the folder scenarios beside this page".to_owned()),
            fact("Calibrated", "the site's loss and shadowing, with other seeds, from two figures: the total loss in Table \
                                I and the one-hop share in Table V (docs/concepts/cmu-site.md); all other numbers are \
                                predictions".to_owned()),
            fact("Seeds", options.seeds_in_words()),
            fact("Version", format!("wayhop {}", wayhop_core::version::full())),
        ];
        facts.extend(incomplete(self.missing, runs(options)));
        let page = Page {
            title: "The CMU testbed, reproduced".to_owned(),
            lead: "The numbers of the paper's evaluation and the same numbers from simulated runs of its testbed: five \
                   cars, two fixed ends, DSR with its own acknowledgements over WaveLAN-I radios. Rows without our number \
                   give the reason."
                .to_owned(),
            facts,
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
