//! S. Desilva, S. R. Das: *Experimental Evaluation of a Wireless Ad Hoc Network*, IC3N 2000.
//!
//! A chain of up to five nodes that hear their neighbours only; AODV in the profile `das` over WaveLAN-I radios. Latencies are
//! what AODV remarks of its discoveries; a loss belongs to the node that dropped the packet or to the link on which
//! it was transmitted and not received, as the testbed's instrumentation had it.

mod card;
mod discoveries;
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
use wayhop_report::{Page, Section};
use wayhop_runs::jobs;

use crate::{Options, Outcome, RunError, Runs};
use card::{Card, Cards, OneHop};
use discoveries::Discoveries;
use ftp::Ftp;
use losses::Losses;
use udp::{ByLoad, TENTHS};

/// The scenarios of scenarios/das.
const FILES: &[(&str, &str)] = &[
    ("card.toml", include_str!("../../../../scenarios/das/card.toml")),
    ("discovery.toml", include_str!("../../../../scenarios/das/discovery.toml")),
    ("udp.toml", include_str!("../../../../scenarios/das/udp.toml")),
    ("ftp.toml", include_str!("../../../../scenarios/das/ftp.toml")),
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
    Udp {
        hops: usize,
        tenths: u32,
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
        all.extend(TENTHS.map(|tenths| Experiment::Udp { hops, tenths }));
    }
    all
}

/// What a run showed.
enum Shown {
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
    let runs = Runs::new(dir.join("scenarios"), FILES, stop).map_err(|e| e.to_string())?;
    let experiments = experiments();
    // Seed by seed, so that what there is after an interruption is of whole seeds.
    let jobs: Vec<(u64, Experiment)> = (options.first_seed..)
        .take(options.seeds as usize)
        .flat_map(|seed| experiments.iter().map(move |e| (seed, *e)))
        .collect();
    let results = jobs::run(&jobs, options.threads, stop, done, |(seed, e)| run(&runs, *e, *seed));
    let mut found = Found::new();
    for ((_, experiment), result) in jobs.iter().zip(results) {
        match result {
            Some(Ok(shown)) => found.add(*experiment, shown),
            Some(Err(RunError::Scenario(e))) => return Err(e),
            Some(Err(RunError::Stopped)) | None => found.missing += 1,
        }
    }
    Ok(found.outcome(options))
}

/// What gives the first nodes of a scenario these cards; PCMCIA is the radio's own.
fn cards(cards: &[Card]) -> String {
    let isa = cards.iter().enumerate().filter(|(_, c)| **c == Card::Isa);
    let nodes: Vec<String> = isa.map(|(i, _)| format!("{{ id = {i}, card = \"wavelan-i-isa\" }}")).collect();
    format!("nodes.node=[{}]", nodes.join(", "))
}

/// What makes a scenario's chain so long.
fn chain(hops: usize) -> [String; 2] {
    [format!("nodes.count={}", hops + 1), format!("traffic.0.dst={hops}")]
}

fn run(runs: &Runs<'_>, experiment: Experiment, seed: u64) -> Result<Shown, RunError> {
    let mut sets = vec![format!("seed={seed}")];
    match experiment {
        Experiment::Card { from, to, short } => {
            sets.extend([cards(&[from, to]), "captures.all=true".to_owned()]);
            if short {
                sets.push("traffic.0.payload_bytes=40".to_owned());
            }
            let scenario = runs.resolve("card.toml", &sets)?;
            runs.run(&scenario, OneHop::default()).map(Shown::OneHop)
        }
        Experiment::Discovery { hops, source } => {
            sets.extend(chain(hops));
            sets.push(cards(&[source]));
            let scenario = runs.resolve("discovery.toml", &sets)?;
            let watch = Discoveries::new(NodeId(0), scenario.addresses[hops]);
            runs.run(&scenario, watch).map(Shown::Discoveries)
        }
        Experiment::Udp { hops, tenths } => udp_run(runs, sets, hops, tenths),
        Experiment::Ftp { hops } => {
            sets.extend(chain(hops));
            let scenario = runs.resolve("ftp.toml", &sets)?;
            let (ftp, summary) = runs.summarise(&scenario, Ftp::new(hops))?;
            Ok(Shown::Ftp(ftp.closed(&summary)))
        }
        Experiment::Purged => {
            sets.push(
                "commands=[{ kind = \"purge-routes\", start_s = 11.0137, every_s = 1.0137 }]".to_owned(),
            );
            udp_run(runs, sets, 1, latency::TABLE_3_TENTHS)
        }
    }
}

fn udp_run(runs: &Runs<'_>, mut sets: Vec<String>, hops: usize, tenths: u32) -> Result<Shown, RunError> {
    sets.extend(chain(hops));
    sets.push(format!("traffic.0.rate_pps={}", f64::from(tenths) * 1e5 / PACKET_BITS));
    let scenario = runs.resolve("udp.toml", &sets)?;
    runs.run(&scenario, Losses::new(hops, scenario.addresses[hops])).map(Shown::Losses)
}

