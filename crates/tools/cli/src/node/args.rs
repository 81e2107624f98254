//! The arguments of `wayhop node`.

use std::path::PathBuf;

use crate::scenario_args::{profile_help, protocol_help};

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Needs root, or CAP_NET_ADMIN and CAP_NET_RAW. Ends with SIGINT (Ctrl-C) or SIGTERM, and then sets the \
host back; it does so, too, when it is killed. SIGHUP has it read CONFIG again; without one it ends.

Examples:
  wayhop node --interface wlan0 --address 10.0.0.3/16 --protocol dsr
  wayhop node /etc/wayhop/node.toml --set log=debug
  wayhop node --interface eth1 --address 10.0.0.3/16 --protocol aodv --check
  wayhop node scenarios/chain.toml --as mesh-2 --interface wlan0 --out runs/chain-field";

/// A node on this host: from a configuration, a scenario, or the command line alone.
#[derive(Debug, clap::Args)]
pub(crate) struct NodeArgs {
    /// Configuration file (TOML; docs/reference/node.md lists its keys) or, with --as, a scenario
    #[arg(value_name = "CONFIG|SCENARIO")]
    pub(crate) config: Option<PathBuf>,
    /// The node of the scenario that this host is: its number, mesh-N, or its name
    #[arg(long = "as", value_name = "NODE")]
    pub(crate) node: Option<String>,
    /// Interface that is in the mesh, such as wlan0; again for each further one
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Vec<String>,
    /// This node's address with the length of the mesh's prefix, such as 10.0.0.3/16
    #[arg(long, value_name = "ADDRESS/LENGTH")]
    pub(crate) address: Option<String>,
    /// TUN interface that programs use; without it mesh0
    #[arg(long, value_name = "NAME")]
    pub(crate) tun: Option<String>,
    #[arg(long, value_name = "NAME", help = protocol_help())]
    pub(crate) protocol: Option<String>,
    #[arg(long, value_name = "NAME", help = profile_help())]
    pub(crate) profile: Option<String>,
    /// Who ignores whose frames, when: a file that `wayhop lab` takes, too; --as, or macfilter.node, says which node of it this
    /// host is
    #[arg(long, value_name = "FILE")]
    pub(crate) macfilter: Option<PathBuf>,
    /// Change any key of the configuration, such as protocol.hello=always; may be given again
    #[arg(long = "set", value_name = "PATH.KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Run directory; without it there is none. An older run in it is replaced
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write what goes into the routing engine to this file, for `wayhop replay`; without FILE, to inputs/NODE.jsonl.gz in
    /// the run directory
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[allow(
        clippy::option_option,
        reason = "clap's type for an option whose value may be left out: not given, without a file, with one"
    )]
    pub(crate) record_inputs: Option<Option<PathBuf>>,
    /// Print the configuration with all that follows from it, say whether this host has the interfaces, and do nothing
    #[arg(long)]
    pub(crate) check: bool,
    /// Set this host back to what it was before nodes that were killed, at --interface or everywhere, and do nothing else; a
    /// node that starts does so at its interfaces
    #[arg(long, conflicts_with_all = [
        "config", "node", "address", "tun", "protocol", "profile", "macfilter", "sets", "out", "record_inputs", "check", "json",
    ])]
    pub(crate) restore: bool,
    /// Print the summary as one JSON object at the end
    #[arg(long)]
    pub(crate) json: bool,
    /// End when standard input does
    #[arg(long, hide = true)]
    pub(crate) tied: bool,
}
