//! Where each key of a configuration was set: in its text, by the command line, or by neither.

use std::collections::BTreeMap;
use std::fmt::Display;

use toml::Value;
use toml::de::{DeTable, DeValue};

use crate::document::Document;
use crate::set::set_value;

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This line of the scenario's text, counted from 1.
    Line(u32),
    /// This setting of the command line, `path.key=value`.
    Setting(String),
    /// This option of the command line, such as `--movement`.
    Option(&'static str),
    /// The radio preset of this name.
    Preset(String),
    /// The profile of this name, of the routing protocol or of TCP.
    Profile(String),
    /// Nothing sets it: it is the key's default in the reference.
    Default,
    /// It is derived from these.
    Derived(String),
}

impl Origin {
    /// It is derived from this.
    pub fn derived(from: impl Display) -> Self {
        Self::Derived(from.to_string())
    }
}

/// The keys that are set. Keys are in the form of `--set`: `traffic.0.rate_pps`.
#[derive(Debug, Default)]
pub struct Origins(BTreeMap<String, Origin>);

impl Origins {
    /// The origins in a document: its text, and the overrides of the command line, in the order in which they apply.
    pub fn of(doc: &Document) -> Self {
        let mut all = Self::default();
        if let Ok(root) = DeTable::parse(doc.text()) {
            let lines = Lines::of(doc.text());
            for (key, value) in root.get_ref() {
                all.read(key.get_ref().to_string(), key.span().start, value.get_ref(), &lines);
            }
        }
        for (key, option) in &doc.options {
            all.0.insert((*key).to_owned(), Origin::Option(option));
        }
        for set in &doc.set {
            all.set(set);
        }
        all
    }

    /// What set a key, or the value of which it is a part: a position may be written as a list of numbers.
    pub fn get(&self, key: &str) -> Option<&Origin> {
        self.0.get(key).or_else(|| self.get(key.rsplit_once('.')?.0))
    }

    fn read(&mut self, key: String, offset: usize, value: &DeValue<'_>, lines: &Lines) {
        match value {
            DeValue::Table(table) => {
                for (part, value) in table {
                    self.read(format!("{key}.{}", part.get_ref()), part.span().start, value.get_ref(), lines);
                }
            }
            DeValue::Array(list) if list.iter().any(|v| v.get_ref().is_table()) => {
                for (i, value) in list.iter().enumerate() {
                    self.read(format!("{key}.{i}"), value.span().start, value.get_ref(), lines);
                }
            }
            _ => drop(self.0.insert(key, Origin::Line(lines.number(offset)))),
        }
    }

    fn set(&mut self, set: &str) {
        let Some((key, value)) = set.split_once('=') else { return };
        let key = key.trim();
        let below = format!("{key}.");
        self.0.retain(|k, _| k != key && !k.starts_with(&below));
        let origin = Origin::Setting(set.to_owned());
        // An element of a list of values: the list as a whole has an origin.
        let list = key.rsplit_once('.').filter(|(list, _)| self.0.contains_key(*list));
        match list {
            Some((list, _)) => drop(self.0.insert(list.to_owned(), origin)),
            None => {
                for (key, _) in leaves(key, &set_value(value.trim())) {
                    self.0.insert(key, origin.clone());
                }
            }
        }
    }
}

/// The values of a table, of a table in it, of tables in a list; a list of anything else is one value.
pub fn leaves(key: &str, value: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    collect(key.to_owned(), value, &mut all);
    all
}

fn collect(key: String, value: &Value, all: &mut Vec<(String, Value)>) {
    let below = |part: &dyn Display| match &*key {
        "" => part.to_string(),
        key => format!("{key}.{part}"),
    };
    match value {
        Value::Table(table) => table.iter().for_each(|(part, v)| collect(below(part), v, all)),
        Value::Array(list) if list.iter().any(Value::is_table) => {
            list.iter().enumerate().for_each(|(i, v)| collect(below(&i), v, all));
        }
        _ => all.push((key, value.clone())),
    }
}

struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect())
    }
    /// The number of the line that an offset is in, from 1.
    fn number(&self, offset: usize) -> u32 {
        self.0.partition_point(|&begin| begin <= offset) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(text: &str, sets: &[&str]) -> Origins {
        let mut doc = Document::new(None, text.to_owned());
        doc.set = sets.iter().map(ToString::to_string).collect();
        Origins::of(&doc)
    }

    #[test]
    fn a_part_of_a_value_comes_from_where_the_value_comes_from() {
        let o = origins("[movement]\npositions = [[0, 0], [5, 0]]\n", &["area=[5, 6]"]);
        assert_eq!(o.get("movement.positions.1.x"), Some(&Origin::Line(2)));
        assert_eq!(o.get("area.x_m"), Some(&Origin::Setting("area=[5, 6]".to_owned())));
        assert_eq!(o.get("movement.kind"), None);
    }

    const TEXT: &str = "seed = 1\n\n[area]\nx_m = 5\n[movement]\nkind = \"static\"\npositions = [\n  { x = 1 },\n  { x = 2 },\n]\n\
                        [[traffic]]\nsrc = 1\n[[traffic]]\nsrc = 2\n[captures]\nnodes = [1, 2]\n";

    #[test]
    fn keys_of_the_text_have_the_lines_that_they_stand_in() {
        let o = origins(TEXT, &[]);
        for (key, line) in [
            ("seed", 1),
            ("area.x_m", 4),
            ("movement.positions.1.x", 9),
            ("traffic.0.src", 12),
            ("traffic.1.src", 14),
            ("captures.nodes", 16),
        ] {
            assert_eq!(o.get(key), Some(&Origin::Line(line)), "{key}");
        }
        assert_eq!(o.get("area"), None);
    }

    #[test]
    fn a_setting_takes_the_place_of_all_below_its_key_and_the_last_one_wins() {
        let sets = ["area={y_m=1}", "traffic.1.src=0", "seed=2", "seed = 3", "captures.nodes.0=3"];
        let o = origins(TEXT, &sets);
        let by = |set: &str| Some(Origin::Setting(set.to_owned()));
        assert_eq!(o.get("area.x_m").cloned(), None);
        assert_eq!(o.get("area.y_m").cloned(), by("area={y_m=1}"));
        assert_eq!(o.get("traffic.0.src"), Some(&Origin::Line(12)));
        assert_eq!(o.get("traffic.1.src").cloned(), by("traffic.1.src=0"));
        assert_eq!(o.get("seed").cloned(), by("seed = 3"));
        assert_eq!(o.get("captures.nodes").cloned(), by("captures.nodes.0=3"));
    }
}
