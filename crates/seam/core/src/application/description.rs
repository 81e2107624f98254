//! An application's description for everything outside its folder.

use core::fmt;
use core::net::Ipv4Addr;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Application;
use super::link::LinkNeeds;
use crate::ParameterError;

/// Everything that the outside needs to know of an application. Each fills in one; the crate `wayhop-applications` lists them.
pub struct ApplicationDescription {
    /// Its name in scenarios: `request`.
    pub name: &'static str,
    /// What it is, for people: a noun phrase.
    pub about: &'static str,
    /// The JSON schema of its parameters.
    pub schema: fn() -> Value,
    /// The parameters that nobody set.
    pub defaults: fn() -> Map<String, Value>,
    /// Keys of parameters that are addresses: a scenario gives nodes by number or name there.
    pub nodes: &'static [&'static str],
    /// What it writes into the table `events`.
    pub notes: &'static [&'static str],
    /// Reads a whole set of parameters. The error is serde's.
    pub read: ReadApplication,
}

/// Makes parameters of values by key; refuses what is no value of its key.
pub type ReadApplication = fn(Map<String, Value>) -> Result<Arc<dyn ApplicationParameters>, String>;

/// A set of parameters of an application.
pub trait ApplicationParameters: fmt::Debug + Send + Sync {
    /// The application of this node; on a real host, which has no number in a scenario, `None`.
    fn application(&self, node: Option<u32>) -> Box<dyn Application>;
    /// The links that the application needs; most need none.
    fn links(&self) -> Vec<LinkNeeds> {
        Vec::new()
    }
    /// The address that its node has to have, if it names one.
    fn own_address(&self) -> Option<Ipv4Addr> {
        None
    }
    /// The address of its node that is no interface's own, and moves: that by which others know the node.
    fn home_address(&self) -> Option<Ipv4Addr> {
        None
    }
    /// All values by key.
    fn values(&self) -> Map<String, Value>;
    /// What values mean together.
    ///
    /// # Errors
    /// If an application could not work with them.
    fn check(&self) -> Result<(), ParameterError>;
}

/// An application with its parameters. A clone shares them.
#[derive(Clone)]
pub struct ConfiguredApplication {
    /// What it is.
    pub description: &'static ApplicationDescription,
    /// With these.
    pub parameters: Arc<dyn ApplicationParameters>,
}

impl PartialEq for ConfiguredApplication {
    fn eq(&self, other: &Self) -> bool {
        self.description.name == other.description.name
            && self.parameters.values() == other.parameters.values()
    }
}

impl fmt::Debug for ConfiguredApplication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(self.description.name).field(&self.parameters).finish()
    }
}