/// What all runs showed, by experiment, in the order of the seeds.
struct Found {
    cards: Cards,
    /// By hops.
    discoveries: [Vec<Discoveries>; MAX_HOPS],
    from_a_laptop: Vec<Discoveries>,
    purged: Vec<Losses>,
    /// By hops.
    ftp: [Vec<Ftp>; MAX_HOPS],
    /// By hops, then by load.
    udp: [ByLoad; MAX_HOPS],
    missing: usize,
}

impl Found {
    fn new() -> Self {
        Self {
            cards: Cards::default(),
            discoveries: Default::default(),
            from_a_laptop: Vec::new(),
            purged: Vec::new(),
            ftp: Default::default(),
            udp: std::array::from_fn(|_| TENTHS.map(|_| Vec::new()).collect()),
            missing: 0,
        }
    }

    fn add(&mut self, experiment: Experiment, shown: Shown) {
        match (experiment, shown) {
            (Experiment::Card { from, short: true, .. }, Shown::OneHop(o)) => {
                self.cards.short[from as usize].push(o);
            }
            (Experiment::Card { from, to, .. }, Shown::OneHop(o)) => {
                self.cards.mtu[from as usize][to as usize].push(o);
            }
            (Experiment::Discovery { source: Card::Pcmcia, .. }, Shown::Discoveries(d)) => {
                self.from_a_laptop.push(d);
            }
            (Experiment::Discovery { hops, .. }, Shown::Discoveries(d)) => self.discoveries[hops - 1].push(d),
            (Experiment::Udp { hops, tenths }, Shown::Losses(l)) => {
                self.udp[hops - 1][(tenths - TENTHS.start()) as usize].push(l);
            }
            (Experiment::Purged, Shown::Losses(l)) => self.purged.push(l),
            (Experiment::Ftp { hops }, Shown::Ftp(f)) => self.ftp[hops - 1].push(f),
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
            tcp::section(&self.ftp, first_seed),
        ]
    }

    fn outcome(&self, options: &Options) -> Outcome {
        let sections = self.sections(options.first_seed);
        let mut rows: Vec<_> = sections.iter().flat_map(|s| s.rows.iter().cloned()).collect();
        for r in rows.iter_mut().filter(|r| r.ours.is_none() && r.note.is_empty()) {
            "No run that was made showed it.".clone_into(&mut r.note);
        }
        let fact = |what: &str, value: String| (what.to_owned(), value);
        let mut facts = vec![
            fact("Paper", "Desilva, Das: Experimental Evaluation of a Wireless Ad Hoc Network, IC3N 2000".to_owned()),
            fact("Scenarios", "card.toml, discovery.toml, udp.toml and ftp.toml in the folder scenarios beside this page".to_owned()),
            fact("Calibrated", "nothing: the cards' figures are Table 1's, the radio is the preset wavelan-i. What the paper leaves open, and how much hangs on it, is in docs/concepts/reproductions.md".to_owned()),
            fact("Seeds", options.seeds_in_words()),
            fact("Version", format!("wayhop {}", env!("CARGO_PKG_VERSION"))),
        ];
        if self.missing > 0 {
            facts.push(fact(
                "Incomplete",
                format!("stopped; {} of {} runs were not made", self.missing, runs(options)),
            ));
        }
        let page = Page {
            title: "The AODV testbed, reproduced".to_owned(),
            lead: "Every number of the paper's evaluation beside the same number taken from simulated runs: a chain of a desktop \
                   computer and four laptops, AODV with Hellos over WaveLAN-I radios that acknowledge nothing."
                .to_owned(),
            facts,
            command: options.command("das"),
            sections,
        };
        Outcome { paper: "das", rows, page, complete: self.missing == 0, trouble: None }
    }
}

/// What there is to say of Table 4.
const TABLE_4: &[&str] = &[
    "Node x: dropped by its routing (no route, or more than 30 packets before one was found). Node x to x + 1: transmitted by the \
     one and not received by the other. The runs go on until every packet has ended, so that the shares of a load make 100 %.",
    "Nodes 1 and 3 do not hear each other, and what both send at a time collides at node 2: UDP from node 1, and Hellos from node 3, \
     whose loss makes node 2 give up its route. The knee is where a packet is still two hops on when the next one starts: 30 ms \
     with these cards, 0.4 Mb/s, and earlier for packets that leave sooner than the mean.",
    "We lose more between nodes 1 and 2 and less at the nodes and behind. Here all neighbours are equally far, and of two frames that \
     collide at node 2 neither is strong enough to be received for all that; in a laboratory they were not. With node 1 \
     at 112 m from node 2 instead of 200 m, 10 dB stronger than node 3, node 1 to 2 loses nothing up to 0.9 Mb/s and the losses move \
     to node 2 (25 %) and node 3 (19 %).",
];

/// What there is to say of Table 5.
const TABLE_5: &[&str] = &[
    "As Table 4, with node 4 now sending, too: packets from node 2 collide with it at node 3.",
    "With node 1 at 112 m the losses are where the paper has them: none between nodes 1 and 2, 39 % between 2 and 3 at 0.6 Mb/s, 21 % \
     at node 2 at 0.9 Mb/s. The paper's 14 to 25 % at node 1 are packets that waited for a route for too long; ours are few because \
     our discoveries are repeated less often (Table 3).",
];
