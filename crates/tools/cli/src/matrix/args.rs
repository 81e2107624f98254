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
    /// Buses to which each radio is cabled by an attenuator
    #[arg(long, value_name = "B", default_value_t = 4, value_parser = whole(1..=64_usize), allow_negative_numbers = true)]
    pub(crate) buses: usize,
    /// Two switches in a row, for more radios than one has inputs: inputs and buses of each, such as 16x4,8x2. Radios fill the first
    #[arg(long, value_name = "AxB,CxD", value_delimiter = ',', num_args = 1, conflicts_with = "buses")]
    pub(crate) switches: Vec<Size>,
    /// With --switches: so many buses of the first, from bus 0 on, lead to the first inputs of the second
    #[arg(long, value_name = "N", default_value_t = 2, requires = "switches", value_parser = whole(1..=64_usize), allow_negative_numbers = true)]
    pub(crate) joined: usize,
    /// The attenuators' step, dB
    #[arg(long, value_name = "DB", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) step: f64,
    /// The attenuators' strongest setting, dB
    #[arg(long, value_name = "DB", default_value_t = 127.0, allow_negative_numbers = true)]
    pub(crate) max: f64,
    /// Insertion loss between two ports, dB
    #[arg(long, value_name = "DB", default_value_t = wayhop_matrix::Switch::INSERTION_DB, allow_negative_numbers = true)]
    pub(crate) insertion: f64,
    /// Measured insertion losses of the ports, one way: a JSON file that `wayhop matrix calibrate` writes
    #[arg(long, value_name = "FILE", conflicts_with = "insertion")]
    pub(crate) calibration: Option<PathBuf>,
}

/// How much work the solver does.
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
    /// The scenario at this time, seconds
    #[arg(long, value_name = "S", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) at: f64,
    /// Solve so many random layouts in the place of a scenario, in free space at 2437 MHz, and print means
    #[arg(long, value_name = "N", conflicts_with_all = ["scenario", "movement", "at"], requires = "radios", value_parser = whole(1..=100_000_u32), allow_negative_numbers = true)]
    pub(crate) random_layouts: Option<u32>,
    /// With --random-layouts: the side of the square, metres
    #[arg(long, value_name = "M", default_value_t = 1000.0, requires = "random_layouts", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) area: f64,
    /// With --random-layouts: radios
    #[arg(long, value_name = "N", requires = "random_layouts", value_parser = whole(2..=64_usize), allow_negative_numbers = true)]
    pub(crate) radios: Option<usize>,
    #[command(flatten)]
    pub(crate) of_box: BoxArgs,
    /// Where a link must not appear, metres; without it, where the scenario's radio does not even sense it. Random layouts: nowhere
    #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) range: Option<f64>,
    /// With --random-layouts: let nodes move for so many seconds, and follow them with the settings of the second before
    #[arg(long, value_name = "S", requires = "random_layouts", value_parser = whole(1..=100_000_u32), allow_negative_numbers = true)]
    pub(crate) follow: Option<u32>,
    /// With --follow: how fast they move, m/s
    #[arg(long, value_name = "M/S", default_value_t = 30.0, requires = "follow", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) speed: f64,
    /// How much work to do, counted in tries: the same settings on any machine. Without it, best for a layout and normal for --follow
    #[arg(long, value_enum)]
    pub(crate) quality: Option<QualityName>,
    /// Solve by simulated annealing, too, as the paper's authors did
    #[arg(long)]
    pub(crate) anneal: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Examples for the help.
#[cfg(feature = "linux")]
pub(crate) const DRIVE_EXAMPLES: &str = "\
Each second: where the nodes are, the path losses that this asks for, settings, and the box. Without SCENARIO the radios are 802.11g in \
free space. Ctrl-C ends it; the box keeps its last settings.

Examples:
  wayhop matrix drive scenarios/first.toml --box 192.168.1.20:23 --out runs/matrix
  wayhop matrix drive --run chain-5 --box http://192.168.1.20
  wayhop matrix drive --feed - --radios 12 --box 192.168.1.20:23 < positions.xml
  wayhop matrix drive scenarios/first.toml                        no box: the errors only";

