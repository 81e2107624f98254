//! `wayhop mobile-ip`.

use std::path::PathBuf;

use wayhop_daemon::mobile_ip::{self, Role};

use crate::failure::Failure;

pub(crate) const EXAMPLES: &str = "\
Examples:
  sudo wayhop mobile-ip home-agent home.toml
  sudo wayhop mobile-ip foreign-agent gateway.toml
  sudo wayhop mobile-ip node roving.toml
  wayhop mobile-ip node roving.toml --check

docs/concepts/mobile-ip.md has the three files of an example, docs/reference/mobile-ip.md their keys.";

/// What this host is.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum MobileIpCommand {
    /// Intercept packets for mobile nodes that are away from this network, and tunnel them to the nodes
    HomeAgent(ConfigArgs),
    /// Terminate home agents' tunnels for mobile nodes that visit a link or a mesh of this host
    ForeignAgent(ConfigArgs),
    /// Keep this host's address while it moves, and use the best link
    Node(ConfigArgs),
}

/// The configuration.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// Configuration file in TOML (keys: docs/reference/mobile-ip.md)
    config: PathBuf,
    /// Check the configuration and exit
    #[arg(long)]
    check: bool,
}

pub(crate) fn mobile_ip(command: &MobileIpCommand) -> Result<(), Failure> {
    let (role, a) = match command {
        MobileIpCommand::HomeAgent(a) => (Role::HomeAgent, a),
        MobileIpCommand::ForeignAgent(a) => (Role::ForeignAgent, a),
        MobileIpCommand::Node(a) => (Role::Node, a),
    };
    if a.check {
        mobile_ip::check(role, &a.config)?;
    } else {
        mobile_ip::run(role, &a.config)?;
    }
    Ok(())
}
