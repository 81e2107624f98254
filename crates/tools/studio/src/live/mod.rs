//! Runs under way, as a viewer follows them: emulations, labs and nodes, by their control sockets.
//!
//! A [`hub::Hub`] reads one run for all its viewers, each at a WebSocket ([`viewer`]). Messages are
//! kept for a while, so that a viewer that reconnects resumes where it was.

mod hub;
mod packets;
mod ring;
pub(crate) mod viewer;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use wayhop_control::{About, Client, Request, paths};

use crate::error::Error;
use hub::Hub;

/// Asks the run of a process to end, as `wayhop ctl quit` does. False if that process has no run that answers.
pub(crate) fn end(pid: u32) -> bool {
    let asked = |path: PathBuf| {
        let mut client = Client::connect(&path).ok()?;
        let about: About = client.ask_for(None, Request::Hello {}).ok()?;
        (about.pid == pid).then(|| client.ask_for::<Value>(None, Request::Quit {}).is_ok())
    };
    paths::sockets().into_iter().find_map(asked).unwrap_or(false)
}

/// The runs under way that a studio shows.
#[derive(Default)]
pub(crate) struct Live {
    /// The only one, if one was named.
    only: Option<String>,
    hubs: Mutex<BTreeMap<String, Arc<Hub>>>,
}

impl Live {
    /// All that run on this machine and let this user in, or the one of this name.
    ///
    /// # Errors
    /// A message for the user: nobody answers under that name.
    pub(crate) fn new(only: Option<String>) -> Result<Self, String> {
        let live = Self { only, hubs: Mutex::default() };
        if let Some(name) = &live.only {
            live.hub(name).map_err(|e| e.what)?;
        }
        Ok(live)
    }

    /// Those that answer, for the page.
    pub(crate) fn list(&self) -> Value {
        let named = |p: &PathBuf| self.only.as_ref().is_none_or(|only| paths::name_of(p) == *only);
        let of = |path: PathBuf| {
            let about: About = Client::connect(&path).ok()?.ask_for(None, Request::Hello {}).ok()?;
            Some(json!({
                "name": paths::name_of(&path), "world": about.world, "protocol": about.protocol,
                "nodes": about.nodes.len(), "pid": about.pid,
            }))
        };
        let runs: Vec<Value> = paths::sockets().into_iter().filter(named).filter_map(of).collect();
        json!({ "runs": runs })
    }

    /// The reader of a run, for one more viewer. One that has ended is connected again.
    pub(crate) fn hub(&self, name: &str) -> Result<Arc<Hub>, Error> {
        if self.only.as_ref().is_some_and(|only| only != name) {
            return Err(Error::not_found(format!("this studio does not show {name}")));
        }
        let mut hubs = self.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        hubs.retain(|_, hub| !hub.has_ended());
        if let Some(hub) = hubs.get(name) {
            return Ok(Arc::clone(hub));
        }
        let socket = paths::find(name).map_err(Error::not_found)?;
        let hub = Hub::open(&socket).map_err(|e| Error::not_found(e.to_string()))?;
        hubs.insert(name.to_owned(), Arc::clone(&hub));
        Ok(hub)
    }
}
