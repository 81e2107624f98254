//! Descriptions of the applications of libraries: as of protocols (`crate::slots`), their functions cannot carry a library
//! with them.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};
use wayhop_core::{
    Application, ApplicationDescription, ApplicationParameters, ParameterError, ReadApplication,
};

use crate::ffi::application::engine::ForeignApplication;
use crate::ffi::application::library::ApplicationLibrary;
use crate::ffi::values::Values;
use crate::parameter;
use crate::slots::SLOTS;

static LOADED: [OnceLock<ApplicationLibrary>; SLOTS] = [const { OnceLock::new() }; SLOTS];

/// The functions of the description of the library at one place.
struct Functions {
    schema: fn() -> Value,
    defaults: fn() -> Map<String, Value>,
    read: ReadApplication,
}

static FUNCTIONS: [Functions; SLOTS] = [
    functions::<0>(),
    functions::<1>(),
    functions::<2>(),
    functions::<3>(),
    functions::<4>(),
    functions::<5>(),
    functions::<6>(),
    functions::<7>(),
];

const fn functions<const N: usize>() -> Functions {
    Functions {
        schema: || LOADED[N].get().map_or(Value::Null, |l| parameter::schema(&l.facts.parameters)),
        defaults: || {
            let library = LOADED[N].get();
            library.and_then(|l| parameter::read(&l.facts.parameters, &Map::new()).ok()).unwrap_or_default()
        },
        read: |given| match LOADED[N].get() {
            Some(library) => {
                let values = parameter::read(&library.facts.parameters, &given)?;
                Ok(Arc::new(Set { library, values: Arc::new(library.values(values)) }))
            }
            None => Err("the library is not loaded".to_owned()),
        },
    }
}

/// Gives a library a place.
///
/// # Errors
/// If all are taken.
pub(crate) fn add(library: ApplicationLibrary) -> Result<&'static ApplicationDescription, String> {
    let mut library = library;
    for (slot, functions) in LOADED.iter().zip(&FUNCTIONS) {
        match slot.set(library) {
            Ok(()) => {
                let loaded = slot.get().unwrap_or_else(|| unreachable!("it was just set"));
                return Ok(Box::leak(Box::new(description(loaded, functions))));
            }
            Err(back) => library = back,
        }
    }
    Err(format!("a process can load {SLOTS} applications; use fewer, or several processes"))
}

fn description(of: &'static ApplicationLibrary, functions: &Functions) -> ApplicationDescription {
    let facts = &of.facts;
    let addresses = facts.parameters.iter().filter(|p| p.is_address()).map(|p| p.key.as_str());
    ApplicationDescription {
        name: &facts.name,
        about: &facts.about,
        schema: functions.schema,
        defaults: functions.defaults,
        nodes: addresses.collect::<Vec<&'static str>>().leak(),
        notes: of.notes,
        read: functions.read,
    }
}

/// A set of an application's parameters.
#[derive(Debug)]
struct Set {
    library: &'static ApplicationLibrary,
    values: Arc<Values>,
}

impl ApplicationParameters for Set {
    fn application(&self, node: Option<u32>) -> Box<dyn Application> {
        let node = node.unwrap_or(u32::MAX);
        Box::new(ForeignApplication::new(self.library, Arc::clone(&self.values), node))
    }
    fn values(&self) -> Map<String, Value> {
        self.values.map().clone()
    }
    fn check(&self) -> Result<(), ParameterError> {
        self.library.check(&self.values).map_or(Ok(()), |what| Err(ParameterError::of_values(what)))
    }
}
