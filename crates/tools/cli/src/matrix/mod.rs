//! `wayhop matrix`: attenuators that move real radios without moving them.

mod args;
mod calibrate;
mod calibration;
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
mod rack;
#[cfg(feature = "linux")]
mod run;
mod solve;

#[cfg(feature = "linux")]
pub(crate) use drive::Line;
pub(crate) use solve::SolveReport;

use std::process::ExitCode;

use crate::failure::Failure;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum MatrixCommand {
    /// Find the attenuators' settings for a scenario, or for random layouts, and how far off they are
    #[command(after_help = args::SOLVE_EXAMPLES)]
    Solve(Box<args::SolveArgs>),
    #[cfg(feature = "linux")]
    /// Set real attenuators each second, as nodes move
    #[command(after_help = args::DRIVE_EXAMPLES)]
    Drive(Box<args::DriveArgs>),
    /// Find the insertion losses of a box's ports from measured path losses
    #[command(after_help = args::CALIBRATE_EXAMPLES)]
    Calibrate(args::CalibrateArgs),
    #[cfg(feature = "linux")]
    /// Serve a box that is none, whose path losses an emulation can take
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
