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
mod man;
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
pub mod schemas;
mod show;
mod source;
#[cfg(feature = "studio")]
mod studio;
mod sweep;
mod sweep_check;
mod topology;
mod whole;
mod why;

pub use args::command;
pub use reference::{exit_codes_markdown, reference_markdown};

use std::io::{Write as _, stdout};
use std::process::ExitCode;

use clap::FromArgMatches as _;

use args::{Args, Command};
use failure::{Failure, output};

/// Runs the command line; a failure is one message on standard error.
pub fn main() -> ExitCode {
    // Answers completion requests of the shell and exits.
    clap_complete::CompleteEnv::with_factory(args::command).complete();
    let matches = args::command().get_matches();
    let args = match Args::from_arg_matches(&matches) {
        Ok(args) => args,
        Err(e) => e.exit(),
    };
    let outcome = match args.command {
        Command::Run(a) => run::run_command(&a),
        Command::Sweep(a) => sweep::sweep(&a),
        Command::Plot(a) => plot::plot(&a),
        Command::Report(a) => report::report(&a),
        Command::Presets(a) => presets::list(&a),
        Command::Topology(a) => topology::topology(&a),
        Command::Matrix(a) => matrix::matrix(&a),
        #[cfg(feature = "linux")]
        Command::Emulate(a) => emulate::emulate(&a),
        #[cfg(feature = "linux")]
        Command::Exec(a) => emulate::exec(&a),
        #[cfg(feature = "studio")]
        Command::Studio(a) => studio::studio(&a),
        Command::Export(a) => export::export(&a),
        Command::Import(a) => import::import(&a),
        Command::Decode(a) => decode::decode(&a),
        Command::Replay(a) => replay::replay(&a),
        Command::Why(a) => why::why(&a),
        Command::Diff(a) => diff::diff(&a),
        Command::Compare(a) => compare::compare(&a),
        Command::Merge(a) => merge::merge(&a),
        Command::Recover(a) => recover::recover(&a),
        Command::Reproduce(a) => reproduce::reproduce(&a),
        #[cfg(feature = "linux")]
        Command::Lab(a) => lab::lab(&a),
        #[cfg(feature = "linux")]
        Command::Node(a) => node::node(&a),
        #[cfg(feature = "linux")]
        Command::Bundle(c) => bundle::bundle(&c),
        #[cfg(feature = "linux")]
        Command::Application(a) => application::application(&a),
        #[cfg(feature = "linux")]
        Command::MobileIp(c) => mobile_ip::mobile_ip(&c),
        #[cfg(feature = "linux")]
        Command::NodeUndo { node, lists } => node::undo(node, &lists),
        #[cfg(feature = "linux")]
        Command::NodeInit => emulate::init(),
        #[cfg(feature = "linux")]
        Command::NodeProgram(a) => emulate::program(&a),
        #[cfg(feature = "linux")]
        Command::Ctl(a) => ctl::ctl(a),
        #[cfg(feature = "linux")]
        Command::Corrections(command) => corrections::corrections(&command),
        #[cfg(feature = "linux")]
        Command::Fleet(command) => fleet::fleet(&command),
        #[cfg(feature = "linux")]
        Command::Collect(a) => collect::collect(&a),
        #[cfg(feature = "linux")]
        Command::Doctor(a) => doctor::doctor(&a),
        Command::Man { dir } => man::man(&dir),
        Command::Completions { shell } => completions(shell),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "wayhop", &mut script);
    output(stdout().write_all(&script))?;
    Ok(ExitCode::SUCCESS)
}
