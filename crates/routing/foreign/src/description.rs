//! Descriptions of the protocols of loaded libraries and modules.

use std::sync::Arc;

use serde_json::{Map, Value};
use wayhop_core::{
    Classified, Datagram, DecodedMessage, Description, HostNeeds, HostRules, MessageFormat, NodeContext,
    Ns2Format, ParameterError, Parameters, Profile, Protocol, ReadParameters, ends,
};

use crate::facts::Facts;
use crate::ffi::engine::Engine;
use crate::ffi::library::Library;
use crate::ffi::values::Values;
use crate::slots::{SLOTS, Slots, for_each_slot};

/// A protocol from outside: a shared library, or a Python module.
pub(crate) trait Foreign: Send + Sync {
    /// What it says about itself.
    fn facts(&self) -> &Facts;
    /// What stands for a specification if it names none, and in ns-2 traces.
    fn kind(&self) -> (&'static str, &'static str);
    /// Checked values as its set of parameters.
    fn parameters(&'static self, values: Map<String, Value>) -> Arc<dyn Parameters>;
    /// What is in a packet of the protocol.
    fn classify(&self, d: &Datagram<'_>) -> Classified;
    /// The messages of a packet.
    fn decode(&self, d: &Datagram<'_>) -> Vec<DecodedMessage>;
}

static LOADED: Slots<Box<dyn Foreign>> = Slots::new();

/// The functions of the description of the library at one place.
struct Functions {
    schema: fn() -> Value,
    profile: fn(&str) -> Option<Map<String, Value>>,
    read: ReadParameters,
    classify: fn(&Datagram<'_>) -> Classified,
    decode: fn(&Datagram<'_>) -> Vec<DecodedMessage>,
}

static FUNCTIONS: [Functions; SLOTS] = for_each_slot!(functions);

const fn functions<const N: usize>() -> Functions {
    Functions {
        schema: || LOADED.at(N).map_or(Value::Null, |l| l.facts().schema()),
        profile: |name| LOADED.at(N).filter(|_| name == PROFILE)?.facts().values(&Map::new()).ok(),
        read: |given| match LOADED.at(N) {
            Some(library) => Ok(library.parameters(library.facts().values(&given)?)),
            None => Err("the library is not loaded".to_owned()),
        },
        classify: |d| LOADED.at(N).map_or_else(Classified::default, |l| l.classify(d)),
        decode: |d| LOADED.at(N).map_or_else(Vec::new, |l| l.decode(d)),
    }
}

/// The name of the only profile: that of built-in protocols' first, so that scenarios that name it take libraries, too.
const PROFILE: &str = "rfc";
static PROFILES: [Profile; 1] =
    [Profile { name: PROFILE, about: "the defaults of the library", host: HostRules::Standard }];

/// Gives a library a place.
///
/// # Errors
/// If all are taken.
pub(crate) fn add(library: Box<dyn Foreign>) -> Result<&'static Description, String> {
    let (place, loaded) = LOADED.add(library, "protocols")?;
    Ok(Box::leak(Box::new(description(&**loaded, &FUNCTIONS[place]))))
}

fn description(of: &'static dyn Foreign, functions: &'static Functions) -> Description {
    let facts = of.facts();
    let (kind, tag) = of.kind();
    let classes: Vec<&'static str> = facts.classes.iter().map(String::as_str).collect();
    let types: Vec<(u8, &'static str)> =
        facts.types.iter().map(|(bit, name)| (*bit, name.as_str())).collect();
    Description {
        name: &facts.name,
        full_name: &facts.full_name,
        specification: if facts.specification.is_empty() { kind } else { &facts.specification },
        profiles: &PROFILES,
        schema: functions.schema,
        profile: functions.profile,
        read: functions.read,
        messages: MessageFormat {
            carrier: facts.carrier,
            classes: classes.leak(),
            limited: 0,
            types: types.leak(),
            classify: functions.classify,
            decode: functions.decode,
            hop: ends,
            route_header: None,
            authentication: None,
            ns2: Ns2Format { tag, tail: |_, _| {} },
        },
        host: HostNeeds { header_room: facts.header_room, ..HostNeeds::NONE },
        forger: None,
    }
}

impl Foreign for Library {
    fn facts(&self) -> &Facts {
        &self.facts
    }
    fn kind(&self) -> (&'static str, &'static str) {
        ("a library", "library")
    }
    fn parameters(&'static self, values: Map<String, Value>) -> Arc<dyn Parameters> {
        Arc::new(Set { library: self, values: Arc::new(Values::new(values, &self.facts.parameters)) })
    }
    fn classify(&self, d: &Datagram<'_>) -> Classified {
        self.classify(d)
    }
    fn decode(&self, d: &Datagram<'_>) -> Vec<DecodedMessage> {
        self.decode(d)
    }
}

/// A set of a library's parameters.
#[derive(Debug)]
struct Set {
    library: &'static Library,
    values: Arc<Values>,
}

impl Parameters for Set {
    fn engine(self: Arc<Self>) -> Box<dyn Protocol> {
        self.engine_at(NodeContext::default())
    }
    fn engine_at(self: Arc<Self>, node: NodeContext) -> Box<dyn Protocol> {
        Box::new(Engine::new(self.library, Arc::clone(&self.values), node))
    }
    fn starts_again(&self) -> bool {
        // Libraries have state outside of their engines.
        false
    }
    fn values(&self) -> Map<String, Value> {
        self.values.map().clone()
    }
    fn check(&self) -> Result<(), ParameterError> {
        self.values.check(self.library.check())
    }
}
