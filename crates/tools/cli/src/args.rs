//! The command line. Its spellings are a contract: they are added to, never changed.

use std::path::PathBuf;

use clap::{CommandFactory as _, Parser, Subcommand};

const ENDING: &str = "\
Exit codes: 0, done; 1, something went wrong; 2, what was given cannot be used; 126 and 127, a COMMAND cannot be run, is \
not there; 130, stopped. docs/reference/exit-codes.md has the whole table.

Begin with: wayhop run scenarios/first.toml";

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
    /// List radio presets, protocols' profiles and papers; or print the values of one
    #[command(after_help = crate::presets::EXAMPLES)]
    Presets(crate::presets::PresetsArgs),
    /// Say what movement and range allow: shortest paths, their changes, partitions, links
    #[command(after_help = crate::topology::EXAMPLES)]
    Topology(crate::topology::TopologyArgs),
    /// Emulate distances between real radios with a matrix of programmable attenuators
    #[command(subcommand)]
    Matrix(crate::matrix::MatrixCommand),
    /// Run a scenario in every combination of what a plan or --vary varies, on all cores, and sum up
    #[command(after_help = crate::sweep::EXAMPLES)]
    Sweep(crate::sweep::SweepArgs),
    /// Draw a figure of runs or of a sweep, as SVG, PNG or PDF, with its numbers as CSV
    #[command(after_help = crate::plot::EXAMPLES)]
    Plot(crate::plot::PlotArgs),
    /// Write a page with all figures of runs or of a sweep, and how they were made
    #[command(after_help = crate::report::EXAMPLES)]
    Report(crate::report::ReportArgs),
    #[cfg(feature = "linux")]
    /// Run a scenario on the real clock: each node a network namespace, for real programs
    #[command(after_help = crate::emulate::EXAMPLES)]
    Emulate(crate::emulate::EmulateArgs),
    #[cfg(feature = "linux")]
    /// Run a command in a node of an emulation or a lab that runs
    #[command(after_help = crate::emulate::EXEC_EXAMPLES)]
    Exec(crate::emulate::ExecArgs),
    #[cfg(feature = "studio")]
    /// Draw a scenario in a browser, or replay runs: who is where, who hears whom, which way packets go and where they are lost
    #[command(after_help = crate::studio::EXAMPLES)]
    Studio(crate::studio::StudioArgs),
    /// Write a scenario or a run in another tool's format
    #[command(subcommand)]
    Export(crate::export::ExportArgs),
    /// Make a scenario file of another tool's files
    #[command(subcommand)]
    Import(crate::import::ImportArgs),
    /// Print the routing messages of a capture, one JSON object a line
    Decode(crate::decode::DecodeArgs),
    /// Feed logs of what went into routing engines to the engines again, and say what they do otherwise
    #[command(after_help = crate::replay::EXAMPLES)]
    Replay(crate::replay::ReplayArgs),
    /// Say why a packet of a run was lost: its story across nodes; or which packets were lost, and why
    #[command(after_help = crate::why::EXAMPLES)]
    Why(crate::why::WhyArgs),
    /// Find the packets that one capture sent and another did not receive, in bursts by time and place
    #[command(after_help = crate::diff::EXAMPLES)]
    Diff(crate::diff::DiffArgs),
    /// Set the results of runs side by side, in whatever worlds they were made
    #[command(after_help = crate::compare::EXAMPLES)]
    Compare(crate::compare::CompareArgs),
    /// Unite run directories of field nodes into one, with one clock
    #[command(after_help = crate::merge::EXAMPLES)]
    Merge(crate::merge::MergeArgs),
    /// Complete the tables and the summary of a run that was killed
    #[command(after_help = crate::recover::HELP)]
    Recover(crate::recover::RecoverArgs),
    /// Run a paper's experiments again, and set the results beside its numbers
    #[command(after_help = crate::reproduce::EXAMPLES)]
    Reproduce(crate::reproduce::ReproduceArgs),
    #[cfg(feature = "linux")]
    /// Run a scenario's nodes as daemons on this machine, each in a network namespace, on one Ethernet with a macfilter
    #[command(after_help = crate::lab::EXAMPLES)]
    Lab(crate::lab::LabArgs),
    #[cfg(feature = "linux")]
    /// Run a routing protocol on this host: one node of a real mesh
    #[command(after_help = crate::node::EXAMPLES)]
    Node(crate::node::NodeArgs),
    #[cfg(feature = "linux")]
    /// Store, carry and forward bundles (delay-tolerant networking), and send and receive them
    #[command(subcommand)]
    Bundle(crate::bundle::BundleCommand),
    #[cfg(feature = "linux")]
    /// Run an application of Wayhop's on this host: what [[applications]] of a scenario runs at a node
    #[command(after_help = crate::application::EXAMPLES)]
    Application(crate::application::ApplicationArgs),
    #[cfg(feature = "linux")]
    /// Keep a host's address while it moves between links (RFC 5944): home agent, foreign agent, mobile node
    #[command(after_help = crate::mobile_ip::EXAMPLES, subcommand)]
    MobileIp(crate::mobile_ip::MobileIpCommand),
    #[cfg(feature = "linux")]
    /// Set back what a node changed (a node starts this by itself)
    #[command(name = wayhop_daemon::UNDO_COMMAND, hide = true)]
    NodeUndo {
        /// Process of the node
        node: u32,
        /// Lists of what to set back
        lists: Vec<PathBuf>,
    },
    #[cfg(feature = "linux")]
    /// Hold the processes of a node (a run starts this by itself)
    #[command(name = wayhop_netns::INIT_COMMAND, hide = true)]
    NodeInit,
    #[cfg(feature = "linux")]
    /// Become a program in a node (a run starts this by itself)
    #[command(name = wayhop_netns::PROGRAM_COMMAND, hide = true)]
    NodeProgram(crate::emulate::ProgramArgs),
    #[cfg(feature = "linux")]
    /// Talk to a running emulation, lab or node
    #[command(after_help = crate::ctl::EXAMPLES)]
    Ctl(crate::ctl::CtlArgs),
    #[cfg(feature = "linux")]
    /// Carry a GNSS reference station's corrections through the mesh to each node's receiver
    #[command(subcommand)]
    Corrections(crate::corrections::CorrectionsCommand),
    #[cfg(feature = "linux")]
    /// Check, equip, start and stop the hosts of a field run over ssh, and fetch their records
    #[command(subcommand)]
    Fleet(crate::fleet::FleetCommand),
    #[cfg(feature = "linux")]
    /// Receive the reports of nodes and write them down
    #[command(after_help = crate::collect::EXAMPLE)]
    Collect(crate::collect::CollectArgs),
    #[cfg(feature = "linux")]
    /// Say what this machine lacks for each world, and the remedy
    #[command(after_help = crate::doctor::EXAMPLES)]
    Doctor(crate::doctor::DoctorArgs),
    /// Write the manual pages, one for each command
    #[command(after_help = "Example: wayhop man man1 && man -l man1/wayhop-run.1")]
    Man {
        /// Folder for wayhop.1, wayhop-run.1, ...
        #[arg(default_value = ".")]
        dir: PathBuf,
    },
    /// Print a script that completes this command's arguments in a shell
    #[command(
        after_help = "Example: wayhop completions bash > ~/.local/share/bash-completion/completions/wayhop\n\n\
        With the names of running nodes, too: source <(COMPLETE=bash wayhop)"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// The definition of the command line.
pub fn command() -> clap::Command {
    Args::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `max_term_width`; clap would break a longer line wherever it ends.
    const WIDEST: usize = 100;

    #[test]
    fn examples_below_the_options_are_not_broken_anew() {
        fn check(command: &clap::Command) {
            let texts = [command.get_after_help(), command.get_after_long_help()];
            let text = texts.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            // The others are prose, which may.
            for line in text.lines().filter(|l| l.starts_with(' ')) {
                assert!(line.chars().count() <= WIDEST, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&command());
    }
}
