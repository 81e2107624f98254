//! JSON output: an object that says first which version wrote it.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

/// An object for standard output or a file. Its first key is `wayhop`, the version of the program that wrote it; the others follow
/// in the order of the alphabet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    wayhop: Value,
    #[serde(flatten)]
    keys: Map<String, Value>,
}

impl From<Map<String, Value>> for Document {
    /// An object that has the key already is another program's answer, and tells that one's version.
    fn from(mut keys: Map<String, Value>) -> Self {
        let wayhop = keys.remove("wayhop").unwrap_or_else(|| wayhop_core::version::full().into());
        Self { wayhop, keys }
    }
}

impl From<Value> for Document {
    /// Null is the answer to an order that has nothing to tell: an object without further keys.
    fn from(value: Value) -> Self {
        match value {
            Value::Object(keys) => keys.into(),
            Value::Null => Map::new().into(),
            other => Map::from_iter([("value".to_owned(), other)]).into(),
        }
    }
}

impl fmt::Display for Document {
    /// On one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_version_comes_first() {
        let version = wayhop_core::version::full();
        for (object, expected) in [
            (json!({"a": 1, "z": 0.5}), format!("{{\"wayhop\":\"{version}\",\"a\":1,\"z\":0.5}}")),
            (json!({"a": 1, "wayhop": "0.0.7"}), "{\"wayhop\":\"0.0.7\",\"a\":1}".to_owned()),
            (Value::Null, format!("{{\"wayhop\":\"{version}\"}}")),
            (json!([2]), format!("{{\"wayhop\":\"{version}\",\"value\":[2]}}")),
        ] {
            assert_eq!(Document::from(object).to_string(), expected);
        }
    }
}
