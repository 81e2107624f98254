//! The arguments of `wayhop reproduce`.

use std::path::PathBuf;

#[cfg(feature = "linux")]
use crate::scenario_args::seconds;
use crate::scenario_args::whole;

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Writes DIR/report.html, DIR/rows.json, DIR/rows.csv, and the scenarios into DIR/scenarios.

Examples:
  wayhop reproduce cmu --seeds 10 --out runs/cmu
  wayhop reproduce das --seeds 10 --out runs/das
  wayhop reproduce holland-vaidya --mechanisms elfn,tcp-f --pattern 5
  wayhop reproduce meshtest --seeds 100
  sudo wayhop reproduce meshtest --seeds 20 --emulate
  sudo wayhop reproduce pran --part demonstration --duration 180 --seeds 1";

#[derive(Debug, clap::Args)]
pub(crate) struct ReproduceArgs {
    /// Which paper
    pub(crate) paper: Paper,
    /// The first seed of each experiment
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole(0..=1_000_000_000_u64), allow_negative_numbers = true)]
    pub(crate) first_seed: u64,
    /// How many seeds each experiment runs with; without it 30, 5 of pran, whose laps take as long as they say, 50 of
    /// holland-vaidya, where each is a pattern, and 100 of meshtest and mule
    #[arg(long, value_name = "N", value_parser = whole(1..=10_000_u64), allow_negative_numbers = true)]
    pub(crate) seeds: Option<u64>,
    #[cfg(feature = "linux")]
    /// pran: what of it
    #[arg(long, value_name = "PART")]
    pub(crate) part: Option<PranPart>,
    #[cfg(feature = "linux")]
    /// pran: how long the robot takes around the building, seconds; the paper's took 780, and so does ours without it
    #[arg(long, value_name = "S", value_parser = lap, allow_negative_numbers = true)]
    pub(crate) duration: Option<f64>,
    /// holland-vaidya: which mechanisms run besides plain Reno, with commas between them, or none; without it all
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) mechanisms: Vec<MechanismName>,
    /// holland-vaidya: draw this pattern's profile (a seed of those that run); may be given again. Without it the first three
    #[arg(long, value_name = "N", value_parser = whole(0..=u64::MAX))]
    pub(crate) pattern: Vec<u64>,
    #[cfg(feature = "linux")]
    /// meshtest: one run of each experiment in emulation as well, with real iperf3; it takes half an hour and needs root
    #[arg(long)]
    pub(crate) emulate: bool,
    /// Leave the run directory of each simulated run in DIR/runs, where the commands beside the rows would leave it
    #[arg(long)]
    pub(crate) keep_runs: bool,
    /// Runs at a time; without it, as many as there are processors
    #[arg(long, value_name = "N", value_parser = whole(1..=1024_u32), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,
    /// Folder for the report; without it runs/reproduce-PAPER
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the rows as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, no table
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
    /// Saha and others: PRAN, routing protocols at user level (real programs; needs root)
    Pran,
    /// Holland, Vaidya: Analysis of TCP Performance over Mobile Ad Hoc Networks, Part II (1999)
    HollandVaidya,
    /// MeshTest: UDP and TCP between radios at a matrix of attenuators
    Meshtest,
    /// A data MULE, as in experiments on MeshTest (Hahn and others, 2008), and routing of bundles (RFC 6693)
    Mule,
}

/// The parts of `reproduce pran`.
#[cfg(feature = "linux")]
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PranPart {
    /// Figures 5 and 7 to 9: a robot's video over a mobile mesh
    Demonstration,
    /// Table 1 and Figure 3: what forwarding costs
    Forwarding,
    /// Both, as without this option
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
    /// Frozen until there is a route (Chandran and others)
    TcpF,
    /// A quarter of a segment for each hop, one at least (Fu and others)
    WindowByHops,
    /// Segments spread over time (TCP-AP)
    Pacing,
    /// Back-off taken back on ICMP messages
    #[value(name = "rfc-6069")]
    Rfc6069,
    /// Plain Reno only
    None,
}

#[cfg(feature = "linux")]
/// Shorter laps end before the video has begun, longer ones are longer than anybody waits.
fn lap(text: &str) -> Result<f64, String> {
    seconds(text).and_then(|s| {
        if (5.0..=7_200.0).contains(&s) { Ok(s) } else { Err("give 5 to 7200 seconds".to_owned()) }
    })
}
