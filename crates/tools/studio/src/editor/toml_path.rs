//! Single values in a TOML text, by path. All that is not named stays as it is: comments, order, blank lines, unknown keys.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value as Json;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// A part of a path: a key, or a place in a list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum PathSegment {
    Index(usize),
    Key(String),
}

impl From<&str> for PathSegment {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for PathSegment {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A path of keys and indices.
macro_rules! steps {
    ($($step:expr),+ $(,)?) => { [$(crate::editor::toml_path::PathSegment::from($step)),+] };
}
pub(crate) use steps;

/// The path as messages have it: `traffic[2].src`.
pub(crate) fn show(path: &[PathSegment]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            PathSegment::Index(i) => _ = write!(out, "[{i}]"),
            PathSegment::Key(key) if out.is_empty() => out.push_str(key),
            PathSegment::Key(key) => _ = write!(out, ".{key}"),
        }
    }
    out
}

/// Something that holds values.
enum Holder<'a> {
    Table(&'a mut Table),
    Inline(&'a mut InlineTable),
    List(&'a mut Array),
    Tables(&'a mut ArrayOfTables),
}

fn of_item(item: &mut Item) -> Option<Holder<'_>> {
    match item {
        Item::Table(table) => Some(Holder::Table(table)),
        Item::ArrayOfTables(tables) => Some(Holder::Tables(tables)),
        Item::Value(value) => of_value(value),
        Item::None => None,
    }
}

fn of_value(value: &mut Value) -> Option<Holder<'_>> {
    match value {
        Value::InlineTable(table) => Some(Holder::Inline(table)),
        Value::Array(list) => Some(Holder::List(list)),
        _ => None,
    }
}

impl Holder<'_> {
    /// What stands at a step. A table that is missing is made if `makes`.
    fn child(self, step: &PathSegment, makes: bool) -> Option<Self> {
        match (self, step) {
            (Self::Table(table), PathSegment::Key(key)) => {
                if makes && !table.contains_key(key) {
                    table.insert(key, Item::Table(Table::new()));
                }
                of_item(table.get_mut(key)?)
            }
            (Self::Inline(table), PathSegment::Key(key)) => {
                if makes && !table.contains_key(key) {
                    table.insert(key, Value::InlineTable(InlineTable::new()));
                }
                of_value(table.get_mut(key)?)
            }
            (Self::List(list), PathSegment::Index(i)) => of_value(list.get_mut(*i)?),
            (Self::Tables(tables), PathSegment::Index(i)) => Some(Self::Table(tables.get_mut(*i)?)),
            _ => None,
        }
    }
}

fn holder<'a>(doc: &'a mut DocumentMut, way: &[PathSegment], makes: bool) -> Result<Holder<'a>, String> {
    let mut here = Holder::Table(doc.as_table_mut());
    for (depth, step) in way.iter().enumerate() {
        here = here.child(step, makes).ok_or_else(|| missing(&way[..=depth]))?;
    }
    Ok(here)
}

fn missing(path: &[PathSegment]) -> String {
    format!("{}: not a table or list; edit the text", show(path))
}

fn split(path: &[PathSegment]) -> Result<(&[PathSegment], &PathSegment), String> {
    path.split_last().map(|(last, way)| (way, last)).ok_or_else(|| "the path of an edit is empty".to_owned())
}

/// Gives a key or an element a value. Tables on the way are made.
pub(crate) fn set(doc: &mut DocumentMut, path: &[PathSegment], value: &Json) -> Result<(), String> {
    set_value(doc, path, to_value(value, path)?)
}

/// As [`set`], with a value that has its own layout.
pub(crate) fn set_value(doc: &mut DocumentMut, path: &[PathSegment], value: Value) -> Result<(), String> {
    let (way, last) = split(path)?;
    let holder = holder(doc, way, true)?;
    match (holder, last) {
        (Holder::Table(table), PathSegment::Key(key)) => put(table, key, value),
        (Holder::Inline(table), PathSegment::Key(key)) => put(table, key, value),
        (Holder::List(list), PathSegment::Index(i)) => {
            replace(list.get_mut(*i).ok_or_else(|| missing(path))?, value);
        }
        (Holder::Tables(tables), PathSegment::Index(i)) => {
            let table = tables.get_mut(*i).ok_or_else(|| missing(path))?;
            *table = to_table(value, path)?;
        }
        _ => return Err(missing(path)),
    }
    Ok(())
}

fn put(table: &mut dyn TableLike, key: &str, value: Value) {
    match table.get_mut(key) {
        Some(Item::Value(old)) => replace(old, value),
        Some(item) => *item = Item::Value(value),
        None => drop(table.insert(key, Item::Value(value))),
    }
}

