//! A protocol's parameters, which its host keeps beside it.

use serde_json::{Map, Value};
use wayhop_core::Command;

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

    /// The order to go on with this set.
    pub(crate) fn order(&self) -> Command {
        Command::SetParameters { json: Value::Object(self.0.clone()).to_string() }
    }

    fn unknown(&self, key: &str) -> ControlError {
        let key: String = key.chars().take(80).collect();
        let near = self
            .0
            .keys()
            .map(|k| (distance(k, &key), k))
            .min()
            .filter(|(d, _)| *d <= 1 + key.len() / 3)
            .map_or_else(
                || "`wayhop ctl params` shows all".to_owned(),
                |(_, near)| format!("is {near} meant? `wayhop ctl params` shows all"),
            );
        ControlError::new(ErrorCode::UnknownKey, format!("there is no parameter {key}"), near)
    }
}

/// How many letters have to be changed, put in or taken out to make one word of the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
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
        assert!(e.remedy.contains("is net_diameter meant?"), "{e}");
        let far =
            set().changed(json!({"zzzzzzzz": 1}).as_object().expect("an object")).expect_err("no such key");
        assert!(!far.remedy.contains("meant"), "{far}");
    }

    #[test]
    fn the_distance_of_words_is_levenshteins() {
        for (a, b, d) in [("", "abc", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("same", "same", 0)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (d, d));
        }
    }
}
