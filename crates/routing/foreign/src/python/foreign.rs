//! A module as one of the protocols from outside.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use wayhop_core::{
    Classified, Datagram, DecodedMessage, NodeContext, ParameterError, Parameters, Protocol, hex,
};

use super::engine::Engine;
use super::module::Module;
use crate::description::Foreign;
use crate::facts::Facts;
use crate::names;

impl Foreign for Module {
    fn facts(&self) -> &Facts {
        &self.facts
    }
    fn kind(&self) -> (&'static str, &'static str) {
        ("a Python module", "python")
    }
    fn parameters(&'static self, values: Map<String, Value>) -> Arc<dyn Parameters> {
        Arc::new(Set { module: self, values: Arc::new(values) })
    }
    fn classify(&self, d: &Datagram<'_>) -> Classified {
        d.payload.first().map_or_else(Classified::default, |octet| self.table[usize::from(*octet)])
    }
    fn decode(&self, d: &Datagram<'_>) -> Vec<DecodedMessage> {
        let types = self.classify(d).types;
        let kind = self.facts.types.iter().find(|(bit, _)| types >> bit & 1 == 1);
        kind.map_or_else(Vec::new, |(_, name)| {
            let fields = json!({ "bytes": d.complete_len, "hex": hex(d.payload) });
            vec![DecodedMessage { truncated: d.is_cut(), ..DecodedMessage::whole(names::name(name), fields) }]
        })
    }
}

/// A set of a module's parameters.
#[derive(Debug)]
struct Set {
    module: &'static Module,
    values: Arc<Map<String, Value>>,
}

impl Parameters for Set {
    fn engine(self: Arc<Self>) -> Box<dyn Protocol> {
        self.engine_at(NodeContext::default())
    }
    fn engine_at(self: Arc<Self>, node: NodeContext) -> Box<dyn Protocol> {
        Box::new(Engine::new(self.module, Arc::clone(&self.values), node))
    }
    fn starts_again(&self) -> bool {
        // Modules have state outside of their engines.
        false
    }
    fn values(&self) -> Map<String, Value> {
        (*self.values).clone()
    }
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }
}
