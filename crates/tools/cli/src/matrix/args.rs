//! The arguments of `wayhop matrix`.

use std::path::PathBuf;

use wayhop_matrix::{Quality, Size};

use crate::scenario_args::{SourceArgs, metres, whole};

/// Examples for the help.
pub(crate) const SOLVE_EXAMPLES: &str = "\
Examples:
  wayhop matrix solve scenarios/chain.toml --buses 2
  wayhop matrix solve scenarios/first.toml --at 120 --json
  wayhop matrix solve --random-layouts 100 --area 1000 --radios 12 --buses 4 --anneal
  wayhop matrix solve --random-layouts 10 --area 1000 --radios 12 --buses 4 --follow 60 --speed 30
  wayhop matrix solve scenarios/first.toml --quality fast
  wayhop matrix solve --random-layouts 5 --radios 20 --switches 16x4,8x2";

/// The box.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BoxArgs {
    /// Buses; each radio connects to each bus through an attenuator
    #[arg(long, value_name = "B", default_value_t = 4, value_parser = whole(1..=64_usize), allow_negative_numbers = true)]
    pub(crate) buses: usize,
    /// Use two cascaded switches, for more radios than one has inputs: inputs and buses of each, such as 16x4,8x2. Radios fill
    /// the first switch first
    #[arg(long, value_name = "AxB,CxD", value_delimiter = ',', num_args = 1, conflicts_with = "buses")]
    pub(crate) switches: Vec<Size>,
    /// With --switches: number of buses of the first switch, from bus 0, connected to the first inputs of the second
    #[arg(long, value_name = "N", default_value_t = 2, requires = "switches", value_parser = whole(1..=64_usize), allow_negative_numbers = true)]
    pub(crate) joined: usize,
    /// Step of the attenuators, in dB
    #[arg(long, value_name = "DB", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) step: f64,
    /// Highest setting of the attenuators, in dB
    #[arg(long, value_name = "DB", default_value_t = 127.0, allow_negative_numbers = true)]
    pub(crate) max: f64,
    /// Insertion loss between two ports, in dB
    #[arg(long, value_name = "DB", default_value_t = wayhop_matrix::Switch::INSERTION_DB, allow_negative_numbers = true)]
    pub(crate) insertion: f64,
    /// Measured one-way insertion losses of the ports: a JSON file from `wayhop matrix calibrate`
    #[arg(long, value_name = "FILE", conflicts_with = "insertion")]
    pub(crate) calibration: Option<PathBuf>,
}

/// Effort of the solver.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum QualityName {
    /// The least work
    Fast,
    /// About an eighth of the most
    Normal,
    /// The most
    Best,
}

impl QualityName {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Normal => "normal",
            Self::Best => "best",
        }
    }
}

