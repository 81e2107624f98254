//! The control socket: created with the node's initial privileges, served after they are dropped.

use wayhop_control::{About, Access, BoundSocket, Client, Server, paths};
use wayhop_linux::Error;

use crate::config::settings::Settings;
use crate::log::{Level, Log};
use crate::undo::Undo;

/// A socket that nobody serves yet, with its name.
pub(crate) fn begin(
    settings: &Settings,
    undo: &mut Undo,
    log: &Log,
) -> Result<Option<(BoundSocket, String)>, Error> {
    Ok(match (&settings.config.control, &settings.usual_control) {
        (Some(name), _) => Some((open(name, undo)?, name.clone())),
        (None, Some(name)) => open_usual(name, undo, log).map(|bound| (bound, name.clone())),
        (None, None) => None,
    })
}

/// Serves it, on a thread.
pub(crate) fn serve((bound, name): (BoundSocket, String), about: About) -> Result<(Server, String), Error> {
    bound.serve(about).map(|server| (server, name)).map_err(Error::system("serve the control socket"))
}

fn open(name: &str, undo: &mut Undo) -> Result<BoundSocket, Error> {
    let path = paths::socket(name).map_err(Error::Config)?;
    undo.unlink(&path)?;
    BoundSocket::new(&path, Access::Owner)
        .map_err(Error::system(format!("open the control socket {}", path.display())))
}

/// The control socket that nobody asked for: a node does without it where another one has it.
fn open_usual(name: &str, undo: &mut Undo, log: &Log) -> Option<BoundSocket> {
    let path = paths::socket(name).ok()?;
    if Client::connect(&path).is_ok() {
        let other = "another node uses the control socket";
        let say = "choose another with --set control=NAME";
        log.tell(Level::Warning, format!("{other} {name}: `wayhop ctl` cannot reach this node; {say}"));
        return None;
    }
    match open(name, undo) {
        Ok(bound) => {
            log.tell(Level::Info, format!("control: wayhop ctl --run {name} routes, counters, params, ..."));
            Some(bound)
        }
        Err(e) => {
            log.tell(Level::Warning, format!("{e}; `wayhop ctl` cannot reach this node"));
            None
        }
    }
}
