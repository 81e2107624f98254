//! S. Desilva, S. R. Das: *Experimental Evaluation of a Wireless Ad Hoc Network*, IC3N 2000.
//!
//! A chain of up to five nodes that hear their neighbours only; AODV in the profile `das` over WaveLAN-I
//! radios. Latencies are from AODV's notes on its discoveries; a loss belongs to the node that dropped the
//! packet or to the link on which it was transmitted and not received, as in the testbed's instrumentation.

mod card;
mod discoveries;
mod first_frame;
mod ftp;
#[cfg(test)]
mod ftp_tests;
mod latency;
mod losses;
mod paper;
mod tcp;
#[cfg(test)]
mod tests;
mod udp;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_core::NodeId;
use wayhop_report::{Page, Row, Section};

use crate::simulate::{each, incomplete};
use crate::{Options, Outcome, Plan, RunError, Runs};
use card::{Card, Cards, OneHop};
use discoveries::Discoveries;
use ftp::Ftp;
use losses::Losses;
use udp::{ByLoad, TENTHS};

/// The scenarios of scenarios/das.
const FILES: &[(&str, &str)] = &[
    ("card.toml", include_str!("../../../../../scenarios/das/card.toml")),
    ("discovery.toml", include_str!("../../../../../scenarios/das/discovery.toml")),
    ("udp.toml", include_str!("../../../../../scenarios/das/udp.toml")),
    ("ftp.toml", include_str!("../../../../../scenarios/das/ftp.toml")),
];

/// UDP payload of the loads, bits a packet.
const PACKET_BITS: f64 = 1_472.0 * 8.0;
/// The longest chain, hops.
const MAX_HOPS: usize = 4;

/// One run, but for its seed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Experiment {
    Card {
        from: Card,
        to: Card,
        short: bool,
    },
    Discovery {
        hops: usize,
        source: Card,
    },
    /// Where `keeps_first` is set, a receiver stays with the frame that came first.
    Udp {
        hops: usize,
        tenths: u32,
        keeps_first: bool,
    },
    /// The load of Table 3 over one hop, with routes lost by order.
    Purged,
    Ftp {
        hops: usize,
    },
}

/// All of them.
fn experiments() -> Vec<Experiment> {
    let mut all = Vec::new();
    for from in Card::BOTH {
        all.extend(Card::BOTH.map(|to| Experiment::Card { from, to, short: false }));
        all.push(Experiment::Card { from, to: Card::Isa, short: true });
    }
    all.extend([Experiment::Discovery { hops: 1, source: Card::Pcmcia }, Experiment::Purged]);
    for hops in 1..=MAX_HOPS {
        all.push(Experiment::Discovery { hops, source: Card::Isa });
        all.push(Experiment::Ftp { hops });
        all.extend(TENTHS.map(|tenths| Experiment::Udp { hops, tenths, keeps_first: false }));
    }
    for hops in first_frame::HOPS {
        all.extend(TENTHS.map(|tenths| Experiment::Udp { hops, tenths, keeps_first: true }));
    }
    all
}

/// What a run showed.
enum RunResult {
    OneHop(OneHop),
    Discoveries(Discoveries),
    Losses(Losses),
    Ftp(Ftp),
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
    let experiments = experiments();
    // Seed by seed, so that what there is after an interruption is of whole seeds.
    let jobs: Vec<(u64, Experiment)> = (options.first_seed..)
        .take(options.seeds as usize)
        .flat_map(|seed| experiments.iter().map(move |e| (seed, *e)))
        .collect();
    let mut found = Results::new();
    found.missing = each(
        &jobs,
        (options.threads, stop),
        done,
        |(seed, e)| run(&runs, *e, *seed),
        |(_, experiment), shown| found.add(*experiment, shown),
    )?;
    Ok(found.outcome(options, dir))
}

/// What gives the first nodes of a scenario these cards; PCMCIA is the radio's own.
fn cards(cards: &[Card]) -> String {
    let isa = cards.iter().enumerate().filter(|(_, c)| **c == Card::Isa);
    let nodes: Vec<String> = isa.map(|(i, _)| format!("{{ id = {i}, card = \"wavelan-i-isa\" }}")).collect();
    format!("nodes.node=[{}]", nodes.join(", "))
}

/// What makes a scenario's chain so long.
fn chain(hops: usize) -> Vec<String> {
    vec![format!("nodes.count={}", hops + 1), format!("traffic.0.dst={hops}")]
}

