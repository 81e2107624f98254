//! The arguments of `wayhop bundle`.

use std::path::PathBuf;

use clap::Subcommand;
use wayhop_bundle_agent::{Client, ClientError, DEFAULT_SOCKET};
use wayhop_control::SocketName;

use crate::failure::Failure;
use crate::scenario_args::{seconds, whole};

const AGENT_EXAMPLES: &str = "\
Listens on TCP port 4556 (TCPCLv4) and UDP port 4556 (UDPCL), on UDP port 4551 for neighbours' beacons, and on a socket for \
programs. docs/reference/bundle-agent.md lists the keys of CONFIG, docs/reference/bundle-socket.md describes the socket. SIGINT \
(Ctrl-C) or SIGTERM stops the agent. The store survives crashes and power failures.

Examples:
  wayhop bundle agent /etc/wayhop/agent.toml
  wayhop bundle agent --node dtn://truck/ --store truck.redb
  wayhop bundle agent --node ipn:5.0 --store five.redb --set layer=udpcl --set routing=prophet";

const SEND_EXAMPLES: &str = "\
The command ends when the agent has stored the bundle. Bundle Protocol 7 has no priorities: bundles are sent in the order of their \
creation.

Examples:
  wayhop bundle send dtn://office/inbox --text 'all is well'
  wayhop bundle send dtn://office/files --file photo.jpg --custody --lifetime 86400
  tar c logs | wayhop bundle send dtn://office/logs --file -";

const RECEIVE_EXAMPLES: &str = "\
Prints texts, and writes files to the folder, each under its name if its digest is correct. Without --count and --timeout it runs \
until Ctrl-C.

Examples:
  wayhop bundle receive inbox
  wayhop bundle receive files --folder received --count 1 --timeout 600";

/// A command to the agent, or to run one.
#[derive(Debug, Subcommand)]
pub(crate) enum BundleCommand {
    /// Run a bundle agent on this host: store, carry and forward bundles (RFC 9171)
    #[command(after_help = AGENT_EXAMPLES)]
    Agent(AgentArgs),
    /// Send a text or a file through this host's agent
    #[command(after_help = SEND_EXAMPLES)]
    Send(SendArgs),
    /// Receive bundles for an endpoint of this host's agent
    #[command(after_help = RECEIVE_EXAMPLES)]
    Receive(ReceiveArgs),
    /// List the bundles and contacts of this host's agent
    #[command(after_help = "Example: wayhop bundle list --json")]
    List(SocketArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    /// Configuration file in TOML (keys: docs/reference/bundle-agent.md)
    #[arg(value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Endpoint of this node, such as dtn://truck/ or ipn:5.0
    #[arg(long, value_name = "ENDPOINT")]
    pub(crate) node: Option<String>,
    /// File in which bundles are stored
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// Set any key of the configuration, such as routing=prophet (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Print only warnings and errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Where the agent is, and how to print its answer.
#[derive(Debug, clap::Args)]
pub(crate) struct SocketArgs {
    /// Socket of the agent: a path, or @NAME for an abstract socket
    #[arg(long, value_name = "SOCKET", default_value = DEFAULT_SOCKET)]
    pub(crate) socket: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl SocketArgs {
    pub(super) fn connect(&self) -> Result<Client, Failure> {
        Client::connect(&SocketName::parse(&self.socket)).map_err(failure)
    }
}

/// What an agent refuses, the user can mend.
pub(super) fn failure(e: ClientError) -> Failure {
    match e {
        ClientError::Refused(m) => Failure::Usage(m),
        other => Failure::Run(other.to_string()),
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct SendArgs {
    /// Destination endpoint, such as dtn://office/inbox or ipn:7.1
    pub(crate) destination: String,
    /// Send this text
    #[arg(long, conflicts_with = "file", required_unless_present = "file")]
    pub(crate) text: Option<String>,
    /// Send this file, with its name and digest; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Name of the file at the receiver. Default: its own name
    #[arg(long, value_name = "NAME", requires = "file")]
    pub(crate) name: Option<String>,
    /// Service of this node to send from, such as inbox. Default: the node's own endpoint
    #[arg(long, value_name = "SERVICE")]
    pub(crate) source: Option<String>,
    /// Lifetime of the bundle, in seconds
    #[arg(long, value_name = "S", default_value_t = 3600.0, value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) lifetime: f64,
    /// Request custody: an agent that accepts it keeps the bundle until another agent has accepted it
    #[arg(long)]
    pub(crate) custody: bool,
    /// Request a delivery report to this endpoint, from agents that have status_reports enabled
    #[arg(long, value_name = "ENDPOINT")]
    pub(crate) report_to: Option<String>,
    #[command(flatten)]
    pub(crate) at: SocketArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReceiveArgs {
    /// A service of this node, such as inbox, or a whole endpoint
    pub(crate) endpoint: String,
    /// Exit after N bundles
    #[arg(long, value_name = "N", value_parser = whole(1..=u64::MAX), allow_negative_numbers = true)]
    pub(crate) count: Option<u64>,
    /// Exit after S seconds without a bundle, with status 1 if fewer than --count have arrived
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) timeout: Option<f64>,
    /// Folder for received files
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) at: SocketArgs,
}
