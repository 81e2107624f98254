//! A protocol's tables as JSON.

use core::fmt::{Display, Write as _};

use serde_json::{Map, Number, Value};
use wayhop_core::{Inspect, Maybe, Packet};

use crate::answer::NodeTables;

/// The most rows that one answer carries of one node.
const MAX_ROWS: u64 = 50_000;

/// An [`Inspect`] that makes the JSON of a node's tables.
///
/// Values that read as numbers or truth values become such, those that are not defined null; everything else stays text.
#[derive(Debug)]
pub struct JsonTables {
    wanted: Vec<String>,
    out: NodeTables,
    rows: u64,
    text: String,
}

impl JsonTables {
    /// For the tables of these names, or for all if there are none.
    pub fn new(node: u32, name: &str, wanted: &[String]) -> Self {
        let out = NodeTables { node, name: name.to_owned(), ..NodeTables::default() };
        Self { wanted: wanted.to_vec(), out, rows: 0, text: String::new() }
    }

    /// What was shown.
    pub fn finish(self) -> NodeTables {
        self.out
    }

    fn value(&mut self, v: &dyn Display) -> Value {
        self.text.clear();
        // Writing into a String fails only if the value's own Display does; what it wrote until then is what there is.
        let _ = write!(self.text, "{v}");
        value_of(&self.text)
    }
}

impl Inspect for JsonTables {
    fn row(&mut self, table: &'static str, fields: &[(&'static str, &dyn Display)]) {
        if !self.wanted.is_empty() && !self.wanted.iter().any(|w| w == table) {
            return;
        }
        if self.rows == MAX_ROWS {
            self.out.rows_left_out += 1;
            return;
        }
        self.rows += 1;
        let row: Map<String, Value> = fields.iter().map(|(k, v)| ((*k).to_owned(), self.value(*v))).collect();
        self.out.tables.entry(table.to_owned()).or_default().push(row);
    }
    fn held(&mut self, place: &'static str, _: &Packet) {
        *self.out.held.entry(place.to_owned()).or_default() += 1;
    }
}

fn value_of(text: &str) -> Value {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'e' | b'E' | b'+'));
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        // A float that is no number is none in JSON either.
        Maybe::UNDEFINED | "NaN" | "inf" | "-inf" => Value::Null,
        _ if is_number => number_of(text).map_or_else(|| Value::from(text), Value::Number),
        _ => Value::from(text),
    }
}

fn number_of(text: &str) -> Option<Number> {
    let whole = text.parse::<u64>().map(Number::from).or_else(|_| text.parse::<i64>().map(Number::from));
    whole.ok().or_else(|| Number::from_f64(text.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_columns_and_numbers_become_numbers() {
        let mut t = JsonTables::new(3, "c", &[]);
        let fields: [(&'static str, &dyn Display); 8] = [
            ("to", &"10.0.0.1"),
            ("hops", &2_u8),
            ("age_s", &1.5_f64),
            ("own", &true),
            ("odd", &f64::NAN),
            ("far", &f64::NEG_INFINITY),
            ("rtt_ms", &Maybe(None::<f64>)),
            ("seq", &u64::MAX),
        ];
        t.row("routes", &fields);
        let json = serde_json::to_value(t.finish()).expect("tables are JSON");
        let row = serde_json::json!({"to": "10.0.0.1", "hops": 2, "age_s": 1.5, "own": true, "odd": null, "far": null, "rtt_ms": null,
            "seq": 18_446_744_073_709_551_615_u64});
        assert_eq!(json["tables"]["routes"][0], row);
        assert_eq!((&json["node"], &json["name"]), (&3.into(), &"c".into()));
    }

    #[test]
    fn only_the_wanted_tables_are_kept() {
        let mut t = JsonTables::new(0, "a", &["routes".to_owned()]);
        t.row("routes", &[("x", &1)]);
        t.row("neighbours", &[("x", &1)]);
        assert_eq!(t.finish().tables.keys().collect::<Vec<_>>(), ["routes"]);
    }

    #[test]
    fn a_table_without_end_is_cut_and_says_so() {
        let mut t = JsonTables::new(0, "a", &[]);
        for n in 0..MAX_ROWS + 7 {
            t.row("routes", &[("n", &n)]);
        }
        let t = t.finish();
        assert_eq!((t.tables["routes"].len() as u64, t.rows_left_out), (MAX_ROWS, 7));
    }
}
