//! JSON Schemas of output that is one Rust type, for `docs/reference/schemas`. The others there are written by hand.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
#[cfg(feature = "linux")]
use wayhop_control::{About, Event, answer};
use wayhop_trace::{LostPacket, Manifest, Story, Summary};

/// A name in `docs/reference/schemas`, and the function that makes the schema.
pub type Schema = (&'static str, fn() -> String);

/// Schemas of simulations and their analysis.
pub const SCHEMAS: &[Schema] = &[
    ("summary", || own::<Summary>("The summary of a run")),
    ("manifest", || own::<Manifest>("Origin and outcome of a run")),
    ("why", || versioned::<Story>("A line of `wayhop why RUN PACKET --json`: the story of a packet")),
    ("why-lost", || {
        versioned::<LostPacket>("A line of `wayhop why RUN --json`: a packet that did not arrive")
    }),
    ("merge", || own::<wayhop_merge::MergeReport>("Output of `wayhop merge --json`")),
    ("matrix-solve", || own::<crate::matrix::SolveReport>("Output of `wayhop matrix solve --json`")),
];

/// Schemas of the commands that need Linux and its network.
#[cfg(feature = "linux")]
pub const HOST_SCHEMAS: &[Schema] = &[
    ("matrix-drive", || {
        own::<crate::matrix::DriveRecord>("A line of `wayhop matrix drive --json`, and of `matrix.jsonl`")
    }),
    ("bundle-send", || versioned::<crate::bundle::SendReport>("Output of `wayhop bundle send --json`")),
    ("bundle-receive", || {
        versioned::<crate::bundle::ReceivedBundle>("A line of `wayhop bundle receive --json`")
    }),
    ("bundle-list", || {
        versioned::<wayhop_bundle_agent::messages::Listing>("Output of `wayhop bundle list --json`")
    }),
    ("fleet", || versioned::<wayhop_fleet::Report>("Output of `wayhop fleet --json`")),
    ("ctl-hello", || own::<About>("Output of `wayhop ctl hello --json`")),
    ("ctl-tables", || {
        let title = "Output of `wayhop ctl tables --json`, and of `routes`, `neighbours`, `cache`, `queues`";
        versioned::<answer::Tables>(title)
    }),
    ("ctl-counters", || versioned::<answer::Counters>("Output of `wayhop ctl counters --json`")),
    ("ctl-params", || versioned::<answer::Parameters>("Output of `wayhop ctl params --json`")),
    ("ctl-position", || versioned::<answer::Positions>("Output of `wayhop ctl position --json`")),
    ("ctl-links", || versioned::<answer::Links>("Output of `wayhop ctl links --json`")),
    ("ctl-watch", || versioned::<Event>("A line of `wayhop ctl watch --json`")),
];

/// The schema of a type that is the whole output.
fn own<T: JsonSchema>(title: &str) -> String {
    format!("{:#}\n", schema::<T>(title))
}

/// The schema of a type to which the output adds the version.
fn versioned<T: JsonSchema>(title: &str) -> String {
    format!("{:#}\n", with_version(schema::<T>(title)))
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
