//! `wayhop reproduce`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use wayhop_report::{rows_json, rows_text};
use wayhop_reproduce::holland_vaidya::{self, Mechanism};
#[cfg(feature = "linux")]
use wayhop_reproduce::pran;
use wayhop_reproduce::{Options, cmu, das, meshtest, mule};
use wayhop_runs::interruption::stop_on_signal;
use wayhop_trace::Status;

use crate::failure::{Failure, out, say, usage};
use crate::job_progress::JobProgress;
#[cfg(feature = "linux")]
use crate::scenario_args::{number, seconds};
use crate::scenario_args::{value_name, whole};
use crate::sweep::threads;

pub(crate) const EXAMPLES: &str = "\
Writes DIR/report.html, DIR/rows.json, DIR/rows.csv and the scenarios in DIR/scenarios.

Examples:
  wayhop reproduce cmu --seeds 10 --out runs/cmu
  wayhop reproduce das --seeds 10 --out runs/das
  wayhop reproduce holland-vaidya --mechanisms elfn,tcp-f --pattern 5
  wayhop reproduce meshtest --seeds 100
  sudo wayhop reproduce meshtest --seeds 20 --emulate
  sudo wayhop reproduce pran --part demonstration --duration 180 --seeds 1";

#[derive(Debug, clap::Args)]
pub(crate) struct ReproduceArgs {
    /// Paper to reproduce
    paper: Paper,
    /// First seed of each experiment
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole(0..=1_000_000_000_u64), allow_negative_numbers = true)]
    first_seed: u64,
    /// Number of seeds per experiment. Default: 30; 5 for pran, which runs in real time; 50 for holland-vaidya, where each
    /// seed is a movement pattern; 100 for meshtest and mule
    #[arg(long, value_name = "N", value_parser = whole(1..=10_000_u64), allow_negative_numbers = true)]
    seeds: Option<u64>,
    #[cfg(feature = "linux")]
    /// pran: part to reproduce
    #[arg(long, value_name = "PART")]
    part: Option<PranPart>,
    #[cfg(feature = "linux")]
    /// pran: duration of the robot's lap around the building, 5 to 7200 s. Default: 780 s, as in the paper
    #[arg(long, value_name = "S", value_parser = lap, allow_negative_numbers = true)]
    duration: Option<f64>,
    /// holland-vaidya: mechanisms to run besides plain Reno, separated by commas, or none. Default: all
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    mechanisms: Vec<MechanismName>,
    /// holland-vaidya: pattern whose profile to draw, one of the seeds that run (repeatable). Default: the first three
    #[arg(long, value_name = "N", value_parser = whole(0..=u64::MAX))]
    pattern: Vec<u64>,
    #[cfg(feature = "linux")]
    /// meshtest: also run each experiment once in emulation, with real iperf3 (half an hour, requires root)
    #[arg(long)]
    emulate: bool,
    /// Keep the run directory of each simulated run in DIR/runs, as the commands beside the rows would
    #[arg(long)]
    keep_runs: bool,
    /// Number of runs at a time. Default: the number of processors
    #[arg(long, value_name = "N", value_parser = whole(1..=1024_u32), allow_negative_numbers = true)]
    jobs: Option<u32>,
    /// Folder for the report. Default: runs/reproduce-PAPER
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the rows as one JSON object
    #[arg(long)]
    json: bool,
    /// Print no progress or table
    #[arg(long, short)]
    quiet: bool,
}

/// The papers that can be reproduced.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Paper {
    /// Maltz, Broch, Johnson: the CMU testbed (CMU-CS-99-116, 1999)
    Cmu,
    /// Desilva, Das: Experimental Evaluation of a Wireless Ad Hoc Network (2000)
    Das,
    #[cfg(feature = "linux")]
    /// Saha and others: PRAN, routing protocols at user level (real programs; requires root)
    Pran,
    /// Holland, Vaidya: Analysis of TCP Performance over Mobile Ad Hoc Networks, Part II (1999)
    HollandVaidya,
    /// MeshTest: UDP and TCP between radios connected by a matrix of attenuators
    Meshtest,
    /// Data MULE experiments on MeshTest (Hahn and others, 2008), and routing of bundles (RFC 6693)
    Mule,
}

