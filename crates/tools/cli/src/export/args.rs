//! The arguments of `wayhop export`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::scenario_args::SourceArgs;
#[cfg(feature = "linux")]
use crate::scenario_args::metres;

#[derive(Debug, Subcommand)]
pub(crate) enum ExportArgs {
    /// Export movement and traffic files for ns-2
    Ns2 {
        #[command(flatten)]
        source: SourceArgs,
        /// Directory for NAME.movement.tcl and NAME.traffic.tcl
        #[arg(long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
        /// Leave out the `$god_ set-dist` lines
        #[arg(long)]
        no_god: bool,
    },
    #[cfg(feature = "linux")]
    /// Export a MAC filter file for `wayhop lab`, in which nodes hear each other only within range
    Macfilter {
        #[command(flatten)]
        source: SourceArgs,
        /// Range of all radios, in metres. Default: each radio's range in free space over flat ground
        #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
        range: Option<f64>,
        /// File to write. Default: standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Export a run directory per node, as the nodes would have recorded it in the field, for `wayhop merge`
    Nodes {
        /// Run directory, recorded with --identities
        run: PathBuf,
        /// Directory for the nodes' run directories
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Give a node its own clock: its record starts S seconds into the run, and its clock runs fast by PPM parts per million
        /// (repeatable)
        #[arg(long, value_name = "NODE=S,PPM", allow_hyphen_values = true)]
        clock: Vec<String>,
    },
    /// Export a Lua plugin with which Wireshark and tshark decode Wayhop's routing packets: DSDV, authentication, and
    /// non-standard DSR options
    Dissector {
        /// File to write. Default: standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Export a table of a run directory as CSV
    Csv {
        /// Run directory
        run: PathBuf,
        /// Table: packets, positions, flows, counters, events, sends, sizes, tcp, connections, outcomes, receptions, bundles, contacts, gps,
        /// identities or nodes
        table: String,
        /// File to write. Default: standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}
