//! The arguments of `wayhop reproduce`.

use std::path::PathBuf;

#[cfg(feature = "linux")]
use crate::scenario_args::seconds;
use crate::scenario_args::whole;

/// Examples for the help.
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
    pub(crate) paper: Paper,
    /// First seed of each experiment
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole(0..=1_000_000_000_u64), allow_negative_numbers = true)]
    pub(crate) first_seed: u64,
    /// Number of seeds per experiment. Default: 30; 5 for pran, which runs in real time; 50 for holland-vaidya, where each
    /// seed is a movement pattern; 100 for meshtest and mule
    #[arg(long, value_name = "N", value_parser = whole(1..=10_000_u64), allow_negative_numbers = true)]
    pub(crate) seeds: Option<u64>,
    #[cfg(feature = "linux")]
    /// pran: part to reproduce
    #[arg(long, value_name = "PART")]
    pub(crate) part: Option<PranPart>,
    #[cfg(feature = "linux")]
    /// pran: duration of the robot's lap around the building, 5 to 7200 s. Default: 780 s, as in the paper
    #[arg(long, value_name = "S", value_parser = lap, allow_negative_numbers = true)]
    pub(crate) duration: Option<f64>,
    /// holland-vaidya: mechanisms to run besides plain Reno, separated by commas, or none. Default: all
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) mechanisms: Vec<MechanismName>,
    /// holland-vaidya: pattern whose profile to draw, one of the seeds that run (repeatable). Default: the first three
    #[arg(long, value_name = "N", value_parser = whole(0..=u64::MAX))]
    pub(crate) pattern: Vec<u64>,
    #[cfg(feature = "linux")]
    /// meshtest: also run each experiment once in emulation, with real iperf3 (half an hour, requires root)
    #[arg(long)]
    pub(crate) emulate: bool,
    /// Keep the run directory of each simulated run in DIR/runs, as the commands beside the rows would
    #[arg(long)]
    pub(crate) keep_runs: bool,
    /// Number of runs at a time. Default: the number of processors
    #[arg(long, value_name = "N", value_parser = whole(1..=1024_u32), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,
    /// Folder for the report. Default: runs/reproduce-PAPER
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the rows as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress or table
    #[arg(long, short)]
    pub(crate) quiet: bool,
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
    seconds(text).and_then(|s| {
        if (5.0..=7_200.0).contains(&s) { Ok(s) } else { Err("give a duration from 5 to 7200 s".to_owned()) }
    })
}
