//! `wayhop bundle`: a bundle agent, and programs that send and receive through it.

mod agent;
mod args;
mod list;
mod receive;
mod send;

use std::process::ExitCode;

pub(crate) use args::BundleCommand;
pub(crate) use receive::ReceivedBundle;
pub(crate) use send::SendReport;

use crate::failure::Failure;

pub(crate) fn bundle(command: &BundleCommand) -> Result<ExitCode, Failure> {
    match command {
        BundleCommand::Agent(a) => agent::agent(a)?,
        BundleCommand::Send(a) => send::send(a)?,
        BundleCommand::Receive(a) => return receive::receive(a),
        BundleCommand::List(at) => list::list(at)?,
    }
    Ok(ExitCode::SUCCESS)
}
