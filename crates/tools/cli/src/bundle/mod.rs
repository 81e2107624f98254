//! `wayhop bundle`: a bundle agent, and programs that send and receive through it.

mod agent;
mod args;
mod connect;
mod list;
mod receive;
mod send;

use std::process::ExitCode;

pub(crate) use args::BundleCommand;
pub(crate) use list::List;
pub(crate) use receive::ReceivedBundle;
pub(crate) use send::SendReport;

use crate::failure::Failure;

pub(crate) fn bundle(command: &BundleCommand) -> Result<ExitCode, Failure> {
    match command {
        BundleCommand::Agent(a) => agent::agent(a),
        BundleCommand::Send(a) => send::send(a),
        BundleCommand::Receive(a) => receive::receive(a),
        BundleCommand::List(a) => list::list(a),
    }
}
