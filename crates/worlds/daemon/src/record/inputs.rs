//! The log of the engine's inputs, for `wayhop replay`.

use std::fs;
use std::path::{Path, PathBuf};

use wayhop_core::Configured;
use wayhop_linux::Error;
use wayhop_linux::interface::InterfaceFacts;
use wayhop_replay::{Header, Logs, Pace, RecordedLink};
use wayhop_trace::RunDir;

use crate::config::plan::Addresses;
use crate::kernel::ownership::give_to;

/// A log of this protocol, as it begins and as it is after a reboot, that waits for its file. What happens while the node is set up is kept.
pub(crate) fn waiting(
    (protocol, after_reboot): (&Configured, &Configured),
    (name, seed): (&str, u64),
    addresses: &Addresses,
    interfaces: &[(String, InterfaceFacts)],
) -> Box<Logs> {
    let links = interfaces.iter().map(|(_, facts)| RecordedLink::new(facts.mac)).collect();
    let header = Header::new("field", "", protocol, seed).of_node(None, name, addresses.own, links);
    let address6 = addresses.own6.map(|(addr, _)| addr);
    let prefix_len = addresses.mesh.len();
    let header = Header { address6, prefix_len, ..header.rebooting_as(after_reboot) };
    Box::new(Logs::waiting(std::iter::once(&header), Pace::RealTime))
}

/// Makes its file, with the rights that the node starts with, and gives it to the node's user. Without a name it is in the
/// run directory.
pub(crate) fn make(
    logs: &mut Logs,
    file: Option<&Path>,
    run: Option<&RunDir>,
    name: &str,
    user: &str,
) -> Result<(), Error> {
    let in_run = |dir: &RunDir| -> Result<PathBuf, Error> {
        dir.make_inputs_dir().map_err(|e| Error::System(e.to_string()))?;
        // A card holds days of it so.
        let path = dir.inputs_path(name).with_extension("jsonl.gz");
        if let Some(folder) = path.parent() {
            give_to(folder, user)
                .map_err(Error::system(format!("change the owner of {} to {user}", folder.display())))?;
        }
        Ok(path)
    };
    let path = match (file, run) {
        (Some(file), _) => {
            if let Some(folder) = file.parent().filter(|f| !f.as_os_str().is_empty() && !f.exists()) {
                fs::create_dir_all(folder).map_err(Error::system(format!("make {}", folder.display())))?;
            }
            file.to_owned()
        }
        (None, Some(dir)) => in_run(dir)?,
        // Refused before.
        (None, None) => return Ok(()),
    };
    logs.open(std::slice::from_ref(&path)).map_err(Error::System)?;
    give_to(&path, user).map_err(Error::system(format!("change the owner of {} to {user}", path.display())))
}
