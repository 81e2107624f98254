//! The arguments of `wayhop import`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::scenario_args::ChangeArgs;

/// What every import writes, and changes to it.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportedArgs {
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
    /// Scenario file to write; files that it refers to go beside it. Default: standard output, if it refers to none
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

/// What to do with heights.
#[derive(Debug, clap::Args)]
pub(crate) struct HeightArgs {
    /// Ignore heights and put all nodes at z = 0. By default, z is the height above the first position
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
    /// Reject a file if anything in it would be skipped, and list what. By default, skipped content is only counted
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportArgs {
    /// Check a BonnMotion movement file and write a scenario that uses it
    Bonnmotion {
        /// Movement file (.movements), plain or gzip
        #[arg(value_name = "FILE")]
        movement: PathBuf,
        /// Read waypoints as time x y. Without this or --3d, NAME.params beside the file decides, or the numbers if only one
        /// reading is possible
        #[arg(long = "2d", conflicts_with = "heights")]
        flat: bool,
        /// Read waypoints as time x y z
        #[arg(long = "3d")]
        heights: bool,
        /// Read a status at the end of each waypoint, as in the model DisasterArea: 2 takes the node down, 1 brings it back
        #[arg(long)]
        status: bool,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import a CORE session (XML), with devices at their positions on the canvas or the globe
    Core {
        /// Session file
        file: PathBuf,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import tables of positions (CSV) whose first line names the columns: time, node, and x, y, z in metres or lat, lon, alt
    Csv(TrackArgs),
    /// Import an EMANE event log (EEL): locations and path losses of its NEMs
    Eel {
        /// Event log
        file: PathBuf,
        #[command(flatten)]
        heights: HeightArgs,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Import SUMO's floating car data: vehicles, persons and containers, which appear and disappear
    Fcd {
        /// File written with --fcd-output, plain or gzip
        file: PathBuf,
        /// Read positions as longitude and latitude (--fcd-output.geo). By default, detected from the file
        #[arg(long, conflicts_with = "metres")]
        geo: bool,
        /// Read positions as metres, even if they look like longitude and latitude
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
    /// Import a run, such as a field run: tracks, traffic, and a macfilter file of the links on which frames were received
    Run {
        /// Run directory, merged or recorded with --identities
        run: PathBuf,
        #[command(flatten)]
        to: ImportedArgs,
    },
    /// Check ns-2 movement and traffic files, or record a whole script, and write a scenario that uses them
    Ns2 {
        /// Movement file (setdest), plain or gzip
        #[arg(long, value_name = "FILE", required_unless_present = "script")]
        movement: Option<PathBuf>,
        /// Traffic file (cbrgen), or SUMO's activity file
        #[arg(long, value_name = "FILE", requires = "movement")]
        traffic: Option<PathBuf>,
        /// Whole script to record: `ns` runs it without sending packets. It runs with your rights
        #[arg(long, value_name = "FILE", conflicts_with_all = ["movement", "traffic"])]
        script: Option<PathBuf>,
        #[command(flatten)]
        to: ImportedArgs,
    },
}