/// The parts of `reproduce pran`.
#[cfg(feature = "linux")]
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PranPart {
    /// Figures 5 and 7 to 9: a robot's video over a mobile mesh
    Demonstration,
    /// Table 1 and Figure 3: the cost of forwarding
    Forwarding,
    /// Both (default)
    All,
}

/// Mechanisms of `reproduce holland-vaidya`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MechanismName {
    /// Explicit link failure notification, window and timeout kept
    Elfn,
    /// Explicit link failure notification, window halved
    ElfnHalf,
    /// No doubling of the timeout after the first (Dyer and Boppana)
    FixedRto,
    /// Sender frozen until there is a route (Chandran and others)
    TcpF,
    /// Window of a quarter segment per hop, at least one segment (Fu and others)
    WindowByHops,
    /// Segments spread over time (TCP-AP)
    Pacing,
    /// Back-off reverted on ICMP messages (RFC 6069)
    #[value(name = "rfc-6069")]
    Rfc6069,
    /// Plain Reno only
    None,
}

#[cfg(feature = "linux")]
/// Shorter laps end before the video starts; longer ones are impractical.
fn lap(text: &str) -> Result<f64, String> {
    seconds(text)?;
    number(text, 5.0..=7_200.0, "give a duration from 5 to 7200 s")
}

pub(crate) fn reproduce(a: &ReproduceArgs) -> Result<ExitCode, Failure> {
    let name = value_name(&a.paper);
    if a.paper != Paper::HollandVaidya && !(a.mechanisms.is_empty() && a.pattern.is_empty()) {
        return Err(usage!(
            "--mechanisms and --pattern apply only to holland-vaidya, not to {name}; remove them"
        ));
    }
    #[cfg(feature = "linux")]
    if a.paper != Paper::Pran && (a.part.is_some() || a.duration.is_some()) {
        return Err(usage!("--part and --duration apply only to pran, not to {name}; remove them"));
    }
    #[cfg(feature = "linux")]
    let emulate = a.emulate;
    #[cfg(not(feature = "linux"))]
    let emulate = false;
    if emulate && a.paper != Paper::Meshtest {
        return Err(usage!("--emulate applies only to meshtest, not to {name}; remove it"));
    }
    let dir = a.out.clone().unwrap_or_else(|| PathBuf::from(format!("runs/reproduce-{name}")));
    let seeds = match a.paper {
        Paper::Meshtest => meshtest::PAPER_RUNS,
        Paper::Mule => mule::SEEDS,
        Paper::HollandVaidya => holland_vaidya::Options::PAPER_PATTERNS,
        #[cfg(feature = "linux")]
        Paper::Pran => pran::Options::SEEDS,
        Paper::Cmu | Paper::Das => Options::SEEDS,
    };
    let seeds = a.seeds.unwrap_or(seeds);
    let (first_seed, threads, keep_runs) = (a.first_seed, threads(a.jobs), a.keep_runs);
    let options = Options { first_seed, seeds, threads, keep_runs };
    #[cfg(feature = "linux")]
    let on_the_clock = pran_options(a, options.clone());
    let study = study_options(a, options.clone())?;
    let stop = stop_on_signal()?;
    let progress = match a.paper {
        Paper::Cmu => JobProgress::new(cmu::runs(&options), "runs", a.quiet),
        Paper::Das => JobProgress::new(das::runs(&options), "runs", a.quiet),
        #[cfg(feature = "linux")]
        Paper::Pran => JobProgress::new(pran::seconds(&on_the_clock), "s", a.quiet),
        Paper::HollandVaidya => JobProgress::new(holland_vaidya::runs(&study), "runs", a.quiet),
        Paper::Mule => JobProgress::new(mule::runs(&options), "runs", a.quiet),
        Paper::Meshtest => JobProgress::new(meshtest::runs(&options), "runs", a.quiet),
    };
    progress.at(0);
    let done = |n| progress.at(n);
    let outcome = match a.paper {
        Paper::Cmu => cmu::reproduce(&options, &dir, &stop, done),
        Paper::Das => das::reproduce(&options, &dir, &stop, done),
        #[cfg(feature = "linux")]
        Paper::Pran => pran::reproduce(&on_the_clock, &dir, &stop, done),
        Paper::Meshtest => meshtest::reproduce(&options, emulate, &dir, &stop, done),
        Paper::HollandVaidya => {
            let began = Instant::now();
            holland_vaidya::reproduce(&study, &dir, &stop, || began.elapsed().as_secs_f64(), done)
        }
        Paper::Mule => mule::reproduce(&options, &dir, &stop, done),
    };
    progress.done();
    let outcome = outcome.map_err(Failure::Run)?;
    outcome.write(&dir).map_err(Failure::run)?;
    if a.json {
        out!("{}", rows_json(outcome.paper, &outcome.rows))?;
    } else if !a.quiet {
        let text = rows_text(&outcome.rows);
        out!("{text}\nreport in {}", dir.join("report.html").display())?;
    }
    if let Some(trouble) = outcome.trouble {
        return Err(Failure::Run(format!("{trouble}; the results up to then are in {}", dir.display())));
    }
    if outcome.complete {
        return Ok(ExitCode::SUCCESS);
    }
    say!("wayhop: interrupted; the results so far are in {}", dir.display());
    Ok(Status::Interrupted.into())
}

