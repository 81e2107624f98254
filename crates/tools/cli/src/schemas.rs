//! JSON Schemas of output that is one Rust type, for `docs/reference/schemas`. The others there are written by hand.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use wayhop_trace::{LostPacket, Manifest, Story, Summary};

/// `summary.json`, and what `run`, `emulate`, `lab` and `node` print with `--json`.
pub fn summary() -> String {
    page(&schema::<Summary>("The summary of a run"))
}

/// `manifest.json`.
pub fn manifest() -> String {
    page(&schema::<Manifest>("Origin and outcome of a run"))
}

/// A line of `wayhop why RUN PACKET --json`.
pub fn why() -> String {
    page(&with_version(schema::<Story>("A line of `wayhop why RUN PACKET --json`: the story of a packet")))
}

/// A line of `wayhop why RUN --json`.
pub fn why_lost() -> String {
    page(&with_version(schema::<LostPacket>(
        "A line of `wayhop why RUN --json`: a packet that did not arrive",
    )))
}

/// `wayhop merge --json`.
pub fn merge() -> String {
    page(&schema::<wayhop_merge::MergeReport>("Output of `wayhop merge --json`"))
}

/// `wayhop matrix solve --json`.
pub fn matrix_solve() -> String {
    page(&schema::<crate::matrix::SolveReport>("Output of `wayhop matrix solve --json`"))
}

/// A line of `wayhop matrix drive --json`, and of `matrix.jsonl`.
#[cfg(feature = "linux")]
pub fn matrix_drive() -> String {
    page(&schema::<crate::matrix::DriveRecord>(
        "A line of `wayhop matrix drive --json`, and of `matrix.jsonl`",
    ))
}

/// What `wayhop bundle --json` prints.
#[cfg(feature = "linux")]
pub mod bundle {
    use super::{page, schema, with_version};

    /// `send`.
    pub fn send() -> String {
        page(&with_version(schema::<crate::bundle::SendReport>("Output of `wayhop bundle send --json`")))
    }

    /// `receive`.
    pub fn receive() -> String {
        page(&with_version(schema::<crate::bundle::ReceivedBundle>(
            "A line of `wayhop bundle receive --json`",
        )))
    }

    /// `list`.
    pub fn list() -> String {
        page(&with_version(schema::<crate::bundle::List>("Output of `wayhop bundle list --json`")))
    }
}

/// What `wayhop fleet --json` prints.
#[cfg(feature = "linux")]
pub fn fleet() -> String {
    page(&with_version(schema::<wayhop_fleet::Report>("Output of `wayhop fleet --json`")))
}

/// What `wayhop ctl --json` prints.
#[cfg(feature = "linux")]
pub mod ctl {
    use wayhop_control::answer::{Counters, Links, Parameters, Positions, Tables};
    use wayhop_control::{About, Event};

    use super::{page, schema, with_version};

    /// `hello`.
    pub fn hello() -> String {
        page(&schema::<About>("Output of `wayhop ctl hello --json`"))
    }

    /// `tables`, `routes`, `neighbours`, `cache` and `queues`.
    pub fn tables() -> String {
        page(&with_version(schema::<Tables>(
            "Output of `wayhop ctl tables --json`, and of `routes`, `neighbours`, `cache`, `queues`",
        )))
    }

    /// `counters`.
    pub fn counters() -> String {
        page(&with_version(schema::<Counters>("Output of `wayhop ctl counters --json`")))
    }

    /// `params`.
    pub fn params() -> String {
        page(&with_version(schema::<Parameters>("Output of `wayhop ctl params --json`")))
    }

    /// `position` without a place.
    pub fn position() -> String {
        page(&with_version(schema::<Positions>("Output of `wayhop ctl position --json`")))
    }

    /// `links`.
    pub fn links() -> String {
        page(&with_version(schema::<Links>("Output of `wayhop ctl links --json`")))
    }

    /// `watch`.
    pub fn watch() -> String {
        page(&with_version(schema::<Event>("A line of `wayhop ctl watch --json`")))
    }
}

/// The schema of a type's output.
fn schema<T: JsonSchema>(title: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    schema["title"] = title.into();
    schema
}

/// Forbids unlisted keys, and removes formats unknown to JSON Schema and rustdoc links.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.contains_key("properties") {
                map.entry("additionalProperties").or_insert(false.into());
            }
            if map.get("format").is_some_and(|f| f.is_string() && f != "ipv4") {
                map.remove("format");
            }
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = text.replace("[`", "`").replace("`]", "`").replace('\n', " ");
            }
            map.values_mut().for_each(tidy);
        }
        Value::Array(list) => list.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// With the key that [`wayhop_report::Document`] adds, in each alternative if there are several.
fn with_version(mut schema: Value) -> Value {
    fn add(to: &mut Map<String, Value>) {
        let version =
            json!({"type": "string", "description": "Version of the program that wrote this object."});
        if let Some(properties) = to.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert("wayhop".to_owned(), version);
        }
        if let Some(required) = to.get_mut("required").and_then(Value::as_array_mut) {
            required.insert(0, "wayhop".into());
        }
    }
    match schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        Some(each) => each.iter_mut().filter_map(Value::as_object_mut).for_each(add),
        None => schema.as_object_mut().into_iter().for_each(add),
    }
    schema
}

fn page(schema: &Value) -> String {
    format!("{schema:#}\n")
}
