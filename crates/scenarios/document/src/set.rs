//! Settings of the command line, of the form `path.key=value`.

use toml::Value;

use crate::error::{Error, Result};

/// Applies `path.key=value` to a table and creates the tables on the path. A value that is not TOML is taken as a
/// string, so that `--set protocol.name=aodv` needs no quotes. `traffic.0.rate_pps=8` reaches into lists.
pub fn apply_set(root: &mut toml::Table, set: &str) -> Result<()> {
    let wrong = |reason: String, remedy: &str| Error::new(reason, remedy).key(format!("--set {set}"));
    let (path, value) = set
        .split_once('=')
        .ok_or_else(|| wrong("the setting has no =".into(), "write --set path.key=value"))?;
    let value = set_value(value.trim());
    let parts: Vec<&str> = path.trim().split('.').collect();
    if parts.iter().any(|p| p.is_empty()) {
        return Err(wrong("the path has an empty name".into(), "write --set path.key=value"));
    }
    let (last, way) = parts.split_last().expect("split gives at least one part");
    let mut here = Slot::Table(root);
    for part in way {
        here = here
            .child(part)
            .map_err(|reason| wrong(reason, "see docs/reference/scenario.md for the paths"))?;
    }
    here.put(last, value).map_err(|reason| wrong(reason, "see docs/reference/scenario.md for the paths"))
}

/// A value as `--set` takes it: TOML, or else a string.
pub fn set_value(text: &str) -> Value {
    let parsed = toml::from_str::<toml::Table>(&format!("v = {text}\n")).ok().filter(|t| t.len() == 1);
    parsed.and_then(|mut t| t.remove("v")).unwrap_or_else(|| Value::String(text.to_owned()))
}

enum Slot<'a> {
    Table(&'a mut toml::Table),
    Array(&'a mut Vec<Value>),
}

impl Slot<'_> {
    fn child(self, name: &str) -> Result<Self, String> {
        let value = match self {
            Self::Table(t) => t.entry(name).or_insert_with(|| Value::Table(toml::Table::new())),
            Self::Array(a) => element(a, name)?,
        };
        match value {
            Value::Table(t) => Ok(Self::Table(t)),
            Value::Array(a) => Ok(Self::Array(a)),
            other => Err(format!("{name} is {other}, not a table")),
        }
    }

    fn put(self, name: &str, value: Value) -> Result<(), String> {
        match self {
            Self::Table(t) => drop(t.insert(name.to_owned(), value)),
            Self::Array(a) => *element(a, name)? = value,
        }
        Ok(())
    }
}

fn element<'a>(a: &'a mut [Value], name: &str) -> Result<&'a mut Value, String> {
    let len = a.len();
    let index: usize = name.parse().map_err(|_| format!("{name} is not an index of a list"))?;
    a.get_mut(index).ok_or_else(|| format!("there is no element {index} in a list of {len}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> toml::Table {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn set_reaches_keys_tables_and_lists() {
        let mut t = table("seed = 1\n[[traffic]]\nkind = \"cbr\"\n");
        for s in [
            "seed=7",
            "radio.tx_power_dbm=20.5",
            "protocol.name=aodv",
            "traffic.0.rate_pps=8",
            "captures.nodes=[1, 2]",
        ] {
            apply_set(&mut t, s).unwrap();
        }
        let expect = "seed = 7\ncaptures.nodes = [1, 2]\nprotocol.name = \"aodv\"\nradio.tx_power_dbm = 20.5\n[[traffic]]\nkind = \"cbr\"\nrate_pps = 8\n";
        assert_eq!(t, table(expect));
    }

    #[test]
    fn wrong_sets_say_what_is_wrong() {
        let mut t = table("seed = 1\ntraffic = []\n");
        for (set, message) in [
            ("seed", "--set seed: the setting has no =; write --set path.key=value"),
            ("a..b=1", "--set a..b=1: the path has an empty name; write --set path.key=value"),
            (
                "seed.x=1",
                "--set seed.x=1: seed is 1, not a table; see docs/reference/scenario.md for the paths",
            ),
            (
                "traffic.3.x=1",
                "--set traffic.3.x=1: there is no element 3 in a list of 0; see docs/reference/scenario.md for the paths",
            ),
            (
                "traffic.x=1",
                "--set traffic.x=1: x is not an index of a list; see docs/reference/scenario.md for the paths",
            ),
        ] {
            assert_eq!(apply_set(&mut t, set).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_value_cannot_smuggle_in_other_keys() {
        assert_eq!(set_value("1\nb = 2"), Value::String("1\nb = 2".into()));
        assert_eq!(set_value("dsr"), Value::String("dsr".into()));
        assert_eq!(set_value(""), Value::String(String::new()));
    }
}
