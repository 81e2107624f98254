//! The arguments of `wayhop emulate` and `wayhop exec`.

use std::ffi::OsString;
use std::net::SocketAddr;

use crate::run::args::RunArgs;

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Requires root. Nodes reach each other as mesh-0, mesh-1, ... on the interface mesh0. The scenario's [[programs]] run in its nodes. \
A COMMAND gets the terminal, and the run ends when it exits.

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
    /// Node that runs COMMAND: its number, mesh-N, or its name
    #[arg(long, value_name = "NODE", requires = "command")]
    pub(crate) node: Option<String>,
    /// Serve the counters of all nodes to Prometheus at this address, under /metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<SocketAddr>,
    /// Have each node report its counters and position once a second, to DIR/reports and over the mesh to this node, where
    /// `wayhop collect` receives them
    #[arg(long, value_name = "NODE")]
    pub(crate) collector: Option<String>,
    /// Run the scenario's programs unconfined, with your rights to all files; only for scenarios you have read
    #[arg(long)]
    pub(crate) trust: bool,
    /// Command to run in the node once the mesh is up, with your rights; the run ends with it and returns its exit status
    #[arg(last = true, value_name = "COMMAND", requires = "node")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExecArgs {
    /// Run to use, if there are several: its scenario's name or its process ID
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Node: its number, mesh-N, or its name
    pub(crate) node: String,
    /// Command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgramArgs {
    pub(crate) orders: String,
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<OsString>,
}
