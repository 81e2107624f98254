//! Parameters that change while the node runs.

use serde::Deserialize as _;
use serde_json::{Map, Value};
use wayhop_core::{Cx, DropReason, Refused};

use crate::engine::Engine;
use crate::params::{Hello, Params};

/// Parameters that a node takes over when it starts, and why they stay as they are until it starts again.
const FROM_START: [(&str, &str); 4] = [
    ("own_number", "the node's sequence number is counted by it from the start"),
    ("wait_after_reboot", "it says how the node starts"),
    ("passive_ack", "the host asks at the start which packets the protocol wants to overhear"),
    ("buffer_timeout_ms", "packets wait in the order in which their time ends"),
];

impl Engine {
    /// What is wrong with a set of parameters: the value that is no value of its key, if that is it.
    fn wrong_of(&self, json: &str, wrong: &str) -> String {
        let given: Map<String, Value> = serde_json::from_str(json).unwrap_or_default();
        let now = object(&self.params);
        let refused = given.into_iter().filter(|(key, _)| now.contains_key(key)).find_map(|(key, value)| {
            let mut one = now.clone();
            one.insert(key.clone(), value.clone());
            Params::deserialize(&one).err().map(|e| format!("{key} cannot be {value}: {e}"))
        });
        refused.unwrap_or_else(|| format!("these are no parameters of AODV: {wrong}"))
    }

    /// Goes on with these parameters, or refuses all of them.
    pub(crate) fn set_parameters(&mut self, cx: &mut Cx<'_>, json: &str) -> Result<(), Refused> {
        let new = whole_set(json).map_err(|e| Refused(self.wrong_of(json, &e)))?;
        new.check().map_err(Refused)?;
        let (old_values, new_values) = (object(&self.params), object(&new));
        for (key, reason) in FROM_START {
            if old_values.get(key) != new_values.get(key) {
                return Err(Refused(format!(
                    "{key} cannot change while the node runs: {reason}; set it in the scenario or the node's configuration \
                     and start again"
                )));
            }
        }
        let was_silent = self.params.hello == Hello::Off;
        self.params = new;
        while let Some(p) = self.buffer.take_excess(self.params.buffer_packets) {
            cx.drop(p, DropReason::BufferFull);
        }
        if was_silent {
            self.start_hello(cx);
        }
        Ok(())
    }
}

/// Reads a whole set of parameters.
fn whole_set(json: &str) -> Result<Params, String> {
    let given: Map<String, Value> = serde_json::from_str(json).map_err(|e| e.to_string())?;
    let params = Params::deserialize(&given).map_err(|e| e.to_string())?;
    match object(&params).keys().find(|key| !given.contains_key(*key)) {
        Some(missing) => Err(format!("{missing} is missing: give the whole set")),
        None => Ok(params),
    }
}

fn object(p: &Params) -> Map<String, Value> {
    match serde_json::to_value(p) {
        Ok(Value::Object(map)) => map,
        // A structure of numbers, names and switches is an object.
        _ => Map::new(),
    }
}