#[cfg(feature = "linux")]
fn pran_options(a: &ReproduceArgs, runs: Options) -> pran::Options {
    pran::Options {
        runs,
        duration_s: a.duration.unwrap_or(pran::Options::PAPER_DURATION_S),
        part: match a.part {
            Some(PranPart::Demonstration) => pran::Part::Demonstration,
            Some(PranPart::Forwarding) => pran::Part::Forwarding,
            Some(PranPart::All) | None => pran::Part::All,
        },
    }
}

fn study_options(a: &ReproduceArgs, runs: Options) -> Result<holland_vaidya::Options, Failure> {
    let run = runs.first_seed..runs.first_seed + runs.seeds;
    if let Some(other) = a.pattern.iter().find(|p| !run.contains(p)) {
        let last = run.end - 1;
        return Err(usage!(
            "--pattern {other} does not run; choose one from {} to {last}, or change the range with --first-seed and \
             --seeds",
            run.start
        ));
    }
    let none = a.mechanisms.contains(&MechanismName::None);
    if none && a.mechanisms.len() > 1 {
        return Err(usage!("--mechanisms: none cannot be combined with others"));
    }
    let profiles = if a.pattern.is_empty() {
        run.take(holland_vaidya::Options::PROFILES).collect()
    } else {
        a.pattern.clone()
    };
    let mechanisms = if a.mechanisms.is_empty() {
        Mechanism::ALL.to_vec()
    } else {
        a.mechanisms.iter().filter_map(|m| mechanism(*m)).collect()
    };
    Ok(holland_vaidya::Options { runs, mechanisms, profiles })
}

const fn mechanism(name: MechanismName) -> Option<Mechanism> {
    Some(match name {
        MechanismName::Elfn => Mechanism::Elfn,
        MechanismName::ElfnHalf => Mechanism::ElfnHalf,
        MechanismName::FixedRto => Mechanism::FixedRto,
        MechanismName::TcpF => Mechanism::TcpF,
        MechanismName::WindowByHops => Mechanism::WindowByHops,
        MechanismName::Pacing => Mechanism::Pacing,
        MechanismName::Rfc6069 => Mechanism::Rfc6069,
        MechanismName::None => return None,
    })
}
