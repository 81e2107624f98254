//! The arguments of `wayhop import`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::scenario_args::ChangeArgs;

/// What every import writes, and how to change it.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportedArgs {
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
    /// Scenario file to write, with the files that it names beside it. Default: standard output, if it names none
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

/// What to do with heights.
#[derive(Debug, clap::Args)]
pub(crate) struct HeightArgs {
    /// Ignore heights: all nodes are at z = 0. By default, z is the height above the first place
    #[arg(long)]
    pub(crate) flat: bool,
}

/// Files with the tracks of nodes.
#[derive(Debug, clap::Args)]
pub(crate) struct TrackArgs {
    /// Files recorded with the same clock
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
    /// Refuse a file if anything in it would be skipped, and list what. By default, a note counts what is skipped
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportArgs {
    /// Check BonnMotion's movement file, and write a scenario that names it
    Bonnmotion {
        /// Movement file (.movements), perhaps compressed with gzip
        #[arg(value_name = "FILE")]
        movement: PathBuf,
        /// Waypoints have no heights: time x y. Without this or --3d, NAME.params beside the file decides, or the numbers if only one reading is possible
        #[arg(long = "2d", conflicts_with = "heights")]
        flat: bool,
        /// Waypoints have heights: time x y z
        #[arg(long = "3d")]
        heights: bool,
        /// Waypoints end with a status, as in the model DisasterArea: a node with status 2 is down until one with status 1
        #[arg(long)]
        status: bool,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import a CORE session (XML): devices stand where they are on the canvas or on the globe
    Core {
        /// Session file
        file: PathBuf,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import tables of places (CSV): time, node, and x, y, z in metres or lat, lon, alt, as the first line names them
    Csv(TrackArgs),
    /// Import EMANE's event log (EEL): locations and path losses of its NEMs
    Eel {
        /// Event log
        file: PathBuf,
        #[command(flatten)]
        heights: HeightArgs,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import SUMO's floating car data: vehicles, persons and containers, which come and go
    Fcd {
        /// File written with --fcd-output, perhaps compressed with gzip
        file: PathBuf,
        /// Read places as longitude and latitude (--fcd-output.geo). By default, the file decides
        #[arg(long, conflicts_with = "metres")]
        geo: bool,
        /// Read places as metres, even if they look like longitude and latitude
        #[arg(long)]
        metres: bool,
        #[command(flatten)]
        heights: HeightArgs,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import GPX files: each track is a node
    Gpx(TrackArgs),
    /// Import KML files: each placemark with a track or a point is a node
    Kml(TrackArgs),
    /// Import logs of GPS receivers (NMEA 0183): each file is a node
    Nmea(TrackArgs),
    /// Import the traffic in captures (pcap or pcapng): each address is a node
    Pcapng {
        /// Captures recorded with the same clock
        #[arg(required = true, value_name = "CAPTURE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import a run, such as a field run: its tracks, its traffic, and a macfilter file of the links on which frames were received
    Run {
        /// Run directory: merged, or made with --identities
        run: PathBuf,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Check ns-2's movement and traffic files, or record a whole script, and write a scenario that names them
    Ns2 {
        /// Movement file (setdest), perhaps compressed with gzip
        #[arg(long, value_name = "FILE", required_unless_present = "script")]
        movement: Option<PathBuf>,
        /// Traffic file (cbrgen), or SUMO's activity file
        #[arg(long, value_name = "FILE", requires = "movement")]
        traffic: Option<PathBuf>,
        /// Whole script: `ns` runs it without sending packets, and what it makes is recorded. It runs with your rights
        #[arg(long, value_name = "FILE", conflicts_with_all = ["movement", "traffic"])]
        script: Option<PathBuf>,
        #[command(flatten)]
        to: ImportedArgs,
    },
}
