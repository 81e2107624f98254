//! The `wayhop` command: arguments, progress, messages. What it does is in the crates below.

mod args;
mod decode;
mod export;
mod failure;
mod import;
mod progress;
mod reference;
mod run;
mod source;

pub use args::command;
pub use reference::reference_markdown;

use std::process::ExitCode;

use clap::FromArgMatches as _;

use args::{Args, Command};

/// Runs the command line; a failure is one message on standard error.
pub fn main() -> ExitCode {
    let matches = args::command().get_matches();
    let args = match Args::from_arg_matches(&matches) {
        Ok(args) => args,
        Err(e) => e.exit(),
    };
    let outcome = match args.command {
        Command::Run(a) => run::run(&a),
        Command::Export(a) => export::export(&a),
        Command::Import(a) => import::import(&a),
        Command::Decode(a) => decode::decode(&a),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}