#[cfg(feature = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct DriveArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Take the positions of this run under way, an emulation's, a lab's or a followed simulation's
    #[arg(long, value_name = "NAME", conflicts_with = "feed")]
    pub(crate) run: Option<String>,
    /// Take positions from a file, a FIFO, or - for standard input: a line of XML or JSON each time
    #[arg(long, value_name = "FILE", requires = "radios")]
    pub(crate) feed: Option<PathBuf>,
    /// With --feed: radios
    #[arg(long, value_name = "N", requires = "feed", value_parser = whole(2..=64_usize), allow_negative_numbers = true)]
    pub(crate) radios: Option<usize>,
    /// A box: HOST:PORT (telnet), telnet://HOST:PORT or http://HOST:PORT. Given again, the next one has the channels that follow
    #[arg(long = "box", value_name = "ADDRESS")]
    pub(crate) boxes: Vec<String>,
    /// Channels of each box; without it, the first has them all, or of two boxes each those of one of --switches. Radio i at bus k is
    /// channel i B + k + 1, counted over all boxes. Behind the first switch's come the second's: the joined buses, then its radios
    #[arg(long, value_name = "N", requires = "boxes", value_parser = whole(1..=4096_u16), allow_negative_numbers = true)]
    pub(crate) channels: Option<u16>,
    #[command(flatten)]
    pub(crate) of_box: BoxArgs,
    /// Where a link must not appear, metres; without it, where the radio does not even sense it
    #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) range: Option<f64>,
    /// How much work to do each second, counted in tries: the same settings on any machine
    #[arg(long, value_enum, default_value = "normal")]
    pub(crate) quality: QualityName,
    /// Write DIR/matrix.jsonl: a line each second
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print a JSON object each second
    #[arg(long)]
    pub(crate) json: bool,
}

/// Examples for the help.
#[cfg(feature = "linux")]
pub(crate) const FAKE_EXAMPLES: &str = "\
Speaks as Mini-Circuits' RCDAT boxes do, refuses what they refuse, and makes the path losses of its settings in an emulation or a \
followed simulation.

Examples:
  wayhop matrix fake --radios 4 --buses 2
  wayhop matrix fake --radios 5 --run chain-5 --telnet 127.0.0.1:2323      and in another terminal:
  wayhop matrix drive my-walk.toml --box 127.0.0.1:2323";

#[cfg(feature = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct FakeArgs {
    /// Radios that it has ports for
    #[arg(long, value_name = "N", value_parser = whole(2..=64_usize), allow_negative_numbers = true)]
    pub(crate) radios: usize,
    #[command(flatten)]
    pub(crate) of_box: BoxArgs,
    /// Where it speaks telnet; port 0 is a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) telnet: std::net::SocketAddr,
    /// Where it speaks HTTP
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) http: std::net::SocketAddr,
    /// Make its path losses the links of this emulation or followed simulation
    #[arg(long, value_name = "NAME")]
    pub(crate) run: Option<String>,
    /// Break each telnet connection after so many commands
    #[arg(long, value_name = "N", value_parser = whole(1..=u32::MAX), allow_negative_numbers = true)]
    pub(crate) break_after: Option<u32>,
    /// Take so long to answer, milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = whole(0..=60_000_u64), allow_negative_numbers = true)]
    pub(crate) delay: u64,
}

/// Examples for the help.
pub(crate) const CALIBRATE_EXAMPLES: &str = "\
MEASURED has a line i,j,DB for each pair of radios between which somebody measured the path loss, all attenuators at --setting.

Examples:
  wayhop matrix calibrate measured.csv --radios 12 --setting 20 > calibration.json
  wayhop matrix solve scenarios/first.toml --calibration calibration.json";

#[derive(Debug, clap::Args)]
pub(crate) struct CalibrateArgs {
    /// CSV: radio, radio, path loss in decibels
    #[arg(value_name = "MEASURED")]
    pub(crate) measured: PathBuf,
    /// Radios that the box has ports for
    #[arg(long, value_name = "N", value_parser = whole(2..=64_usize), allow_negative_numbers = true)]
    pub(crate) radios: usize,
    /// What all attenuators were set to, dB
    #[arg(long, value_name = "DB", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) setting: f64,
    #[command(flatten)]
    pub(crate) of_box: BoxArgs,
}
