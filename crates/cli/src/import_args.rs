//! The arguments of `wayhop import`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::scenario_args::ChangeArgs;

/// What every import writes, and how it is changed.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportedArgs {
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
    /// Scenario file to write, and beside it the files that it names; without it, standard output, if it names none
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

/// What becomes of heights.
#[derive(Debug, clap::Args)]
pub(crate) struct HeightArgs {
    /// Leave heights out: all nodes are at z = 0. Without it, z is the height above the first place
    #[arg(long)]
    pub(crate) flat: bool,
}

/// Files with the tracks of nodes.
#[derive(Debug, clap::Args)]
pub(crate) struct TrackArgs {
    /// Files, of the same clock
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) heights: HeightArgs,
    #[command(flatten)]
    pub(crate) to: ImportedArgs,
}

/// What to do with content that cannot be read.
#[derive(Debug, clap::Args)]
pub(crate) struct Strictness {
    /// Refuse a file of which anything would be skipped, and list what; without it, a note counts what is skipped
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportArgs {
    /// BonnMotion's movement file: checks it, and writes a scenario file that names it
    Bonnmotion {
        /// Movement file (.movements); gzip is read as it is
        #[arg(value_name = "FILE")]
        movement: PathBuf,
        /// Waypoints have no heights: time x y. Without this or --3d, NAME.params beside the file decides, or the file if it can
        #[arg(long = "2d", conflicts_with = "heights")]
        flat: bool,
        /// Waypoints have heights: time x y z
        #[arg(long = "3d")]
        heights: bool,
        /// Waypoints end with a status, as in the model DisasterArea: a node with status 2 is down until a status of 1
        #[arg(long)]
        status: bool,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// CORE's session file (XML): its devices stand where they are on the canvas or on the globe
    Core {
        /// Session file
        file: PathBuf,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Tables of places (CSV): time, node, and x, y, z in metres or lat, lon, alt, as the first line names them
    Csv(TrackArgs),
    /// EMANE's event log (EEL): its NEMs go where its location events say, and have its path losses
    Eel {
        /// Event log
        file: PathBuf,
        #[command(flatten)]
        heights: HeightArgs,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// SUMO's floating car data: vehicles, persons and containers, which come and go
    Fcd {
        /// What SUMO wrote with --fcd-output; gzip is read as it is
        file: PathBuf,
        /// The places are longitude and latitude (--fcd-output.geo); without this, the file tells
        #[arg(long, conflicts_with = "metres")]
        geo: bool,
        /// The places are metres, even if they look like longitude and latitude
        #[arg(long)]
        metres: bool,
        #[command(flatten)]
        heights: HeightArgs,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// GPX files: each track is a node
    Gpx(TrackArgs),
    /// KML files: each placemark with a track or a point is a node
    Kml(TrackArgs),
    /// Logs of GPS receivers (NMEA 0183): each file is a node
    Nmea(TrackArgs),
    /// The traffic in captures (pcap or pcapng): each address is a node
    Pcapng {
        /// Captures, of the same clock
        #[arg(required = true, value_name = "CAPTURE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// A run, above all one of the field: its tracks, its traffic, and a macfilter's file of the links on which frames were received
    Run {
        /// Run directory: merged, or made with --identities
        run: PathBuf,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// ns-2's movement and traffic files, or a whole script: checks them, and writes a scenario file that names them
    Ns2 {
        /// Movement file (setdest); gzip is read as it is
        #[arg(long, value_name = "FILE", required_unless_present = "script")]
        movement: Option<PathBuf>,
        /// Traffic file (cbrgen), or SUMO's activity file
        #[arg(long, value_name = "FILE", requires = "movement")]
        traffic: Option<PathBuf>,
        /// Whole script: `ns` runs it, without any packet, and what it makes is recorded. It runs with your rights
        #[arg(long, value_name = "FILE", conflicts_with_all = ["movement", "traffic"])]
        script: Option<PathBuf>,
        #[command(flatten)]
        to: ImportedArgs,
    },
}
