//! Sets of parameters as JSON, and changes at run time:
//! [`Command::SetParameters`](crate::Command::SetParameters).

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{Refused, plain};

/// Reads a whole set. `running` is what the protocol runs with: it tells which value of `json` is no value of its key.
pub fn whole_set<P: Serialize + DeserializeOwned>(
    json: &str,
    running: &P,
    protocol: &str,
) -> Result<P, Refused> {
    let wrong = |what: String| Refused(format!("not parameters of {protocol}: {what}"));
    let given: Map<String, Value> = serde_json::from_str(json).map_err(|e| wrong(e.to_string()))?;
    let set: P = of(given.clone()).map_err(|e| misfit(&given, running).unwrap_or_else(|| wrong(e)))?;
    match object(&set).keys().find(|key| !given.contains_key(*key)) {
        Some(missing) => Err(wrong(format!("{missing} is missing: give all parameters"))),
        None => Ok(set),
    }
}

/// The keys in which two sets differ, with both values.
pub fn differences<P: Serialize>(a: &P, b: &P) -> Vec<(String, Value, Value)> {
    let (a, mut b) = (object(a), object(b));
    a.into_iter()
        .filter_map(|(key, va)| {
            let vb = b.remove(&key).unwrap_or_default();
            (!is_same(&va, &vb)).then_some((key, va, vb))
        })
        .collect()
}

/// Parameters that a node takes over when it starts, and why they stay as they are until it starts again.
pub type FromStart = (&'static [&'static str], &'static str);

/// Refuses a set that changes a parameter that a node takes over when it starts.
pub fn keep_from_start<P: Serialize>(running: &P, new: &P, from_start: &[FromStart]) -> Result<(), Refused> {
    for (key, ..) in differences(running, new) {
        if let Some((_, reason)) = from_start.iter().find(|(keys, _)| keys.contains(&key.as_str())) {
            return Err(Refused(format!(
                "{key} cannot change at run time: {reason}; set it in the scenario or the node's \
                 configuration, and restart"
            )));
        }
    }
    Ok(())
}

/// The first value that is no value of its key.
fn misfit<P: Serialize + DeserializeOwned>(given: &Map<String, Value>, running: &P) -> Option<Refused> {
    let running = object(running);
    given.iter().filter(|(key, _)| running.contains_key(*key)).find_map(|(key, value)| {
        let mut one = running.clone();
        one.insert(key.clone(), value.clone());
        of::<P>(one).err().map(|e| Refused(format!("{key} cannot be {value}: {e}")))
    })
}

/// A whole set of parameters, read.
pub fn of<P: DeserializeOwned>(set: Map<String, Value>) -> Result<P, String> {
    serde_json::from_value(Value::Object(set)).map_err(|e| plain(&e.to_string()))
}

/// The values of a set of parameters by key.
pub fn object<P: Serialize>(set: &P) -> Map<String, Value> {
    match serde_json::to_value(set) {
        Ok(Value::Object(map)) => map,
        // A structure of numbers, names and switches is an object.
        _ => Map::new(),
    }
}

/// Whether two values are the same; a number that went through text may differ in its last bit.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * a.abs(),
        _ => a == b,
    }
}
