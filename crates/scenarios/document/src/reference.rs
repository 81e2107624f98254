//! Tables of a configuration's keys for reference pages, from the types that read them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::{JsonSchema, schema_for};
use serde_json::{Map, Value};

/// The keys of another file's type as tables: its own, and those of each named section, by key and type.
pub fn reference_tables<T: JsonSchema>(sections: &[(&str, &str)]) -> String {
    let types = ReferenceTables::new(&schema_for!(T).to_value());
    let mut out = String::new();
    types.top_level(&mut out);
    types.sections(&mut out, sections);
    out
}

/// Writes tables of the keys of a type and of the types in it.
pub struct ReferenceTables {
    schema: Value,
    defs: Map<String, Value>,
}

impl ReferenceTables {
    /// For a type's JSON Schema.
    pub fn new(schema: &Value) -> Self {
        let defs = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
        Self { schema: schema.clone(), defs }
    }

    /// The type's own keys.
    pub fn top_level(&self, out: &mut String) {
        self.table(out, &self.schema);
    }

    /// The keys of the type `def`, if there is one.
    pub fn keys(&self, out: &mut String, def: &str) {
        if let Some(schema) = self.defs.get(def) {
            self.table(out, schema);
        }
    }

    /// For each key with a type: a section with what the type is and its keys, if there is one.
    pub fn sections(&self, out: &mut String, all: &[(&str, &str)]) {
        for (key, def) in all {
            let Some(schema) = self.defs.get(*def) else { continue };
            _ = writeln!(out, "\n## `{key}`\n\n{}\n", description(schema));
            self.table(out, schema);
        }
    }

    /// A section with the variants of the tagged enum `def`.
    pub fn kinds(&self, out: &mut String, key: &str, def: &str) {
        let Some(schema) = self.defs.get(def) else { return };
        let about = description(schema);
        _ = writeln!(out, "\n## `{key}`\n\n{about} The key `kind` selects one of the following.");
        for variant in schema.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
            let name = variant.pointer("/properties/kind/const").and_then(Value::as_str).unwrap_or_default();
            // A variant that is a struct of its own is a reference.
            let body = variant.get("$ref").and_then(|r| follow(r, &self.defs)).unwrap_or(variant);
            let mut body = body.clone();
            if let Some(p) = body.get_mut("properties").and_then(Value::as_object_mut) {
                p.remove("kind");
            }
            let about =
                [variant, &body].into_iter().map(description).find(|d| !d.is_empty()).unwrap_or_default();
            _ = writeln!(out, "\n### `{key}` of kind `{name}`\n\n{about}\n");
            self.table(out, &body);
        }
    }

    /// The type's own keys with their values in each set.
    pub fn with_sets(&self, out: &mut String, sets: &[(&str, Value)]) {
        let names: Vec<String> = sets.iter().map(|(n, _)| format!("`{n}`")).collect();
        _ = writeln!(
            out,
            "\n| key | {} | type | meaning |\n|---|{}---|---|",
            names.join(" | "),
            "---|".repeat(sets.len())
        );
        let properties = self.schema.get("properties").and_then(Value::as_object);
        for (key, property) in properties.map(sorted).unwrap_or_default() {
            let row: Vec<String> = sets
                .iter()
                .map(|(_, v)| match v.get(key) {
                    None | Some(Value::Null) => "-".to_owned(),
                    Some(Value::String(s)) => s.clone(),
                    Some(v) => v.to_string(),
                })
                .collect();
            let (kind, meaning) = (kind(property, &self.defs), description(property));
            _ = writeln!(out, "| `{key}` | {} | {kind} | {meaning} |", row.join(" | "));
        }
    }

    fn table(&self, out: &mut String, schema: &Value) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|p| !p.is_empty())
        else {
            out.push_str("No keys.\n");
            return;
        };
        let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        out.push_str("| key | type | default | meaning |\n|---|---|---|---|\n");
        for (key, property) in sorted(properties) {
            let default = match property.get("default") {
                _ if required.iter().any(|r| r == key) => "required".to_owned(),
                Some(Value::Object(_) | Value::Null) | None => "-".to_owned(),
                Some(Value::Array(a)) if a.is_empty() => "none".to_owned(),
                Some(v) => format!("`{v}`"),
            };
            let (kind, meaning) = (kind(property, &self.defs), description(property));
            _ = writeln!(out, "| `{key}` | {kind} | {default} | {meaning} |");
        }
    }
}

/// By name, whatever order the map has: a dependency's features decide that.
fn sorted(properties: &Map<String, Value>) -> BTreeMap<&String, &Value> {
    properties.iter().collect()
}

fn description(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    text.replace('\n', " ").replace('|', "\\|")
}

fn follow<'a>(reference: &Value, defs: &'a Map<String, Value>) -> Option<&'a Value> {
    defs.get(reference.as_str()?.rsplit('/').next()?)
}

/// A property's type in a word or two.
fn kind(schema: &Value, defs: &Map<String, Value>) -> String {
    if let Some(target) = schema.get("$ref").and_then(|r| follow(r, defs)) {
        return kind(target, defs);
    }
    let variants = ["oneOf", "anyOf"].iter().find_map(|k| schema.get(*k)).and_then(Value::as_array);
    if let Some(variants) = variants {
        let mut words: Vec<String> = variants.iter().map(|v| kind(v, defs)).filter(|w| w != "null").collect();
        words.dedup();
        return words.join(" or ");
    }
    if let Some(v) = schema.get("const").and_then(Value::as_str) {
        return format!("`{v}`");
    }
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        let names = names.iter().filter_map(Value::as_str).map(|n| format!("`{n}`"));
        return names.collect::<Vec<_>>().join(" or ");
    }
    let name = match schema.get("type") {
        Some(Value::Array(a)) => {
            a.iter().filter_map(Value::as_str).find(|t| *t != "null").unwrap_or_default()
        }
        Some(Value::String(s)) => s.as_str(),
        _ => "",
    };
    match name {
        "array" => format!("list of {}", schema.get("items").map_or_else(String::new, |i| kind(i, defs))),
        "object" => "table".to_owned(),
        "integer" => "whole number".to_owned(),
        "boolean" => "true or false".to_owned(),
        other => other.to_owned(),
    }
}
