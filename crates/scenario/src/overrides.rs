//! A preset or profile with some of its keys replaced.

use std::num::IntErrorKind;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::document::Document;
use crate::error::{Error, nearest};

/// `base` with the keys of `overrides` in the place of its own. `section` is where the overrides stand in the scenario.
pub(crate) fn apply<T: Serialize + DeserializeOwned + JsonSchema>(
    base: &T,
    overrides: &Table,
    section: &str,
    document: &Document,
) -> Result<T, Error> {
    let mut table =
        Table::try_from(base).map_err(|e| document.error(section, e.to_string(), "report this as a bug"))?;
    for (key, value) in overrides {
        let path = format!("{section}.{key}");
        let known = keys::<T>();
        if !known.iter().any(|k| k == key) {
            let remedy = match nearest(key, known.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "docs/reference/scenario.md lists all keys".to_owned(),
            };
            return Err(document.error(&path, "there is no such key", remedy));
        }
        // A key without a value in the base is one that may be absent.
        let old = table.get(key).unwrap_or(value);
        let new = like(old, value).ok_or_else(|| {
            let remedy = format!("give one of type {}, such as {old}", old.type_str());
            let reason = match value {
                Value::Float(f) if !f.is_finite() => format!("{f} is not finite").to_lowercase(),
                // TOML has no larger whole numbers, so that the command line's parser took it for text.
                Value::String(s)
                    if s.parse::<i64>().is_err_and(|e| matches!(e.kind(), IntErrorKind::PosOverflow)) =>
                {
                    format!("{s} is above the largest whole number, {}", i64::MAX)
                }
                _ => format!("{value} is of type {}", value.type_str()),
            };
            document.error(&path, reason, remedy)
        })?;
        table.insert(key.clone(), new);
        // One key at a time, so that a value out of range names its key.
        T::deserialize(table.clone()).map_err(|e| {
            document.error(
                &path,
                e.message().replace('\n', ", "),
                "docs/reference/scenario.md lists what is allowed",
            )
        })?;
    }
    T::deserialize(table).map_err(|e| document.error(section, e.message().to_owned(), "check its keys"))
}

/// The keys of a type, from its schema.
pub(crate) fn keys<T: JsonSchema>() -> Vec<String> {
    let schema = schemars::schema_for!(T);
    let properties = schema.get("properties").and_then(|p| p.as_object());
    properties.map(|p| p.keys().cloned().collect()).unwrap_or_default()
}

/// `new` as a value of the type of `old`: a whole number may stand where a fraction is expected.
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

    fn radio(overrides: &str) -> Result<RadioConfig, Error> {
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
            ("tx_power_db = 20", "radio.tx_power_db: there is no such key; did you mean `tx_power_dbm`?"),
            (
                "acknowledge = 1",
                "radio.acknowledge: 1 is of type integer; give one of type boolean, such as true",
            ),
            (
                "queue_packets = \"18446744073709551615\"",
                "radio.queue_packets: 18446744073709551615 is above the largest whole number, 9223372036854775807; give one of \
                 type integer, such as 50",
            ),
            (
                "tx_power_dbm = nan",
                "radio.tx_power_dbm: nan is not finite; give one of type float, such as 24.5",
            ),
        ] {
            assert_eq!(radio(text).unwrap_err().to_string(), message);
        }
        let e = radio("fading = \"thick\"").unwrap_err().to_string();
        assert!(e.starts_with("radio.fading: unknown variant `thick`, expected one of `none`"), "{e}");
        let e = radio("queue_packets = -1").unwrap_err().to_string();
        assert!(e.starts_with("radio.queue_packets: invalid value: integer `-1`, expected u32"), "{e}");
    }
}
