//! The control socket: created with the node's initial privileges, served after they are dropped.

use wayhop_control::{About, Access, BoundSocket, Client, Server, paths};
use wayhop_linux::Error;

use crate::config::plan::{ControlPlan, ControlSocketName};
use crate::log::Log;
use crate::undo::Undo;

/// A socket that nobody serves yet, with its name.
pub(crate) struct ControlSocket {
    socket: Option<(BoundSocket, String)>,
    about: About,
}

impl ControlSocket {
    pub(crate) fn open(plan: ControlPlan, undo: &mut Undo, log: &Log) -> Result<Self, Error> {
        let socket = match plan.socket {
            Some(ControlSocketName::Given(name)) => Some((open(&name, undo)?, name)),
            Some(ControlSocketName::Usual(name)) => open_usual(&name, undo, log).map(|bound| (bound, name)),
            None => None,
        };
        Ok(Self { socket, about: plan.about })
    }

    /// Serves it, on a thread: the server, and the name.
    pub(crate) fn serve(self) -> Result<Option<(Server, String)>, Error> {
        let Some((bound, name)) = self.socket else { return Ok(None) };
        let server = bound.serve(self.about).map_err(Error::system("serve the control socket"))?;
        Ok(Some((server, name)))
    }
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
        log.warning(format!("{other} {name}: `wayhop ctl` cannot reach this node; {say}"));
        return None;
    }
    match open(name, undo) {
        Ok(bound) => {
            log.info(format!("control: wayhop ctl --run {name} routes, counters, params, ..."));
            Some(bound)
        }
        Err(e) => {
            log.warning(format!("{e}; `wayhop ctl` cannot reach this node"));
            None
        }
    }
}
