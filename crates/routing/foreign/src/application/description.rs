//! Descriptions of the applications of loaded libraries and modules.

use std::sync::Arc;

use serde_json::{Map, Value};
use wayhop_core::{
    Application, ApplicationDescription, ApplicationParameters, ParameterError, ReadApplication,
};

use super::facts::ApplicationFacts;
use crate::ffi::application::engine::LibraryApplication;
use crate::ffi::application::library::ApplicationLibrary;
use crate::ffi::values::Values;
use crate::parameter;
use crate::slots::{SLOTS, Slots, for_each_slot};

/// An application from outside: of a shared library, or of a Python module.
pub(crate) trait Foreign: Send + Sync {
    /// What it says about itself.
    fn facts(&self) -> &ApplicationFacts;
    /// The names of its remarks.
    fn notes(&self) -> &'static [&'static str];
    /// Checked values as its set of parameters.
    fn parameters(&'static self, values: Map<String, Value>) -> Arc<dyn ApplicationParameters>;
}

static LOADED: Slots<Box<dyn Foreign>> = Slots::new();

/// The functions of the description of the application at one place.
struct Functions {
    schema: fn() -> Value,
    defaults: fn() -> Map<String, Value>,
    read: ReadApplication,
}

static FUNCTIONS: [Functions; SLOTS] = for_each_slot!(functions);

const fn functions<const N: usize>() -> Functions {
    Functions {
        schema: || LOADED.at(N).map_or(Value::Null, |l| parameter::schema(&l.facts().parameters)),
        defaults: || {
            let loaded = LOADED.at(N);
            loaded.and_then(|l| parameter::read(&l.facts().parameters, &Map::new()).ok()).unwrap_or_default()
        },
        read: |given| match LOADED.at(N) {
            Some(loaded) => Ok(loaded.parameters(parameter::read(&loaded.facts().parameters, &given)?)),
            None => Err("the application is not loaded".to_owned()),
        },
    }
}

/// Gives an application a place.
///
/// # Errors
/// If all are taken.
pub(crate) fn add(application: Box<dyn Foreign>) -> Result<&'static ApplicationDescription, String> {
    let (place, loaded) = LOADED.add(application, "applications")?;
    Ok(Box::leak(Box::new(description(&**loaded, &FUNCTIONS[place]))))
}

fn description(of: &'static dyn Foreign, functions: &Functions) -> ApplicationDescription {
    let facts = of.facts();
    let addresses = facts.parameters.iter().filter(|p| p.is_address()).map(|p| p.key.as_str());
    ApplicationDescription {
        name: &facts.name,
        about: &facts.about,
        schema: functions.schema,
        defaults: functions.defaults,
        nodes: addresses.collect::<Vec<&'static str>>().leak(),
        notes: of.notes(),
        read: functions.read,
    }
}

impl Foreign for ApplicationLibrary {
    fn facts(&self) -> &ApplicationFacts {
        &self.facts
    }
    fn notes(&self) -> &'static [&'static str] {
        self.notes
    }
    fn parameters(&'static self, values: Map<String, Value>) -> Arc<dyn ApplicationParameters> {
        Arc::new(Set { library: self, values: Arc::new(Values::new(values, &self.facts.parameters)) })
    }
}

/// A set of the parameters of a library's application.
#[derive(Debug)]
struct Set {
    library: &'static ApplicationLibrary,
    values: Arc<Values>,
}

impl ApplicationParameters for Set {
    fn application(&self, node: Option<u32>) -> Box<dyn Application> {
        let node = node.unwrap_or(u32::MAX);
        Box::new(LibraryApplication::new(self.library, Arc::clone(&self.values), node))
    }
    fn values(&self) -> Map<String, Value> {
        self.values.map().clone()
    }
    fn check(&self) -> Result<(), ParameterError> {
        self.values.check(self.library.check())
    }
}
