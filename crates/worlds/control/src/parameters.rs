//! A protocol's parameters, which its host keeps beside it.

use serde_json::{Map, Value};
use wayhop_core::{Command, nearest};

use crate::error::{ControlError, ErrorCode};

/// The parameters that a node runs with now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParameterSet(Map<String, Value>);

impl From<Map<String, Value>> for ParameterSet {
    fn from(values: Map<String, Value>) -> Self {
        Self(values)
    }
}

impl ParameterSet {
    /// Values by key.
    pub fn values(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The set with these values in it, and the order that makes a protocol take it over. Keep the set if the protocol does
    /// not refuse.
    ///
    /// # Errors
    /// If there is no such parameter.
    pub fn changed(&self, values: &Map<String, Value>) -> Result<(Self, Command), ControlError> {
        let mut new = self.0.clone();
        for (key, value) in values {
            let Some(slot) = new.get_mut(key) else { return Err(self.unknown(key)) };
            *slot = value.clone();
        }
        let new = Self(new);
        let command = new.order();
        Ok((new, command))
    }

    /// The command to use this set.
    pub(crate) fn order(&self) -> Command {
        Command::SetParameters { json: Value::Object(self.0.clone()).to_string() }
    }

    fn unknown(&self, key: &str) -> ControlError {
        let key: String = key.chars().take(80).collect();
        let near = nearest(&key, self.0.keys().map(String::as_str)).map_or_else(
            || "`wayhop ctl params` lists all".to_owned(),
            |near| format!("did you mean {near}? `wayhop ctl params` lists all"),
        );
        ControlError::new(ErrorCode::UnknownKey, format!("there is no parameter {key}"), near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set() -> ParameterSet {
        let values = [("net_diameter".to_owned(), json!(35)), ("hello".to_owned(), json!("off"))];
        ParameterSet::from(Map::from_iter(values))
    }

    #[test]
    fn one_value_changes_and_the_order_carries_all() {
        let changes = json!({"net_diameter": 10});
        let (new, Command::SetParameters { json }) =
            set().changed(changes.as_object().expect("an object")).expect("a known key")
        else {
            panic!("another order")
        };
        assert_eq!(
            serde_json::from_str::<Value>(&json).expect("JSON"),
            json!({"net_diameter": 10, "hello": "off"})
        );
        assert_eq!(new.values()["net_diameter"], 10);
        assert_eq!(set().values()["net_diameter"], 35);
    }

    #[test]
    fn a_wrong_key_is_refused_and_the_nearest_one_named() {
        let changes = json!({"net_diametre": 10});
        let e = set().changed(changes.as_object().expect("an object")).expect_err("no such key");
        assert_eq!(e.code, ErrorCode::UnknownKey);
        assert!(e.remedy.contains("did you mean net_diameter?"), "{e}");
        let far =
            set().changed(json!({"zzzzzzzz": 1}).as_object().expect("an object")).expect_err("no such key");
        assert!(!far.remedy.contains("did you mean"), "{far}");
    }
}
