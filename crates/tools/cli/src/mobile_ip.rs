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
    /// Take packets for mobile nodes that are away from this network, and tunnel them to where these are
    HomeAgent(ConfigArgs),
    /// Be the other end of that tunnel for mobile nodes that visit a link or a mesh of this host
    ForeignAgent(ConfigArgs),
    /// Move: keep this host's address on whichever link is the best one
    Node(ConfigArgs),
}

/// The configuration.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// Configuration file (TOML; docs/reference/mobile-ip.md lists its keys)
    config: PathBuf,
    /// Check the configuration, and do nothing else
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
