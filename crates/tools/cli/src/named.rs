//! The node that an option names.

use wayhop_netns::{Launch, Restart};
use wayhop_scenario::Resolved;

use crate::failure::{Failure, usage};

pub(crate) fn command(
    node: Option<&str>,
    command: &[std::ffi::OsString],
    resolved: &Resolved,
) -> Result<Option<Launch>, Failure> {
    let Some(name) = node else { return Ok(None) };
    let node = named("--node", name, resolved)?;
    // The user typed it, so it keeps the user's rights.
    let (node, command) = (node as u32, command.to_vec());
    let restart = Restart::Never;
    Ok(Some(Launch { node, command, output: None, has_terminal: true, confined: None, restart }))
}

pub(crate) fn named(option: &str, name: &str, resolved: &Resolved) -> Result<usize, Failure> {
    wayhop_core::node_named(&resolved.names, name).ok_or_else(|| {
        let last = resolved.names.len() - 1;
        usage!(
            "{option} {name}: no such node; give a number from 0 to {last}, mesh-0 to mesh-{last}, or a name"
        )
    })
}
