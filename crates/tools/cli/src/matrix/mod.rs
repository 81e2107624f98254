//! `wayhop matrix`: programmable attenuators that emulate the movement of real radios.

mod args;
mod calibrate;
#[cfg(feature = "linux")]
mod drive;
#[cfg(feature = "linux")]
mod fake;
mod layout;
#[cfg(feature = "linux")]
mod log;
#[cfg(feature = "linux")]
mod places;
#[cfg(feature = "linux")]
mod run;
mod solve;
mod switch;

#[cfg(feature = "linux")]
pub(crate) use drive::DriveRecord;
pub(crate) use solve::SolveReport;

use std::process::ExitCode;

use crate::failure::Failure;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum MatrixCommand {
    /// Compute attenuator settings for a scenario or random layouts, and their errors
    #[command(after_help = args::SOLVE_EXAMPLES)]
    Solve(Box<args::SolveArgs>),
    #[cfg(feature = "linux")]
    /// Set real attenuators once a second as nodes move
    #[command(after_help = args::DRIVE_EXAMPLES)]
    Drive(Box<args::DriveArgs>),
    /// Compute the insertion losses of a box's ports from measured path losses
    #[command(after_help = args::CALIBRATE_EXAMPLES)]
    Calibrate(args::CalibrateArgs),
    #[cfg(feature = "linux")]
    /// Serve a virtual box, whose path losses an emulation can use
    #[command(after_help = args::FAKE_EXAMPLES)]
    Fake(args::FakeArgs),
}

pub(crate) fn matrix(command: &MatrixCommand) -> Result<ExitCode, Failure> {
    match command {
        MatrixCommand::Solve(a) => solve::solve(a),
        #[cfg(feature = "linux")]
        MatrixCommand::Drive(a) => drive::drive(a),
        MatrixCommand::Calibrate(a) => calibrate::calibrate(a),
        #[cfg(feature = "linux")]
        MatrixCommand::Fake(a) => fake::fake(a),
    }
}
