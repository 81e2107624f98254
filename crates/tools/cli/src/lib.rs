//! The `wayhop` command: arguments, progress, messages. The work is done in the crates below.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

#[cfg(feature = "linux")]
mod application;
mod args;
#[cfg(feature = "linux")]
mod bundle;
mod chains;
mod check;
#[cfg(feature = "linux")]
mod collect;
mod compare;
#[cfg(feature = "linux")]
mod corrections;
#[cfg(feature = "linux")]
mod ctl;
mod decode;
mod diff;
#[cfg(feature = "linux")]
mod doctor;
#[cfg(feature = "linux")]
mod emulate;
mod export;
mod failure;
#[cfg(feature = "linux")]
mod fleet;
mod import;
mod job_progress;
#[cfg(feature = "linux")]
mod lab;
mod matrix;
mod merge;
#[cfg(feature = "linux")]
mod mobile_ip;
#[cfg(feature = "linux")]
mod named;
#[cfg(feature = "linux")]
mod node;
mod ns2_script;
mod plot;
mod presets;
mod progress;
mod record;
mod recover;
mod reference;
mod replay;
mod report;
mod reproduce;
mod run;
mod scenario_args;
mod schemas;
mod show;
#[cfg(feature = "studio")]
mod studio;
#[cfg(feature = "linux")]
mod supervise;
mod sweep;
mod sweep_check;
mod topology;
mod whole;
mod why;

pub use args::command;
pub use reference::{exit_codes_markdown, reference_markdown};
#[cfg(feature = "linux")]
pub use schemas::HOST_SCHEMAS;
pub use schemas::{SCHEMAS, Schema};

use std::process::ExitCode;

use clap::Parser as _;

#[cfg(feature = "linux")]
use args::HostCommand;
use args::{Args, Command};
use failure::{Failure, exit, put};

/// Runs the command line; a failure is one message on standard error.
pub fn main() -> ExitCode {
    #[cfg(feature = "linux")]
    wayhop_protocols::supervise_by(supervise::supervise);
    // Answers completion requests of the shell and exits.
    clap_complete::CompleteEnv::with_factory(args::command).complete();
    match Args::parse().command {
        Command::Run(a) => exit(run::run_command(&a)),
        Command::Sweep(a) => exit(sweep::sweep(&a)),
        Command::Plot(a) => exit(plot::plot(&a)),
        Command::Report(a) => exit(report::report(&a)),
        Command::Presets(a) => exit(presets::list(&a)),
        Command::Topology(a) => exit(topology::topology(&a)),
        Command::Matrix(a) => exit(matrix::matrix(&a)),
        #[cfg(feature = "linux")]
        Command::Emulate(a) => exit(emulate::emulate(&a)),
        #[cfg(feature = "linux")]
        Command::Exec(a) => exit(emulate::exec(&a)),
        #[cfg(feature = "studio")]
        Command::Studio(a) => exit(studio::studio(&a)),
        Command::Export(a) => exit(export::export(&a)),
        Command::Import(a) => exit(import::import(&a)),
        Command::Decode(a) => exit(decode::decode(&a)),
        Command::Replay(a) => exit(replay::replay(&a)),
        Command::Why(a) => exit(why::why(&a)),
        Command::Diff(a) => exit(diff::diff(&a)),
        Command::Compare(a) => exit(compare::compare(&a)),
        Command::Merge(a) => exit(merge::merge(&a)),
        Command::Recover(a) => exit(recover::recover(&a)),
        Command::Reproduce(a) => exit(reproduce::reproduce(&a)),
        #[cfg(feature = "linux")]
        Command::OnHost(command) => on_host(command),
        Command::Man { dir } => exit(reference::man(&dir)),
        Command::Completions { shell } => exit(completions(shell)),
    }
}

#[cfg(feature = "linux")]
fn on_host(command: HostCommand) -> ExitCode {
    match command {
        HostCommand::Lab(a) => exit(lab::lab(&a)),
        HostCommand::Node(a) => exit(node::node(&a)),
        HostCommand::Bundle(c) => exit(bundle::bundle(&c)),
        HostCommand::Application(a) => exit(application::application(&a)),
        HostCommand::MobileIp(c) => exit(mobile_ip::mobile_ip(&c)),
        HostCommand::NodeUndo { node, lists } => exit(node::undo(node, &lists)),
        HostCommand::NodeInit => exit(emulate::init()),
        HostCommand::NodeProgram(a) => exit(emulate::program(&a)),
        HostCommand::Ctl(a) => exit(ctl::ctl(a)),
        HostCommand::Corrections(command) => exit(corrections::corrections(&command)),
        HostCommand::Fleet(command) => exit(fleet::fleet(&command)),
        HostCommand::Collect(a) => exit(collect::collect(&a)),
        HostCommand::Doctor(a) => exit(doctor::doctor(&a)),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "wayhop", &mut script);
    put(String::from_utf8_lossy(&script))
}
