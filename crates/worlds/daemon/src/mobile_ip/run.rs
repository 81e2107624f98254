//! An agent or a mobile node, from its beginning to its end.

use std::path::Path;

use wayhop_application_host::{Settings, run_until, signals};
use wayhop_core::Purpose;
use wayhop_linux::Error;

use super::setup::{AgentParts, Role, set_up};
use crate::kernel::privileges;
use crate::kernel::random::random_seed;

/// Runs until a signal ends it, and sets the host back.
///
/// # Errors
/// If it cannot begin or go on, or the host is not as before.
pub fn run(role: Role, path: &Path) -> Result<(), Error> {
    let signals = signals().map_err(Error::system("wait for signals"))?;
    let AgentParts { application, mut network, says, user } = set_up(role, path)?;
    let seed = random_seed().map_err(Error::system("get a random number"))?;
    if let Some(undo) = &mut network.undo {
        undo.seal();
    }
    privileges::give_up_but_ports(&user)?;
    let log = network.log.clone();
    if let Some(memory) = &mut network.memory {
        memory.write(&log);
    }
    for port in network.ports.iter().filter(|p| !p.is_there()) {
        log.warning(format_args!("interface {} does not exist yet; waiting for it", port.name()));
    }
    log.info(format_args!("begins: {says}"));
    let addr = network.home.into();
    let settings = Settings { addr, seed, purpose: Purpose::Authentication, ..Settings::default() };
    let ended = run_until(&signals, application, &settings, None, Some(&mut network), &mut ());
    match (ended, network.end()) {
        (Ok(figures), set_back) => {
            let count = |name: &str| figures.get(name).copied().unwrap_or(0.0);
            log.info(format_args!(
                "stopped: {} requests refused, {} denied, {} unauthenticated messages",
                count("refused"),
                count("denied"),
                count("not_believed")
            ));
            set_back
        }
        (Err(why), Err(e)) => Err(Error::System(format!("{why}; {e}"))),
        (Err(why), Ok(())) => Err(Error::System(why.to_string())),
    }
}
