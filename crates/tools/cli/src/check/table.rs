//! The settings as a table for people, by table of the scenario; long lists take one line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use toml::Value;
use wayhop_report::columns;
use wayhop_scenario::{InForce, unit};

use super::{Check, Label};
use crate::failure::harmless;

/// Lists of more tables than this are summarised.
const MANY: usize = 8;
/// The longest text of a value, characters.
const LONGEST: usize = 48;
/// The tables of a scenario, in the order in which they are shown.
const ORDER: &str = "nodes area origin background movement traffic radio radios wires gateways protocol \
                     protocol_after_reboot routes stalls outages attacks energy commands programs captures receptions output";
/// Keys that say what the others are about; these follow by name.
const FIRST: &str = "kind name preset profile";

pub(super) fn table(check: &Check<'_>, values: &[InForce]) -> String {
    let lengths = lengths(values);
    // Keys without a table first, then in the order of groups, and by name within one.
    let mut groups: BTreeMap<(bool, usize, Vec<KeyPart>), Keys<'_>> = BTreeMap::new();
    for value in values {
        let (group, name) = value.key.rsplit_once('.').unwrap_or(("", &value.key));
        let parts = summed_up(group, &lengths);
        let first = group.split('.').next().unwrap_or_default();
        let rank = |order: &str, word| order.split(' ').position(|w| w == word).unwrap_or(usize::MAX);
        let group = groups.entry((!group.is_empty(), rank(ORDER, first), parts)).or_default();
        group.entry((rank(FIRST, name), name)).or_default().push(value);
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut headings = Vec::new();
    for ((_, _, group), keys) in &groups {
        if !group.is_empty() {
            let title: Vec<String> = group.iter().map(ToString::to_string).collect();
            headings.push((rows.len(), format!("[{}]", title.join("."))));
        }
        for ((_, name), values) in keys {
            rows.push(row(check, name, values));
        }
    }
    let text = columns(&rows, 4);
    let mut out = String::new();
    for (i, line) in text.lines().enumerate() {
        if let Some((_, title)) = headings.iter().find(|(at, _)| *at == i) {
            _ = writeln!(out, "\n{title}");
        }
        _ = writeln!(out, "{line}");
    }
    out
}

/// The values of each key of a group, in the order in which they are shown.
type Keys<'a> = BTreeMap<(usize, &'a str), Vec<&'a InForce>>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KeyPart {
    Number(usize),
    Name(String),
    /// Every element of a list of this length.
    All(usize),
}

impl std::fmt::Display for KeyPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::Name(name) => f.write_str(name),
            Self::All(n) => write!(f, "0..{}", n - 1),
        }
    }
}

/// How many elements each list of tables has.
fn lengths(values: &[InForce]) -> BTreeMap<&str, usize> {
    let mut lengths = BTreeMap::new();
    for value in values {
        for (at, _) in value.key.match_indices('.') {
            let (list, rest) = value.key.split_at(at);
            let index = rest[1..].split('.').next().and_then(|i| i.parse::<usize>().ok());
            if let Some(i) = index {
                let length = lengths.entry(list).or_insert(0);
                *length = (*length).max(i + 1);
            }
        }
    }
    lengths
}

/// The parts of a group's key, with long lists as one.
fn summed_up(group: &str, lengths: &BTreeMap<&str, usize>) -> Vec<KeyPart> {
    let mut parts = Vec::new();
    let mut list_end = 0;
    for part in group.split('.').filter(|p| !p.is_empty()) {
        let length = group.get(..list_end).and_then(|list| lengths.get(list));
        parts.push(match (part.parse(), length) {
            (Ok(_), Some(&n)) if n > MANY => KeyPart::All(n),
            (Ok(i), _) => KeyPart::Number(i),
            (Err(_), _) => KeyPart::Name(part.to_owned()),
        });
        list_end += part.len() + usize::from(list_end > 0);
    }
    parts
}

fn row(check: &Check<'_>, name: &str, values: &[&InForce]) -> Vec<String> {
    let unit = unit(name).unwrap_or_default();
    let origins: BTreeSet<Label> = values.iter().map(|v| check.label(v)).collect();
    let shown = [&format!("  {name}"), &value_of(values), unit, &from(&origins)].map(harmless);
    shown.to_vec()
}

fn value_of(values: &[&InForce]) -> String {
    let distinct: BTreeSet<String> = values.iter().map(|v| shown(v.value.as_ref())).collect();
    if distinct.len() == 1 {
        return distinct.into_iter().next().unwrap_or_default();
    }
    let number = |v: &&InForce| match v.value {
        Some(Value::Integer(i)) => Some(i as f64),
        Some(Value::Float(f)) => Some(f),
        _ => None,
    };
    match values.iter().map(number).collect::<Option<Vec<f64>>>() {
        Some(numbers) => {
            let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            format!("{least} to {most}")
        }
        None if distinct.len() <= 3 => shortened(&distinct.into_iter().collect::<Vec<_>>().join(", ")),
        None => format!("{} different values", distinct.len()),
    }
}

fn from(origins: &BTreeSet<Label>) -> String {
    let lines: Vec<&Label> = origins.iter().filter(|l| l.line.is_some()).collect();
    let mut words: Vec<&str> = Vec::new();
    let span;
    if let (Some(first), Some(last)) =
        (lines.iter().min_by_key(|l| l.line), lines.iter().max_by_key(|l| l.line))
    {
        span = match last.line.filter(|_| first != last) {
            Some(end) => format!("{}-{end}", first.from),
            None => first.from.clone(),
        };
        words.push(&span);
    }
    words.extend(origins.iter().filter(|l| l.line.is_none()).map(|l| &*l.from));
    words.join(", ")
}

/// A value in few characters: text without quotes, numbers without a trailing `.0`.
fn shown(value: Option<&Value>) -> String {
    match value {
        None => "none".to_owned(),
        Some(Value::String(s)) => shortened(s),
        Some(Value::Float(f)) => f.to_string(),
        Some(Value::Array(list)) => {
            let items: Vec<String> = list.iter().map(|v| shown(Some(v))).collect();
            let text = format!("[{}]", items.join(", "));
            if text.chars().count() <= LONGEST {
                return text;
            }
            match (items.first(), items.last()) {
                (Some(first), Some(last)) => {
                    shortened(&format!("[{first}, ..., {last}] ({} values)", items.len()))
                }
                _ => text,
            }
        }
        Some(other) => shortened(&other.to_string()),
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST - 3).chain("...".chars()).collect()
}
