//! Where a scenario refers to nodes: the schema of the file says which values do.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};
use toml_edit::DocumentMut;

use super::toml_path::{PathSegment, remove, set, show, steps};

/// What the schema calls a reference to a node.
const NODE: &str = "#/$defs/NodeRef";
/// How deep tables of a scenario are nested at most.
const DEEPEST: usize = 16;

/// Takes nodes out, with their flows, and renumbers the others. Other references to them are the user's to decide on.
pub(crate) fn forget(
    doc: &mut DocumentMut,
    tree: &Json,
    schema: &Json,
    gone: &BTreeSet<usize>,
) -> Result<(), String> {
    let names: Vec<String> = gone.iter().map(|&i| name(tree, i)).collect();
    let is_gone = |value: &Json| match value {
        Json::String(name) => names.contains(name),
        number => number.as_u64().is_some_and(|n| gone.contains(&(n as usize))),
    };
    let mut entries = BTreeSet::new();
    for (path, value) in references(tree, schema) {
        match (is_gone(&value), &path[..]) {
            (true, [PathSegment::Key(list), PathSegment::Index(i), ..]) if list == "traffic" => {
                entries.insert((list.clone(), *i));
            }
            (true, [PathSegment::Key(section), PathSegment::Key(list), PathSegment::Index(i)])
                if ["captures", "receptions"].contains(&&**section) && list == "nodes" =>
            {
                entries.insert((section.clone(), *i));
            }
            (true, _) => {
                return Err(format!(
                    "{} refers to a node that would be deleted; change it first",
                    show(&path)
                ));
            }
            (false, _) => {
                if let Some(n) = value.as_u64() {
                    renumber(doc, &path, n as usize, gone)?;
                }
            }
        }
    }
    // From the last to the first, so that indices hold.
    for (list, i) in entries.iter().rev() {
        let at = if list == "traffic" {
            vec![PathSegment::from("traffic"), (*i).into()]
        } else {
            steps![&**list, "nodes", *i].to_vec()
        };
        remove(doc, &at)?;
    }
    own_entries(doc, tree, gone)
}

/// Has everything that refers to a node by its name do so by the new one; without a new one by its number.
pub(crate) fn rename(
    doc: &mut DocumentMut,
    tree: &Json,
    schema: &Json,
    node: usize,
    to: Option<&str>,
) -> Result<(), String> {
    let was = name(tree, node);
    let to = to.map_or_else(|| json!(node), |name| json!(name));
    let by_name = references(tree, schema).into_iter().filter(|(_, value)| value.as_str() == Some(&was));
    by_name.map(|(path, _)| path).try_for_each(|path| set(doc, &path, &to))
}

/// What single nodes have of their own.
fn own_entries(doc: &mut DocumentMut, tree: &Json, gone: &BTreeSet<usize>) -> Result<(), String> {
    let entries = tree.pointer("/nodes/node").and_then(Json::as_array).into_iter().flatten();
    let ids: Vec<Option<u64>> = entries.map(|n| n["id"].as_u64()).collect();
    for (k, id) in ids.into_iter().enumerate().rev() {
        let Some(id) = id.map(|id| id as usize) else { continue };
        if gone.contains(&id) {
            remove(doc, &steps!["nodes", "node", k])?;
        } else {
            renumber(doc, &steps!["nodes", "node", k, "id"], id, gone)?;
        }
    }
    Ok(())
}

fn renumber(
    doc: &mut DocumentMut,
    at: &[PathSegment],
    was: usize,
    gone: &BTreeSet<usize>,
) -> Result<(), String> {
    let before = gone.range(..was).count();
    if before == 0 { Ok(()) } else { set(doc, at, &json!(was - before)) }
}

/// A node's name: its own, or else its number.
fn name(tree: &Json, node: usize) -> String {
    let mut entries = tree.pointer("/nodes/node").and_then(Json::as_array).into_iter().flatten();
    let own = entries.find(|n| n["id"].as_u64() == Some(node as u64));
    own.and_then(|n| n["name"].as_str()).map_or_else(|| node.to_string(), str::to_owned)
}

/// Every value that refers to a node, with its path.
fn references(tree: &Json, schema: &Json) -> Vec<(Vec<PathSegment>, Json)> {
    let empty = Map::new();
    let mut search =
        Search { defs: schema["$defs"].as_object().unwrap_or(&empty), path: Vec::new(), found: Vec::new() };
    search.visit(tree, schema);
    search.found
}

struct Search<'a> {
    defs: &'a Map<String, Json>,
    path: Vec<PathSegment>,
    found: Vec<(Vec<PathSegment>, Json)>,
}

impl Search<'_> {
    fn visit(&mut self, value: &Json, schema: &Json) {
        if self.path.len() > DEEPEST {
            return;
        }
        if let Some(reference) = schema["$ref"].as_str() {
            if reference == NODE {
                if value.is_u64() || value.is_string() {
                    self.note(value);
                }
                return;
            }
            if let Some(target) = reference.rsplit('/').next().and_then(|n| self.defs.get(n)) {
                self.visit(value, target);
            }
        }
        for variants in ["oneOf", "anyOf", "allOf"].map(|k| schema[k].as_array()).into_iter().flatten() {
            for variant in variants.iter().filter(|v| is_of_kind(value, v)) {
                self.visit(value, variant);
            }
        }
        match value {
            Json::Object(members) => {
                for (key, member) in members {
                    if let Some(property) = schema["properties"].get(key) {
                        self.below(key.as_str().into(), member, property);
                    }
                }
            }
            Json::Array(elements) => {
                for (i, element) in elements.iter().enumerate() {
                    let of = schema["prefixItems"].get(i).or_else(|| schema.get("items"));
                    if let Some(of) = of {
                        self.below(i.into(), element, of);
                    }
                }
            }
            _ => {}
        }
    }

    fn below(&mut self, step: PathSegment, value: &Json, schema: &Json) {
        self.path.push(step);
        self.visit(value, schema);
        self.path.pop();
    }

    fn note(&mut self, value: &Json) {
        if !self.found.iter().any(|(path, _)| *path == self.path) {
            self.found.push((self.path.clone(), value.clone()));
        }
    }
}

/// Whether a variant of a tagged table is the one that a value is.
fn is_of_kind(value: &Json, variant: &Json) -> bool {
    let wanted = &variant["properties"]["kind"]["const"];
    wanted.is_null() || value["kind"] == *wanted
}
