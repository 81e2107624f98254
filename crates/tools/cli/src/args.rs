//! The command line. Its spellings are a contract: they are added to, never changed.

use std::path::PathBuf;

use clap::{CommandFactory as _, Parser, Subcommand};

const ENDING: &str = "\
Exit codes: 0 success; 1 failure; 2 invalid arguments or input; 126 COMMAND not executable; 127 COMMAND not found; \
130 interrupted. docs/reference/exit-codes.md lists them all.

Start with: wayhop run scenarios/first.toml

Packages install the scenarios in /usr/share/wayhop or /usr/local/share/wayhop; copy them:
  cp -r /usr/share/wayhop/scenarios .";

/// Simulate mobile ad hoc networks with the routing protocols that run on real radios.
#[derive(Debug, Parser)]
#[command(name = "wayhop", version = wayhop_core::version::full(), max_term_width = 100)]
#[command(after_help = ENDING)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulate a scenario
    #[command(after_help = crate::run::EXAMPLES)]
    Run(crate::run::RunCommand),
    /// List radio presets, protocol profiles and papers, or print the values of one
    #[command(after_help = crate::presets::EXAMPLES)]
    Presets(crate::presets::PresetsArgs),
    /// Show what movement and range allow: shortest paths, path changes, partitions, links
    #[command(after_help = crate::topology::EXAMPLES)]
    Topology(crate::topology::TopologyArgs),
    /// Emulate distances between real radios with a matrix of programmable attenuators
    #[command(subcommand)]
    Matrix(crate::matrix::MatrixCommand),
    /// Run a scenario with every combination of the values in a plan or --vary, and summarise the results
    #[command(after_help = crate::sweep::EXAMPLES)]
    Sweep(crate::sweep::SweepArgs),
    /// Draw a figure of runs or a sweep as SVG, PNG or PDF, with its data as CSV
    #[command(after_help = crate::plot::EXAMPLES)]
    Plot(crate::plot::PlotArgs),
    /// Write an HTML page with all figures of runs or a sweep, and how they were produced
    #[command(after_help = crate::report::EXAMPLES)]
    Report(crate::report::ReportArgs),
    #[cfg(feature = "linux")]
    /// Run a scenario in real time with real programs, each node in a network namespace
    #[command(after_help = crate::emulate::EXAMPLES)]
    Emulate(crate::emulate::EmulateArgs),
    #[cfg(feature = "linux")]
    /// Run a command in a node of a running emulation or lab
    #[command(after_help = crate::emulate::EXEC_EXAMPLES)]
    Exec(crate::emulate::ExecArgs),
    #[cfg(feature = "studio")]
    /// Draw a scenario in the browser, or replay runs: positions, links, packet paths and losses
    #[command(after_help = crate::studio::EXAMPLES)]
    Studio(crate::studio::StudioArgs),
    /// Export a scenario or a run to another tool's format
    #[command(subcommand)]
    Export(crate::export::ExportArgs),
    /// Import another tool's files as a scenario
    #[command(subcommand)]
    Import(crate::import::ImportArgs),
    /// Print the routing messages in a capture, one JSON object per line
    Decode(crate::decode::DecodeArgs),
    /// Replay recorded engine inputs and report the first difference
    #[command(after_help = crate::replay::EXAMPLES)]
    Replay(crate::replay::ReplayArgs),
    /// List the lost packets of a run with the causes, or follow one packet across nodes
    #[command(after_help = crate::why::EXAMPLES)]
    Why(crate::why::WhyArgs),
    /// Find packets in one capture that are missing from another, grouped into bursts by time and place
    #[command(after_help = crate::diff::EXAMPLES)]
    Diff(crate::diff::DiffArgs),
    /// Compare the results of runs, simulated, emulated or from the field
    #[command(after_help = crate::compare::EXAMPLES)]
    Compare(crate::compare::CompareArgs),
    /// Merge the run directories of field nodes into one, with a common clock
    #[command(after_help = crate::merge::EXAMPLES)]
    Merge(crate::merge::MergeArgs),
    /// Complete the tables and the summary of a run that was killed
    #[command(after_help = crate::recover::HELP)]
    Recover(crate::recover::RecoverArgs),
    /// Repeat a paper's experiments and compare the results with its numbers
    #[command(after_help = crate::reproduce::EXAMPLES)]
    Reproduce(crate::reproduce::ReproduceArgs),
    #[cfg(feature = "linux")]
    #[command(flatten)]
    OnHost(HostCommand),
    /// Write the manual pages, one per command
    #[command(after_help = "Example: wayhop man man1 && man -l man1/wayhop-run.1")]
    Man {
        /// Folder for wayhop.1, wayhop-run.1, ...
        #[arg(default_value = ".")]
        dir: PathBuf,
    },
    /// Print a shell completion script
    #[command(
        after_help = "Example: wayhop completions bash > ~/.local/share/bash-completion/completions/wayhop\n\nTo complete \
                      the names of running nodes as well: source <(COMPLETE=bash wayhop)"
    )]
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
}

