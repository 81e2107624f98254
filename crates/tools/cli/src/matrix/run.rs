//! A running run, through its control socket.

use wayhop_control::{About, Client, Request, paths};

use crate::failure::Failure;

/// Connects to a running run, and asks for its description.
pub(super) fn run_of(name: &str) -> Result<(Client, About), Failure> {
    let path = paths::find(name).map_err(Failure::Usage)?;
    let failed = |e: wayhop_control::ClientError| Failure::Run(format!("{name}: {e}"));
    let mut client = Client::connect(&path).map_err(failed)?;
    let about = client.ask_for(None, Request::Hello {}).map_err(failed)?;
    Ok((client, about))
}
