//! A preset or profile with some of its keys replaced.

use std::collections::BTreeMap;
use std::num::IntErrorKind;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use toml::{Table, Value};
use wayhop_core::{nearest, plain};
use wayhop_document::{Document, Result};

/// `base` with the keys of `overrides` replacing its own. `section` is the scenario's section with the overrides.
pub(crate) fn apply<T: Serialize + DeserializeOwned + JsonSchema>(
    base: &T,
    overrides: &Table,
    section: &str,
    document: &Document,
) -> Result<T> {
    let bug = |e: toml::ser::Error| document.error(section, e.to_string(), "report this as a bug");
    let base = Table::try_from(base).map_err(bug)?;
    let read = |table: &Table| T::deserialize(table.clone()).map_err(|e| e.message().to_owned());
    let schema = schemars::schema_for!(T).to_value();
    merge(base, overrides, section, document, &keys(&schema), read)
}

/// What `read` makes of `base` with the keys of `overrides` replacing its own. `known` are the keys that exist.
fn merge<T>(
    mut table: Table,
    overrides: &Table,
    section: &str,
    document: &Document,
    known: &[String],
    read: impl Fn(&Table) -> Result<T, String>,
) -> Result<T> {
    for (key, value) in overrides {
        let path = format!("{section}.{key}");
        if !known.iter().any(|k| k == key) {
            let remedy = match nearest(key, known.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "see docs/reference/scenario.md for all keys".to_owned(),
            };
            return Err(document.error(&path, "unknown key", remedy));
        }
        // A key without a value in the base is one that may be absent.
        let old = table.get(key).unwrap_or(value);
        let new = like(old, value).ok_or_else(|| {
            let remedy = format!("give {}, such as {old}", kind(old));
            let reason = match value {
                Value::Float(f) if !f.is_finite() => format!("{f} is not finite").to_lowercase(),
                // TOML has no larger whole numbers, so that the command line's parser took it for text.
                Value::String(s)
                    if s.parse::<i64>().is_err_and(|e| matches!(e.kind(), IntErrorKind::PosOverflow)) =>
                {
                    format!("{s} is above the largest whole number, {}", i64::MAX)
                }
                _ => format!("{value} is {}", kind(value)),
            };
            document.error(&path, reason, remedy)
        })?;
        table.insert(key.clone(), new);
        // One key at a time, so that a value out of range names its key. A missing key may follow.
        read(&table).map(drop).or_else(|e| if is_missing(&e) { Ok(()) } else { Err(e) }).map_err(|e| {
            document.error(&path, plain(&e).replace('\n', ", "), "see docs/reference/scenario.md")
        })?;
    }
    read(&table).map_err(|e| document.error(section, plain(&e), "check its keys"))
}

fn is_missing(e: &str) -> bool {
    plain(e).ends_with("is missing")
}

/// What `read` makes of the values `base`, overridden by `overrides`.
pub(crate) fn of_json<T>(
    base: &Map<String, Json>,
    schema: &Json,
    read: impl Fn(Map<String, Json>) -> Result<T, String>,
    overrides: &Table,
    (section, document): (&str, &Document),
) -> Result<T> {
    let base = to_toml(base).map_err(|e| document.error(section, e.to_string(), "report this as a bug"))?;
    let read = |table: &Table| read(to_json(table).map_err(|e| e.to_string())?);
    merge(base, overrides, section, document, &keys(schema), read)
}

/// Values as TOML: those that are absent are null in JSON.
pub(crate) fn to_toml(values: &Map<String, Json>) -> Result<Table, toml::ser::Error> {
    Table::try_from(values.iter().filter(|(_, v)| !v.is_null()).collect::<BTreeMap<_, _>>())
}

pub(crate) fn to_json(table: &Table) -> Result<Map<String, Json>, serde_json::Error> {
    table.iter().map(|(key, value)| Ok((key.clone(), serde_json::to_value(value)?))).collect()
}

fn keys(schema: &Json) -> Vec<String> {
    let properties = schema.get("properties").and_then(Json::as_object);
    properties.map(|p| p.keys().cloned().collect()).unwrap_or_default()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "text in quotes",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

/// `new` as a value of the type of `old`: a whole number is accepted for a fraction.
fn like(old: &Value, new: &Value) -> Option<Value> {
    match (old, new) {
        (Value::Float(_), Value::Integer(i)) => Some(Value::Float(*i as f64)),
        (Value::Float(_), Value::Float(f)) if !f.is_finite() => None,
        _ if old.same_type(new) => Some(new.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_radio::RadioConfig;

    fn radio(overrides: &str) -> Result<RadioConfig> {
        let base = RadioConfig::preset("wavelan-914-cmu").unwrap();
        apply(&base, &toml::from_str(overrides).unwrap(), "radio", &Document::default())
    }

    #[test]
    fn keys_replace_those_of_the_preset() {
        let r = radio("tx_power_dbm = 20\nfading = \"rayleigh\"\nqueue_packets = 10").unwrap();
        assert_eq!((r.tx_power_dbm, r.queue_packets), (20.0, 10));
        assert_eq!(r.fading, wayhop_radio::Fading::Rayleigh);
        assert_eq!(r.frequency_mhz, 914.0);
    }

    #[test]
    fn wrong_keys_and_values_name_the_key_and_the_remedy() {
        for (text, message) in [
            ("tx_power_db = 20", "radio.tx_power_db: unknown key; did you mean `tx_power_dbm`?"),
            ("acknowledge = 1", "radio.acknowledge: 1 is a whole number; give true or false, such as true"),
            (
                "queue_packets = \"18446744073709551615\"",
                "radio.queue_packets: 18446744073709551615 is above the largest whole number, 9223372036854775807; give a whole \
                 number, such as 50",
            ),
            ("tx_power_dbm = nan", "radio.tx_power_dbm: nan is not finite; give a number, such as 24.5"),
        ] {
            assert_eq!(radio(text).unwrap_err().to_string(), message);
        }
        let e = radio("fading = \"thick\"").unwrap_err().to_string();
        assert!(e.starts_with("radio.fading: unknown value `thick`; expected one of `none`"), "{e}");
        let e = radio("queue_packets = -1").unwrap_err().to_string();
        assert!(e.starts_with("radio.queue_packets: -1 is not a whole number from 0 to 4294967295"), "{e}");
    }
}