impl From<QualityName> for Quality {
    fn from(name: QualityName) -> Self {
        match name {
            QualityName::Fast => Self::Fast,
            QualityName::Normal => Self::Normal,
            QualityName::Best => Self::Best,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct SolveArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Time in the scenario to solve for, in seconds
    #[arg(long, value_name = "S", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) at: f64,
    /// Solve N random layouts instead of a scenario, in free space at 2437 MHz, and print means
    #[arg(long, value_name = "N", conflicts_with_all = ["scenario", "movement", "at"], requires = "radios", value_parser = whole(1..=100_000_u32), allow_negative_numbers = true)]
    pub(crate) random_layouts: Option<u32>,
    /// With --random-layouts: side of the square area, in metres
    #[arg(long, value_name = "M", default_value_t = 1000.0, requires = "random_layouts", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) area: f64,
    /// With --random-layouts: number of radios
    #[arg(long, value_name = "N", requires = "random_layouts", value_parser = whole(2..=64_usize), allow_negative_numbers = true)]
    pub(crate) radios: Option<usize>,
    #[command(flatten)]
    pub(crate) of_box: BoxArgs,
    /// Distance beyond which links must not appear, in metres. Default: the carrier-sense range of the scenario's radio; none
    /// for random layouts
    #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) range: Option<f64>,
    /// With --random-layouts: move the nodes for S seconds, and solve each second starting from the previous settings
    #[arg(long, value_name = "S", requires = "random_layouts", value_parser = whole(1..=100_000_u32), allow_negative_numbers = true)]
    pub(crate) follow: Option<u32>,
    /// With --follow: speed of the nodes, in m/s
    #[arg(long, value_name = "M/S", default_value_t = 30.0, requires = "follow", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) speed: f64,
    /// Solver effort, counted in tries, so settings are the same on any machine. Default: best; normal with --follow
    #[arg(long, value_enum)]
    pub(crate) quality: Option<QualityName>,
    /// Also solve by simulated annealing, as the paper's authors did
    #[arg(long)]
    pub(crate) anneal: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Examples for the help.
#[cfg(feature = "linux")]
pub(crate) const DRIVE_EXAMPLES: &str = "\
Each second reads the nodes' positions, computes path losses and settings, and sets the box. Without SCENARIO the radios are 802.11g \
in free space. Stop with Ctrl-C; the box keeps its last settings.

Examples:
  wayhop matrix drive scenarios/first.toml --box 192.168.1.20:23 --out runs/matrix
  wayhop matrix drive --run chain-5 --box http://192.168.1.20
  wayhop matrix drive --feed - --radios 12 --box 192.168.1.20:23 < positions.xml
  wayhop matrix drive scenarios/first.toml                        without a box: errors only";

#[cfg(feature = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct DriveArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Follow the positions in this running emulation, lab or paced simulation
    #[arg(long, value_name = "NAME", conflicts_with = "feed")]
    pub(crate) run: Option<String>,
    /// Read positions from a file, a FIFO, or - for standard input: one line of XML or JSON per update
    #[arg(long, value_name = "FILE", requires = "radios")]
    pub(crate) feed: Option<PathBuf>,
    /// With --feed: number of radios
    #[arg(long, value_name = "N", requires = "feed", value_parser = whole(2..=64_usize), allow_negative_numbers = true)]
    pub(crate) radios: Option<usize>,
    /// Address of a box: HOST:PORT (telnet), telnet://HOST:PORT or http://HOST:PORT (repeatable; each further box continues the
    /// numbering of channels)
    #[arg(long = "box", value_name = "ADDRESS")]
    pub(crate) boxes: Vec<String>,
    /// Channels per box. Default: all in one box, or with two boxes one per switch. Radio i on bus k of B buses is channel
    /// i B + k + 1, counted over all boxes; the second switch follows the first, its joined buses before its radios
    #[arg(long, value_name = "N", requires = "boxes", value_parser = whole(1..=4096_u16), allow_negative_numbers = true)]
    pub(crate) channels: Option<u16>,
    #[command(flatten)]
    pub(crate) of_box: BoxArgs,
    /// Distance beyond which links must not appear, in metres. Default: the carrier-sense range of the radio
    #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) range: Option<f64>,
    /// Solver effort per second, counted in tries, so settings are the same on any machine
    #[arg(long, value_enum, default_value = "normal")]
    pub(crate) quality: QualityName,
    /// Write DIR/matrix.jsonl, one line per second
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object per second
    #[arg(long)]
    pub(crate) json: bool,
}

/// Examples for the help.
#[cfg(feature = "linux")]
pub(crate) const FAKE_EXAMPLES: &str = "\
Behaves like Mini-Circuits' RCDAT boxes, rejects what they reject, and can apply the path losses of its settings to an emulation or \
a paced simulation.

Examples:
  wayhop matrix fake --radios 4 --buses 2
  wayhop matrix fake --radios 5 --run chain-5 --telnet 127.0.0.1:2323      and in another terminal:
  wayhop matrix drive my-walk.toml --box 127.0.0.1:2323";

#[cfg(feature = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct FakeArgs {
    /// Number of radios that the box has ports for
    #[arg(long, value_name = "N", value_parser = whole(2..=64_usize), allow_negative_numbers = true)]
    pub(crate) radios: usize,
    #[command(flatten)]
    pub(crate) of_box: BoxArgs,
    /// Address for telnet; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) telnet: std::net::SocketAddr,
    /// Address for HTTP; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) http: std::net::SocketAddr,
    /// Apply its path losses to the links of this emulation or paced simulation
    #[arg(long, value_name = "NAME")]
    pub(crate) run: Option<String>,
    /// Drop each telnet connection after N commands
    #[arg(long, value_name = "N", value_parser = whole(1..=u32::MAX), allow_negative_numbers = true)]
    pub(crate) break_after: Option<u32>,
    /// Delay of each answer, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = whole(0..=60_000_u64), allow_negative_numbers = true)]
    pub(crate) delay: u64,
}

/// Examples for the help.
pub(crate) const CALIBRATE_EXAMPLES: &str = "\
MEASURED has one line i,j,DB per measured pair of radios: the path loss between them with all attenuators at --setting.

Examples:
  wayhop matrix calibrate measured.csv --radios 12 --setting 20 > calibration.json
  wayhop matrix solve scenarios/first.toml --calibration calibration.json";

#[derive(Debug, clap::Args)]
pub(crate) struct CalibrateArgs {
    /// CSV file: radio, radio, path loss in dB
    #[arg(value_name = "MEASURED")]
    pub(crate) measured: PathBuf,
    /// Number of radios that the box has ports for
    #[arg(long, value_name = "N", value_parser = whole(2..=64_usize), allow_negative_numbers = true)]
    pub(crate) radios: usize,
    /// Setting of all attenuators during the measurement, in dB
    #[arg(long, value_name = "DB", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) setting: f64,
    #[command(flatten)]
    pub(crate) of_box: BoxArgs,
}
