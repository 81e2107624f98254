//! The arguments of `wayhop bundle`.

use std::path::PathBuf;

use clap::Subcommand;
use wayhop_bundle_agent::{Client, ClientError, DEFAULT_SOCKET};
use wayhop_control::SocketName;

use crate::failure::Failure;
use crate::scenario_args::{seconds, whole};

const AGENT_EXAMPLES: &str = "\
Listens on TCP port 4556 (TCPCLv4) and UDP port 4556 (UDPCL), for neighbours' beacons on UDP port 4551, and for programs at a socket. \
docs/reference/bundle-agent.md lists the keys of CONFIG, docs/reference/bundle-socket.md describes the socket. Ends with SIGINT or \
SIGTERM; what it had promised survives every other end, too.

Examples:
  wayhop bundle agent /etc/wayhop/agent.toml
  wayhop bundle agent --node dtn://truck/ --store truck.redb
  wayhop bundle agent --node ipn:5.0 --store five.redb --set layer=udpcl --set routing=prophet";

const SEND_EXAMPLES: &str = "\
The bundle is safe in the agent's store when the command ends. Bundle Protocol 7 knows no priorities: bundles go in the order in \
which they were made.

Examples:
  wayhop bundle send dtn://office/inbox --text 'all is well'
  wayhop bundle send dtn://office/files --file photo.jpg --custody --lifetime 86400
  tar c logs | wayhop bundle send dtn://office/logs --file -";

const RECEIVE_EXAMPLES: &str = "\
Prints texts, and writes files into the folder, each under its name if its digest is right. Without --count and --timeout it goes on \
until Ctrl-C.

Examples:
  wayhop bundle receive inbox
  wayhop bundle receive files --folder received --count 1 --timeout 600";

/// What is to be done with bundles.
#[derive(Debug, Subcommand)]
pub(crate) enum BundleCommand {
    /// Run a bundle agent on this host: store, carry and forward bundles (RFC 9171)
    #[command(after_help = AGENT_EXAMPLES)]
    Agent(AgentArgs),
    /// Send a text or a file by the agent of this host
    #[command(after_help = SEND_EXAMPLES)]
    Send(SendArgs),
    /// Receive what comes for an endpoint of this host's agent
    #[command(after_help = RECEIVE_EXAMPLES)]
    Receive(ReceiveArgs),
    /// List the bundles that the agent of this host holds, and whom it meets
    #[command(after_help = "Example: wayhop bundle list --json")]
    List(SocketArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct AgentArgs {
    /// Configuration file (TOML)
    #[arg(value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// The node's own endpoint, such as dtn://truck/ or ipn:5.0
    #[arg(long, value_name = "ENDPOINT")]
    pub(crate) node: Option<String>,
    /// The file with the store
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// Change any key of the configuration, such as routing=prophet; may be given again
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Say nothing but what goes wrong
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Where the agent is, and how to print its answer.
#[derive(Debug, clap::Args)]
pub(crate) struct SocketArgs {
    /// The agent's socket: a path, or @ and a name
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
    /// Where to: an endpoint, such as dtn://office/inbox or ipn:7.1
    pub(crate) destination: String,
    /// Send this text
    #[arg(long, conflicts_with = "file", required_unless_present = "file")]
    pub(crate) text: Option<String>,
    /// Send this file, with its name and digest; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The file's name at the other end; without it, its own
    #[arg(long, value_name = "NAME", requires = "file")]
    pub(crate) name: Option<String>,
    /// From which service of this node, such as inbox; without it, from the node's own endpoint
    #[arg(long, value_name = "SERVICE")]
    pub(crate) source: Option<String>,
    /// How long it is wanted, seconds
    #[arg(long, value_name = "S", default_value_t = 3600.0, value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) lifetime: f64,
    /// Ask for custody: each agent that takes it keeps the bundle until another one has taken it
    #[arg(long)]
    pub(crate) custody: bool,
    /// Have the delivery reported to this endpoint, by agents whose configuration allows it (status_reports)
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
    /// End when nothing has come for so long, seconds; with status 1 if fewer came than --count says
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) timeout: Option<f64>,
    /// Where files are written
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) at: SocketArgs,
}
