//! `wayhop matrix`: programmable attenuators that emulate the movement of real radios.

mod args;
mod calibrate;
#[cfg(feature = "linux")]
mod drive;
#[cfg(feature = "linux")]
mod fake;
mod layout;
#[cfg(feature = "linux")]
mod places;
mod solve;

#[cfg(feature = "linux")]
pub(crate) use drive::DriveRecord;
pub(crate) use solve::SolveReport;

use crate::failure::Failure;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum MatrixCommand {
    /// Compute attenuator settings for a scenario or random layouts, and their errors
    #[command(after_help = solve::EXAMPLES)]
    Solve(Box<solve::SolveArgs>),
    #[cfg(feature = "linux")]
    /// Set real attenuators once a second as nodes move
    #[command(after_help = drive::EXAMPLES)]
    Drive(Box<drive::DriveArgs>),
    /// Compute the insertion losses of a box's ports from measured path losses
    #[command(after_help = calibrate::EXAMPLES)]
    Calibrate(calibrate::CalibrateArgs),
    #[cfg(feature = "linux")]
    /// Serve a virtual box, whose path losses an emulation can use
    #[command(after_help = fake::EXAMPLES)]
    Fake(fake::FakeArgs),
}

pub(crate) fn matrix(command: &MatrixCommand) -> Result<(), Failure> {
    match command {
        MatrixCommand::Solve(a) => solve::solve(a),
        #[cfg(feature = "linux")]
        MatrixCommand::Drive(a) => drive::drive(a),
        MatrixCommand::Calibrate(a) => calibrate::calibrate(a),
        #[cfg(feature = "linux")]
        MatrixCommand::Fake(a) => fake::fake(a),
    }
}