/// Commands that need Linux and its network.
#[cfg(feature = "linux")]
#[derive(Debug, Subcommand)]
pub(crate) enum HostCommand {
    /// Run a scenario's nodes as daemons on this machine, in network namespaces joined by Ethernet and a macfilter
    #[command(after_help = crate::lab::EXAMPLES)]
    Lab(crate::lab::LabArgs),
    /// Run a routing protocol on this host, as one node of a real mesh
    #[command(after_help = crate::node::EXAMPLES)]
    Node(crate::node::NodeArgs),
    /// Send, receive, carry and forward bundles (delay-tolerant networking)
    #[command(subcommand)]
    Bundle(crate::bundle::BundleCommand),
    /// Run a built-in application on this host, like [[applications]] in a scenario
    #[command(after_help = crate::application::EXAMPLES)]
    Application(crate::application::ApplicationArgs),
    /// Keep a host's address while it moves between links (RFC 5944): home agent, foreign agent, mobile node
    #[command(after_help = crate::mobile_ip::EXAMPLES, subcommand)]
    MobileIp(crate::mobile_ip::MobileIpCommand),
    /// Restore what a node changed (started by the node itself)
    #[command(name = wayhop_daemon::UNDO_COMMAND, hide = true)]
    NodeUndo {
        /// Process of the node
        node: u32,
        /// Lists of what to restore
        lists: Vec<PathBuf>,
    },
    /// Hold the processes of a node (started by the run itself)
    #[command(name = wayhop_netns::INIT_COMMAND, hide = true)]
    NodeInit,
    /// Become a program in a node (started by the run itself)
    #[command(name = wayhop_netns::PROGRAM_COMMAND, hide = true)]
    NodeProgram(crate::emulate::ProgramArgs),
    /// Inspect and control a running emulation, lab or node
    #[command(after_help = crate::ctl::EXAMPLES)]
    Ctl(crate::ctl::CtlArgs),
    /// Carry a GNSS reference station's corrections through the mesh to each node's receiver
    #[command(subcommand)]
    Corrections(crate::corrections::CorrectionsCommand),
    /// Check, set up, start and stop the hosts of a field run over SSH, and fetch their records
    #[command(subcommand)]
    Fleet(crate::fleet::FleetCommand),
    /// Receive the nodes' reports and append them to files
    #[command(after_help = crate::collect::EXAMPLE)]
    Collect(crate::collect::CollectArgs),
    /// Check whether this machine can run each mode, and how to fix what is missing
    #[command(after_help = crate::doctor::EXAMPLES)]
    Doctor(crate::doctor::DoctorArgs),
}

/// The definition of the command line.
pub fn command() -> clap::Command {
    Args::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `max_term_width`: clap breaks longer lines at any word.
    const WIDEST: usize = 100;

    #[test]
    fn examples_below_the_options_are_not_broken_anew() {
        fn check(command: &clap::Command) {
            let texts = [command.get_after_help(), command.get_after_long_help()];
            let text = texts.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            // The other lines are prose, which may be broken.
            for line in text.lines().filter(|l| l.starts_with(' ')) {
                assert!(line.chars().count() <= WIDEST, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&command());
    }
}