/// The comment behind a value stays.
fn replace(old: &mut Value, mut value: Value) {
    *value.decor_mut() = old.decor().clone();
    *old = value;
}

/// Takes out a key or an element. What is not there need not be taken out.
pub(crate) fn remove(doc: &mut DocumentMut, path: &[PathSegment]) -> Result<(), String> {
    let (way, last) = split(path)?;
    let Ok(holder) = holder(doc, way, false) else { return Ok(()) };
    match (holder, last) {
        (Holder::Table(table), PathSegment::Key(key)) => drop(table.remove(key)),
        (Holder::Inline(table), PathSegment::Key(key)) => drop(table.remove(key)),
        (Holder::List(list), PathSegment::Index(i)) if *i < list.len() => take_out(list, *i),
        (Holder::Tables(tables), PathSegment::Index(i)) if *i < tables.len() => drop(tables.remove(*i)),
        _ => return Err(missing(path)),
    }
    Ok(())
}

/// Takes out an element with its comments. The comment behind the element before it, which the parser gives to this one, stays.
fn take_out(list: &mut Array, index: usize) {
    let removed = list.remove(index);
    let before = removed.decor().prefix().and_then(|p| p.as_str()).and_then(|p| p.split_once('\n'));
    let Some((comment, _)) = before else { return };
    let behind = |text: &str| text.split_once('\n').map(|(_, rest)| format!("{comment}\n{rest}"));
    match list.get_mut(index) {
        Some(next) => {
            if let Some(text) = next.decor().prefix().and_then(|p| p.as_str()).and_then(behind) {
                next.decor_mut().set_prefix(text);
            }
        }
        None => {
            if let Some(text) = list.trailing().as_str().and_then(behind) {
                list.set_trailing(text);
            }
        }
    }
}

/// Adds an element at the end of a list, which is made if it is missing.
pub(crate) fn push(doc: &mut DocumentMut, list: &[PathSegment], value: &Json) -> Result<(), String> {
    let (way, last) = split(list)?;
    let value = to_value(value, list)?;
    let mut holder = holder(doc, way, true)?;
    let PathSegment::Key(key) = last else { return Err(missing(list)) };
    match &mut holder {
        Holder::Table(table) if !table.contains_key(key) => {
            let new = if value.is_inline_table() {
                Item::ArrayOfTables(ArrayOfTables::new())
            } else {
                Item::Value(Value::Array(Array::new()))
            };
            table.insert(key, new);
        }
        Holder::Inline(table) if !table.contains_key(key) => {
            table.insert(key, Value::Array(Array::new()));
        }
        _ => {}
    }
    match holder.child(last, false).ok_or_else(|| missing(list))? {
        Holder::List(array) => push_like_the_last(array, value),
        Holder::Tables(tables) => tables.push(to_table(value, list)?),
        Holder::Table(_) | Holder::Inline(_) => return Err(missing(list)),
    }
    Ok(())
}

/// On a line of its own if the last element is.
fn push_like_the_last(array: &mut Array, mut value: Value) {
    let prefix = array.iter().last().and_then(|last| last.decor().prefix()).and_then(|p| p.as_str());
    if let Some(prefix) = prefix {
        // A comment above the last element is the last element's.
        let blank = prefix.rsplit_once('\n').map_or(prefix.to_owned(), |(_, indent)| format!("\n{indent}"));
        value.decor_mut().set_prefix(blank);
        array.push_formatted(value);
    } else {
        array.push(value);
    }
}

/// How many elements a list has; 0 if there is none.
pub(crate) fn length(doc: &mut DocumentMut, list: &[PathSegment]) -> usize {
    match holder(doc, list, false) {
        Ok(Holder::List(array)) => array.len(),
        Ok(Holder::Tables(tables)) => tables.len(),
        _ => 0,
    }
}

pub(crate) fn to_value(json: &Json, path: &[PathSegment]) -> Result<Value, String> {
    Ok(match json {
        Json::Null => return Err(format!("{}: TOML has no null; remove the key instead", show(path))),
        Json::Bool(b) => (*b).into(),
        Json::String(s) => s.as_str().into(),
        Json::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(i), _) => i.into(),
            (None, Some(f)) if n.is_f64() => f.into(),
            _ => return Err(format!("{}: {n} is too large for TOML", show(path))),
        },
        Json::Array(list) => {
            Value::Array(list.iter().map(|element| to_value(element, path)).collect::<Result<_, _>>()?)
        }
        Json::Object(members) => {
            let mut table = InlineTable::new();
            let mut members: Vec<(&String, &Json)> = members.iter().filter(|(_, m)| !m.is_null()).collect();
            // What says what an entry is comes first, as people write it.
            members
                .sort_by_key(|(key, _)| (FIRST.iter().position(|f| f == key).unwrap_or(FIRST.len()), *key));
            for (key, member) in members {
                table.insert(key, to_value(member, path)?);
            }
            Value::InlineTable(table)
        }
    })
}