impl Experiment {
    fn plan(self) -> Plan {
        match self {
            Self::Card { from, to, short } => {
                let mut sets = vec![cards(&[from, to]), "captures.all=true".to_owned()];
                if short {
                    sets.push("traffic.0.payload_bytes=40".to_owned());
                }
                let length = if short { "68-bytes" } else { "mtu" };
                Plan::new(format!("card-{}-to-{}-{length}", from.column(), to.column()), "card.toml", sets)
            }
            Self::Discovery { hops, source } => {
                let sets = chain(hops).into_iter().chain([cards(&[source])]).collect();
                Plan::new(format!("discovery-{hops}-hops-{}", source.column()), "discovery.toml", sets)
            }
            Self::Udp { hops, tenths, keeps_first } => {
                let mut plan = udp_plan(hops, tenths);
                if keeps_first {
                    plan.name.push_str("-first-frame");
                    plan.sets.extend(first_frame::SETTINGS.map(str::to_owned));
                }
                plan
            }
            Self::Ftp { hops } => Plan::new(format!("ftp-{hops}-hops"), "ftp.toml", chain(hops)),
            Self::Purged => {
                let mut plan = udp_plan(1, latency::TABLE_3_TENTHS);
                plan.name.push_str("-purged");
                plan.sets.push(
                    "commands=[{ kind = \"purge-routes\", start_s = 11.0137, every_s = 1.0137 }]".to_owned(),
                );
                plan
            }
        }
    }
}

fn udp_plan(hops: usize, tenths: u32) -> Plan {
    let mut sets = chain(hops);
    sets.push(format!("traffic.0.rate_pps={}", f64::from(tenths) * 1e5 / PACKET_BITS));
    Plan::new(format!("udp-{hops}-hops-0.{tenths}-mbps"), "udp.toml", sets)
}

fn run(runs: &Runs<'_>, experiment: Experiment, seed: u64) -> Result<RunResult, RunError> {
    let ready = runs.ready(&experiment.plan(), seed)?;
    match experiment {
        Experiment::Card { .. } => runs.run(&ready, OneHop::default()).map(RunResult::OneHop),
        Experiment::Discovery { hops, .. } => {
            let watch = Discoveries::new(NodeId(0), ready.addresses[hops]);
            runs.run(&ready, watch).map(RunResult::Discoveries)
        }
        Experiment::Udp { hops, .. } => {
            runs.run(&ready, Losses::new(hops, ready.addresses[hops])).map(RunResult::Losses)
        }
        Experiment::Purged => runs.run(&ready, Losses::new(1, ready.addresses[1])).map(RunResult::Losses),
        Experiment::Ftp { hops } => {
            let (ftp, summary) = runs.summarise(&ready, Ftp::new(hops))?;
            Ok(RunResult::Ftp(ftp.closed(&summary)))
        }
    }
}

/// The experiments that a row is taken from.
fn behind(row: &Row) -> Vec<Experiment> {
    let card = if row.row == "ISA" { Card::Isa } else { Card::Pcmcia };
    let hops = row.row.split_whitespace().next().and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
    let udp = |hops, tenths| Experiment::Udp { hops, tenths, keeps_first: false };
    let at_load = || TENTHS.filter(|t| row.row == format!("0.{t} Mb/s"));
    match (row.artefact.as_str(), row.row.as_str()) {
        ("Table 1", _) => {
            let (from, to) =
                if row.quantity == "max_received_mbps" { (Card::Isa, card) } else { (card, Card::Isa) };
            vec![Experiment::Card { from, to, short: row.quantity == "transmit_rreq_ms" }]
        }
        ("Table 2", "per hop after the first") => {
            [1, MAX_HOPS].map(|hops| Experiment::Discovery { hops, source: Card::Isa }).to_vec()
        }
        ("Table 2", _) => vec![Experiment::Discovery { hops, source: Card::Isa }],
        ("Section 4.1", _) => vec![Experiment::Discovery { hops: 1, source: Card::Pcmcia }],
        ("Table 3", "1 hop, routes purged") => vec![Experiment::Purged],
        ("Table 3", _) => vec![udp(hops, latency::TABLE_3_TENTHS)],
        ("Figure 2", _) => TENTHS.map(|t| udp(hops, t)).collect(),
        ("Table 4", _) => at_load().map(|t| udp(3, t)).collect(),
        ("Table 5", _) => at_load().map(|t| udp(4, t)).collect(),
        ("Figure 3", _) => vec![Experiment::Ftp { hops }],
        _ => vec![],
    }
}

/// What all runs showed, by experiment, in the order of the seeds.
struct Results {
    cards: Cards,
    /// By hops.
    discoveries: [Vec<Discoveries>; MAX_HOPS],
    from_a_laptop: Vec<Discoveries>,
    purged: Vec<Losses>,
    /// By hops.
    ftp: [Vec<Ftp>; MAX_HOPS],
    /// By hops, then by load.
    udp: [ByLoad; MAX_HOPS],
    /// The same where a receiver stays with the frame that came first.
    first_frame: [ByLoad; MAX_HOPS],
    missing: usize,
}

impl Results {
    fn new() -> Self {
        Self {
            cards: Cards::default(),
            discoveries: Default::default(),
            from_a_laptop: Vec::new(),
            purged: Vec::new(),
            ftp: Default::default(),
            udp: std::array::from_fn(|_| TENTHS.map(|_| Vec::new()).collect()),
            first_frame: std::array::from_fn(|_| TENTHS.map(|_| Vec::new()).collect()),
            missing: 0,
        }
    }

