//! The arguments of `wayhop emulate` and `wayhop exec`.

use std::ffi::OsString;
use std::net::SocketAddr;

use crate::run::args::RunArgs;

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Needs root. In each node the others are mesh-0, mesh-1, ...; the interface is mesh0. A scenario's `programs` run in its \
nodes; with a COMMAND, which has the terminal, the run ends when that does.

Examples:
  wayhop emulate scenarios/chain.toml --node 0 -- ping -c 5 mesh-4
  wayhop emulate scenarios/chain.toml --duration 60         and in another terminal:
  wayhop exec 4 -- iperf3 -s                                and in a third:
  wayhop exec 0 -- iperf3 -c mesh-4";

/// Examples for the help of `wayhop exec`.
pub(crate) const EXEC_EXAMPLES: &str = "\
Examples:
  wayhop exec 0 -- ping mesh-3
  wayhop exec --run chain gateway -- bash";

#[derive(Debug, clap::Args)]
pub(crate) struct EmulateArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The node in which COMMAND runs: its number, mesh-N, or its name
    #[arg(long, value_name = "NODE", requires = "command")]
    pub(crate) node: Option<String>,
    /// Where Prometheus finds the counters of all nodes, under /metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<SocketAddr>,
    /// Has each node report its counters and its place once a second: into the folder `reports` of the run directory, and over
    /// the network to this node, in which `wayhop collect` shows them
    #[arg(long, value_name = "NODE")]
    pub(crate) collector: Option<String>,
    /// Run the scenario's programs with all rights of who starts this, on all files: for scenarios whose programs you have read
    #[arg(long)]
    pub(crate) trust: bool,
    /// A command to run in the node once the mesh is up, with your rights; the run ends with it, and with its exit status
    #[arg(last = true, value_name = "COMMAND", requires = "node")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExecArgs {
    /// The run, if there are several: its scenario's name or the number of its process
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// The node: its number, mesh-N, or its name
    pub(crate) node: String,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgramArgs {
    pub(crate) orders: String,
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}
