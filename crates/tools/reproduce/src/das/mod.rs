//! S. Desilva, S. R. Das: *Experimental Evaluation of a Wireless Ad Hoc Network*, IC3N 2000.
//!
//! A chain of up to five nodes that hear their neighbours only; AODV in the profile `das` over WaveLAN-I
//! radios. Latencies are from AODV's notes on its discoveries; a loss belongs to the node that dropped the
//! packet or to the link on which it was transmitted and not received, as in the testbed's instrumentation.

mod card;
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

use crate::outcome::{facts, missing_runs};
use crate::simulate::{by_seed, each};
use crate::{Options, Outcome, Plan, RunError, Runs};
use card::{Card, Cards, OneHop};
use ftp::Ftp;
use losses::{Discoveries, Losses};
use udp::{ByLoad, TENTHS};

const FILES: &[(&str, &str)] = &[
    ("card.toml", include_str!("../../../../../scenarios/das/card.toml")),
    ("discovery.toml", include_str!("../../../../../scenarios/das/discovery.toml")),
    ("udp.toml", include_str!("../../../../../scenarios/das/udp.toml")),
    ("ftp.toml", include_str!("../../../../../scenarios/das/ftp.toml")),
];

/// UDP payload of the loads, bits a packet.
const PACKET_BITS: f64 = 1_472.0 * 8.0;
const MAX_HOPS: usize = 4;

/// Where `keeps_first` is set, a receiver stays with the frame that came first. `Purged` is the load of Table 3 over one hop,
/// with routes lost by order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Experiment {
    Card { from: Card, to: Card, short: bool },
    Discovery { hops: usize, source: Card },
    Udp { hops: usize, tenths: u32, keeps_first: bool },
    Purged,
    Ftp { hops: usize },
}

fn experiments() -> Vec<Experiment> {
    let mut all = Vec::new();
    for from in Card::ALL {
        all.extend(Card::ALL.map(|to| Experiment::Card { from, to, short: false }));
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
    let mut found = Results::new();
    let run = |(seed, e): &(u64, Experiment)| run(&runs, *e, *seed);
    found.missing = each(&jobs, (options.threads, stop), done, run, |_, add: Addition| add(&mut found))?;
    Ok(found.outcome(options, dir))
}

/// What gives the first nodes of a scenario these cards; PCMCIA is the radio's own.
fn cards(cards: &[Card]) -> String {
    let isa = cards.iter().enumerate().filter(|(_, c)| **c == Card::Isa);
    let nodes: Vec<String> = isa.map(|(i, _)| format!("{{ id = {i}, card = \"wavelan-i-isa\" }}")).collect();
    format!("nodes.node=[{}]", nodes.join(", "))
}

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

fn run(runs: &Runs<'_>, experiment: Experiment, seed: u64) -> Result<Addition, RunError> {
    let ready = runs.ready(&experiment.plan(), seed)?;
    let losses = |hops: usize| runs.run(&ready, Losses::new(hops, ready.addresses[hops]));
    Ok(match experiment {
        Experiment::Card { from, to, short } => {
            let one_hop = runs.run(&ready, OneHop::default())?;
            Box::new(move |found: &mut Results| {
                let (from, to, cards) = (from as usize, to as usize, &mut found.cards);
                let list = if short { &mut cards.short[from] } else { &mut cards.mtu[from][to] };
                list.push(one_hop);
            })
        }
        Experiment::Discovery { hops, source } => {
            let seen = runs.run(&ready, Discoveries::new(NodeId(0), ready.addresses[hops]))?;
            Box::new(move |found: &mut Results| match source {
                Card::Pcmcia => found.from_a_laptop.push(seen),
                Card::Isa => found.discoveries[hops - 1].push(seen),
            })
        }
        Experiment::Udp { hops, tenths, keeps_first } => {
            let losses = losses(hops)?;
            Box::new(move |found: &mut Results| {
                let by_hops = if keeps_first { &mut found.first_frame } else { &mut found.udp };
                by_hops[hops - 1][(tenths - TENTHS.start()) as usize].push(losses);
            })
        }
        Experiment::Purged => {
            let losses = losses(1)?;
            Box::new(move |found: &mut Results| found.purged.push(losses))
        }
        Experiment::Ftp { hops } => {
            let (ftp, summary) = runs.summarise(&ready, Ftp::new(hops))?;
            Box::new(move |found: &mut Results| found.ftp[hops - 1].push(ftp.closed(&summary)))
        }
    })
}

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
#[derive(Default)]
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
        let empty = || std::array::from_fn(|_| TENTHS.map(|_| Vec::new()).collect());
        Self { udp: empty(), first_frame: empty(), ..Self::default() }
    }

    fn sections(&self, first_seed: u64) -> Vec<Section> {
        let at_load = (latency::TABLE_3_TENTHS - TENTHS.start()) as usize;
        let loaded: [&[Losses]; MAX_HOPS] = std::array::from_fn(|h| self.udp[h][at_load].as_slice());
        vec![
            card::section(&self.cards),
            latency::without_load(&self.discoveries, &self.from_a_laptop),
            latency::with_load(&loaded, &self.purged),
            udp::throughput(&self.udp),
            udp::losses("Table 4", 3, &self.udp[2], udp::TABLE_4),
            udp::losses("Table 5", 4, &self.udp[3], udp::TABLE_5),
            first_frame::section(&self.udp, &self.first_frame),
            tcp::section(&self.ftp, first_seed),
        ]
    }

    fn outcome(&self, options: &Options, dir: &Path) -> Outcome {
        let own: [(&str, &str); 4] = [
            ("Paper", "Desilva, Das: Experimental Evaluation of a Wireless Ad Hoc Network, IC3N 2000"),
            (
                "Scenarios",
                "card.toml, discovery.toml, udp.toml and ftp.toml in the folder scenarios beside this page",
            ),
            (
                "Calibrated",
                "nothing: the cards' figures are from Table 1, and the radio is the preset wavelan-i. For what the paper \
                 leaves open, see docs/concepts/reproductions.md",
            ),
            ("Seeds", &options.seeds_in_words()),
        ];
        let page = Page {
            title: "The AODV testbed, reproduced".to_owned(),
            lead: "Every number of the paper's evaluation and the same number from simulated runs: a chain of a desktop \
                   computer and four laptops, AODV with Hellos over WaveLAN-I radios without acknowledgements."
                .to_owned(),
            facts: facts(&own, missing_runs(self.missing, runs(options))),
            command: options.command("das"),
            sections: self.sections(options.first_seed),
        };
        let sources = |row: &Row| behind(row).iter().map(|e| e.plan().source(dir, options)).collect();
        Outcome::new("das", page, self.missing == 0, sources)
    }
}
