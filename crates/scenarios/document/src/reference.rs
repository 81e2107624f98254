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
    for (key, def) in sections {
        types.section(&mut out, &format!("`{key}`"), def);
    }
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

    /// A section with what the type `def` is and its keys, if there is one.
    pub fn section(&self, out: &mut String, title: &str, def: &str) {
        if let Some(schema) = self.defs.get(def) {
            _ = writeln!(out, "\n## {title}\n\n{}\n", description(schema));
            self.table(out, schema);
        }
    }

    /// A section with the variants of the tagged enum `def`.
    pub fn kinds(&self, out: &mut String, key: &str, def: &str) {
        let Some(schema) = self.defs.get(def) else { return };
        _ = writeln!(
            out,
            "\n## `{key}`\n\n{} The key `kind` selects one of the following.",
            description(schema)
        );
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
        for (key, property) in
            self.schema.get("properties").and_then(Value::as_object).map(sorted).unwrap_or_default()
        {
            let row: Vec<String> = sets
                .iter()
                .map(|(_, v)| match v.get(key) {
                    None | Some(Value::Null) => "-".to_owned(),
                    Some(Value::String(s)) => s.clone(),
                    Some(v) => v.to_string(),
                })
                .collect();
            _ = writeln!(
                out,
                "| `{key}` | {} | {} | {} |",
                row.join(" | "),
                kind(property, &self.defs),
                description(property)
            );
        }
    }

    fn table(&self, out: &mut String, schema: &Value) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|p| !p.is_empty())
        else {
            out.push_str("No keys.\n");
            return;
        };
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        out.push_str("| key | type | default | meaning |\n|---|---|---|---|\n");
        for (key, property) in sorted(properties) {
            let default = match property.get("default") {
                _ if required.contains(&key.as_str()) => "required".to_owned(),
                Some(Value::Object(_) | Value::Null) | None => "-".to_owned(),
                Some(Value::Array(a)) if a.is_empty() => "none".to_owned(),
                Some(v) => format!("`{v}`"),
            };
            _ = writeln!(
                out,
                "| `{key}` | {} | {default} | {} |",
                kind(property, &self.defs),
                description(property)
            );
        }
    }
}

/// By name, whatever order the map has: a dependency's features decide that.
fn sorted(properties: &Map<String, Value>) -> BTreeMap<&String, &Value> {
    properties.iter().collect()
}

fn description(schema: &Value) -> String {
    schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .replace('\n', " ")
        .replace('|', "\\|")
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
        return names
            .iter()
            .filter_map(Value::as_str)
            .map(|n| format!("`{n}`"))
            .collect::<Vec<_>>()
            .join(" or ");
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
        "number" => "number".to_owned(),
        "integer" => "whole number".to_owned(),
        "boolean" => "true or false".to_owned(),
        other => other.to_owned(),
    }
}