/// Keys that stand before others, in this order.
const FIRST: [&str; 8] = ["kind", "id", "name", "start", "at", "src", "dst", "speed_mps"];

fn to_table(value: Value, path: &[PathSegment]) -> Result<Table, String> {
    match value {
        Value::InlineTable(table) => Ok(table.into_table()),
        _ => Err(format!("{}: must be a table", show(path))),
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use serde_json::json;

    use super::*;

    const TEXT: &str = "# head\nseed = 7 # lucky\nunknown = { a = 1 } # kept\nnodes.count = 2\n\n[movement]\nkind = \"static\"\n\
        positions = [\n  # west\n  { x = 0, y = 0 }, # first\n  { x = 5.5, y = 0 },\n]\n\n[[traffic]] # one\nkind = \"cbr\"\nsrc = 0\ndst = 1\n";

    fn edited(edit: impl FnOnce(&mut DocumentMut) -> Result<(), String>) -> Result<String, String> {
        let mut doc: DocumentMut = TEXT.parse().unwrap();
        edit(&mut doc)?;
        Ok(doc.to_string())
    }

    #[test]
    fn only_the_named_value_changes() {
        let set_to = |path: &[PathSegment], value: Json| edited(|d| set(d, path, &value)).unwrap();
        assert_eq!(set_to(&steps!["seed"], json!(8)), TEXT.replace("seed = 7", "seed = 8"));
        assert_eq!(
            set_to(&steps!["movement", "positions", 0, "x"], json!(-2.25)),
            TEXT.replace("x = 0,", "x = -2.25,")
        );
        assert_eq!(
            set_to(&steps!["traffic", 0, "dst"], json!("all")),
            TEXT.replace("dst = 1", "dst = \"all\"")
        );
        assert_eq!(set_to(&steps!["nodes", "count"], json!(3)), TEXT.replace("count = 2", "count = 3"));
        let new = set_to(&steps!["radio", "preset"], json!("80211b"));
        assert_eq!(new, format!("{TEXT}\n[radio]\npreset = \"80211b\"\n"));
    }

    #[test]
    fn elements_come_and_go() {
        let list = steps!["movement", "positions"];
        let more = edited(|d| push(d, &list, &json!({"x": 9, "y": 1}))).unwrap();
        assert!(more.contains("  { x = 5.5, y = 0 },\n  { x = 9, y = 1 },\n]"), "{more}");
        let less = edited(|d| remove(d, &steps!["movement", "positions", 1])).unwrap();
        assert!(less.contains("  # west\n  { x = 0, y = 0 }, # first\n"), "{less}");
        assert!(!less.contains("5.5"), "{less}");
        let flows =
            edited(|d| push(d, &steps!["traffic"], &json!({"kind": "ping", "src": 1, "dst": 0}))).unwrap();
        assert_eq!(flows, format!("{TEXT}\n[[traffic]]\nkind = \"ping\"\nsrc = 1\ndst = 0\n"));
        let named = edited(|d| push(d, &steps!["nodes", "node"], &json!({"id": 1, "name": "b"}))).unwrap();
        assert!(toml_edit::DocumentMut::from_str(&named).is_ok(), "{named}");
        let none = edited(|d| remove(d, &steps!["traffic", 0])).unwrap();
        assert!(!none.contains("[[traffic]]") && none.contains("# kept"), "{none}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for path in [&steps!["seed", "x"][..], &steps!["traffic", 4, "src"], &steps!["traffic", "x"], &[]] {
            assert!(edited(|d| set(d, path, &json!(1))).is_err(), "{path:?}");
        }
        assert!(edited(|d| set(d, &steps!["seed"], &Json::Null)).is_err());
        assert!(edited(|d| set(d, &steps!["seed"], &json!(u64::MAX))).is_err());
        assert!(edited(|d| set(d, &steps!["traffic", 0], &json!(1))).is_err());
        assert!(edited(|d| remove(d, &steps!["traffic", 4])).is_err());
        assert_eq!(edited(|d| remove(d, &steps!["no", "such"])).unwrap(), TEXT);
    }
}