    fn add(&mut self, experiment: Experiment, shown: RunResult) {
        match (experiment, shown) {
            (Experiment::Card { from, short: true, .. }, RunResult::OneHop(o)) => {
                self.cards.short[from as usize].push(o);
            }
            (Experiment::Card { from, to, .. }, RunResult::OneHop(o)) => {
                self.cards.mtu[from as usize][to as usize].push(o);
            }
            (Experiment::Discovery { source: Card::Pcmcia, .. }, RunResult::Discoveries(d)) => {
                self.from_a_laptop.push(d);
            }
            (Experiment::Discovery { hops, .. }, RunResult::Discoveries(d)) => {
                self.discoveries[hops - 1].push(d);
            }
            (Experiment::Udp { hops, tenths, keeps_first }, RunResult::Losses(l)) => {
                let by_hops = if keeps_first { &mut self.first_frame } else { &mut self.udp };
                by_hops[hops - 1][(tenths - TENTHS.start()) as usize].push(l);
            }
            (Experiment::Purged, RunResult::Losses(l)) => self.purged.push(l),
            (Experiment::Ftp { hops }, RunResult::Ftp(f)) => self.ftp[hops - 1].push(f),
            // `run` answers each experiment in kind.
            _ => {}
        }
    }

    fn sections(&self, first_seed: u64) -> Vec<Section> {
        let at_load = (latency::TABLE_3_TENTHS - TENTHS.start()) as usize;
        let loaded: [&[Losses]; MAX_HOPS] = std::array::from_fn(|h| self.udp[h][at_load].as_slice());
        vec![
            card::section(&self.cards),
            latency::without_load(&self.discoveries, &self.from_a_laptop),
            latency::with_load(&loaded, &self.purged),
            udp::throughput(&self.udp),
            udp::losses("Table 4", 3, &self.udp[2], TABLE_4),
            udp::losses("Table 5", 4, &self.udp[3], TABLE_5),
            first_frame::section(&self.udp, &self.first_frame),
            tcp::section(&self.ftp, first_seed),
        ]
    }

    fn outcome(&self, options: &Options, dir: &Path) -> Outcome {
        let fact = |what: &str, value: String| (what.to_owned(), value);
        let mut facts = vec![
            fact(
                "Paper",
                "Desilva, Das: Experimental Evaluation of a Wireless Ad Hoc Network, IC3N 2000".to_owned(),
            ),
            fact(
                "Scenarios",
                "card.toml, discovery.toml, udp.toml and ftp.toml in the folder scenarios beside this page"
                    .to_owned(),
            ),
            fact(
                "Calibrated",
                "nothing: the cards' figures are from Table 1, and the radio is the preset wavelan-i. For what the paper \
                 leaves open, see docs/concepts/reproductions.md"
                    .to_owned(),
            ),
            fact("Seeds", options.seeds_in_words()),
            fact("Version", format!("wayhop {}", wayhop_core::version::full())),
        ];
        facts.extend(incomplete(self.missing, runs(options)));
        let page = Page {
            title: "The AODV testbed, reproduced".to_owned(),
            lead: "Every number of the paper's evaluation and the same number from simulated runs: a chain of a desktop \
                   computer and four laptops, AODV with Hellos over WaveLAN-I radios without acknowledgements."
                .to_owned(),
            facts,
            command: options.command("das"),
            sections: self.sections(options.first_seed),
        };
        let sources = |row: &Row| behind(row).iter().map(|e| e.plan().source(dir, options)).collect();
        Outcome::new("das", page, self.missing == 0, sources)
    }
}

/// What there is to say of Table 4.
const TABLE_4: &[&str] = &[
    "Node x: dropped by its routing (no route, or more than 30 packets waiting for one). Node x to x + 1: transmitted by \
     the first and not received by the second. Runs continue until every packet has ended, so the shares of a load add up \
     to 100 %.",
    "Nodes 1 and 3 do not hear each other, and their simultaneous transmissions collide at node 2: UDP from node 1, and \
     Hellos from node 3, whose loss makes node 2 give up its route. The knee is where a packet is still two hops ahead \
     when the next one starts: 30 ms with these cards, 0.4 Mb/s, and less for packets that follow sooner than the mean.",
    "From 0.3 Mb/s, we lose two to four times as much between nodes 1 and 2 as the paper. Up to 0.6 Mb/s the paper also \
     loses nearly everything there, so our received share is too low by this link's excess; from 0.7 Mb/s it loses as much \
     at nodes 1 and 2 and between nodes 2 and 3, where we lose almost nothing.",
];

/// What there is to say of Table 5.
const TABLE_5: &[&str] = &[
    "Like Table 4, but node 4 sends too: packets from node 2 collide with its packets at node 3.",
    "The paper loses most between nodes 2 and 3 (13 to 42 % from 0.5 Mb/s on) and at nodes 1 and 2, and 0.4 to 6.3 % \
     between nodes 1 and 2 up to 0.8 Mb/s. We lose 20 to 38 % between nodes 1 and 2, and half as much as the paper between \
     nodes 2 and 3. The paper's drops at node 1 are packets that waited too long for a route; ours are few because our \
     discoveries are repeated less often (Table 3).",
];
