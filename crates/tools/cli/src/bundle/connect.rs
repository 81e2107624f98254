//! How the commands reach an agent.

use wayhop_bundle_agent::{Client, ClientError};
use wayhop_control::SocketName;

use crate::failure::Failure;

/// The agent at this socket.
pub(super) fn connect(socket: &str) -> Result<Client, Failure> {
    Client::connect(&SocketName::parse(socket)).map_err(failure)
}

/// What an agent refuses, the user can mend.
pub(super) fn failure(e: ClientError) -> Failure {
    match e {
        ClientError::Refused(m) => Failure::Usage(m),
        other => Failure::Run(other.to_string()),
    }
}
