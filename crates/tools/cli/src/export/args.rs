//! The arguments of `wayhop export`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::scenario_args::SourceArgs;
#[cfg(feature = "linux")]
use crate::scenario_args::metres;

#[derive(Debug, Subcommand)]
pub(crate) enum ExportArgs {
    /// Movement and traffic files that ns-2 runs
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
    /// Who ignores whose frames from when on, so that those within range hear each other: for `wayhop lab`
    Macfilter {
        #[command(flatten)]
        source: SourceArgs,
        /// How far nodes hear each other, metres, on all radios; without it, as far as each radio reaches in free space and
        /// over flat ground
        #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
        range: Option<f64>,
        /// File to write; without it, standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// A run directory for each node of a run, with what that node would have recorded by itself in the field: for `wayhop merge`
    Nodes {
        /// Run directory, made with --identities
        run: PathBuf,
        /// Directory for the nodes' run directories
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Give a node a clock of its own: its record begins at this second of the run, and its clock is fast by so many
        /// millionths; may be given for several nodes
        #[arg(long, value_name = "NODE=S,PPM", allow_hyphen_values = true)]
        clock: Vec<String>,
    },
    /// A Lua plugin that has Wireshark and tshark read every routing packet of Wayhop: DSDV, authentication, and the options of
    /// DSR that no standard has
    Dissector {
        /// File to write; without it, standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// A table of a run directory as CSV
    Csv {
        /// Run directory
        run: PathBuf,
        /// Table: packets, positions, flows, counters, events, sends, sizes, tcp, connections, outcomes, receptions, bundles, contacts, gps,
        /// identities or nodes
        table: String,
        /// File to write; without it, standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}
