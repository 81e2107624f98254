//! `wayhop node`.

use std::fs;
use std::path::PathBuf;

use wayhop_daemon::{Error, Overrides, Settings};

use crate::failure::{Failure, out, put, say, warn};
use crate::scenario_args::{profile_help, protocol_help};

pub(crate) const EXAMPLES: &str = "\
Requires root, or CAP_NET_ADMIN and CAP_NET_RAW. SIGINT (Ctrl-C) or SIGTERM stops the node and restores the host's settings, \
which are also restored if it is killed. SIGHUP reloads CONFIG, or stops a node that has none.

Examples:
  wayhop node --interface wlan0 --address 10.0.0.3/16 --protocol dsr
  wayhop node /etc/wayhop/node.toml --set log=debug
  wayhop node --interface eth1 --address 10.0.0.3/16 --protocol aodv --check
  wayhop node scenarios/chain.toml --as mesh-2 --interface wlan0 --out runs/chain-field";

/// A node on this host: from a configuration, a scenario, or the command line alone.
#[derive(Debug, clap::Args)]
pub(crate) struct NodeArgs {
    /// Configuration file in TOML (keys: docs/reference/node.md) or, with --as, a scenario
    #[arg(value_name = "CONFIG|SCENARIO")]
    config: Option<PathBuf>,
    /// Node of the scenario to run on this host: its number, mesh-N, or its name
    #[arg(long = "as", value_name = "NODE")]
    node: Option<String>,
    /// Interface to use for the mesh, such as wlan0 (repeatable)
    #[arg(long, value_name = "NAME")]
    interface: Vec<String>,
    /// This node's address with the mesh's prefix length, such as 10.0.0.3/16
    #[arg(long, value_name = "ADDRESS/LENGTH")]
    address: Option<String>,
    /// TUN interface for programs. Default: mesh0
    #[arg(long, value_name = "NAME")]
    tun: Option<String>,
    #[arg(long, value_name = "NAME", help = protocol_help())]
    protocol: Option<String>,
    #[arg(long, value_name = "NAME", help = profile_help())]
    profile: Option<String>,
    /// MAC filter file, as for `wayhop lab`: which nodes ignore whose frames, and when. --as or macfilter.node selects this
    /// host's node in it
    #[arg(long, value_name = "FILE")]
    macfilter: Option<PathBuf>,
    /// Set any key of the configuration, such as protocol.hello=always (repeatable)
    #[arg(long = "set", value_name = "PATH.KEY=VALUE")]
    sets: Vec<String>,
    /// Run directory; replaces an older run there. Default: none
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Record the inputs of the routing engine for `wayhop replay`, in FILE or in inputs/NODE.jsonl.gz in the run directory
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[allow(
        clippy::option_option,
        reason = "clap's type for an option whose value may be left out: not given, without a file, with one"
    )]
    record_inputs: Option<Option<PathBuf>>,
    /// Print the resolved configuration and check the interfaces, without starting the node
    #[arg(long)]
    check: bool,
    /// Restore what killed nodes changed on this host, at --interface or everywhere, and exit; a starting node does this for
    /// its own interfaces
    #[arg(long, conflicts_with_all = [
        "config", "node", "address", "tun", "protocol", "profile", "macfilter", "sets", "out", "record_inputs", "check", "json",
    ])]
    restore: bool,
    /// Print the summary as one JSON object at the end
    #[arg(long)]
    json: bool,
    /// Stop at the end of standard input
    #[arg(long, hide = true)]
    tied: bool,
}

pub(crate) fn node(a: &NodeArgs) -> Result<(), Failure> {
    if a.restore {
        return restore(&a.interface);
    }
    let overrides = Overrides {
        interfaces: a.interface.clone(),
        address: a.address.clone(),
        tun: a.tun.clone(),
        protocol: a.protocol.clone(),
        profile: a.profile.clone(),
        macfilter: a.macfilter.clone(),
        inputs: a.record_inputs.clone(),
        node: a.node.clone(),
        run: a.out.clone(),
        sets: a.sets.clone(),
    };
    let settings = Settings::load(a.config.as_deref(), &overrides)?;
    if a.check {
        for remark in &settings.remarks {
            say!("info: {remark}");
        }
        warn(&settings.unauthenticated());
        put(settings.to_toml()?)?;
        return Ok(settings.check_host()?);
    }
    let outcome = wayhop_daemon::run(&settings, a.tied)?;
    let text = serde_json::to_string(&outcome.summary).map_err(Failure::run)?;
    if let Some(path) = &settings.config.summary {
        fs::write(path, &text).map_err(Failure::write(path))?;
    }
    if a.json {
        out!("{text}")?;
    }
    outcome.failure.map_or(Ok(()), |e| Err(e.into()))
}

/// Restores what killed nodes left behind.
fn restore(interfaces: &[String]) -> Result<(), Failure> {
    let done = wayhop_daemon::restore(interfaces)?;
    if done.is_empty() {
        return out!("nothing to restore");
    }
    out!("restored what killed nodes had changed at {}", done.join(", "))
}

/// The helper process that restores the host after a node.
pub(crate) fn undo(node: u32, lists: &[PathBuf]) -> Result<(), Failure> {
    Ok(wayhop_daemon::undo(node, lists)?)
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        match e {
            Error::Config(m) => Self::Usage(m),
            Error::System(m) => Self::Run(m),
        }
    }
}
