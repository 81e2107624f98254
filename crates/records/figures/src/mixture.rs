//! Whether the runs of a folder can be averaged: they must differ only in their seeds.

use std::collections::BTreeMap;
use std::path::Path;

use crate::column::{Column, ColumnRun, keys};

/// What is recorded of a run changes nothing in it.
const RECORDS: [&str; 4] = ["captures", "receptions", "output", "name"];
/// These tell runs apart best, and are named first.
const FIRST: [&str; 2] = ["protocol.name", "nodes.count"];
/// More differences are counted only.
const MOST_NAMED: usize = 3;

impl Column {
    /// Which two runs no mean may be over, and what they differ in besides the seed, its values of both: `a and b differ in
    /// nodes.count (16, 4)`. `repeated` are the keys, and the beginnings of keys, whose values are repetitions of the same.
    pub fn mixture(&self, repeated: &[String]) -> Option<String> {
        let (first, rest) = self.runs.split_first()?;
        let own = settings(first, repeated);
        rest.iter().find_map(|other| {
            let theirs = settings(other, repeated);
            let differences = differences(&own, &theirs);
            let name = |r: &ColumnRun| {
                r.dir.path().file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
            };
            (!differences.is_empty())
                .then(|| format!("{} and {} differ in {}", name(first), name(other), told(&differences)))
        })
    }
}

/// What makes a run what it is, but its seed.
fn settings(run: &ColumnRun, repeated: &[String]) -> BTreeMap<String, String> {
    let is_of = |key: &str, of: &str| {
        key.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let mut all = keys(run);
    all.retain(|key, _| {
        key != "seed"
            && !RECORDS.iter().any(|r| is_of(key, r))
            && !repeated.iter().any(|r| is_of(key, &r.replace(".0.", "[0].")))
    });
    let quoted = |text: &str| format!("{text:?}");
    all.insert("world".to_owned(), quoted(&run.summary.world));
    all.entry("protocol.name".to_owned()).or_insert_with(|| quoted(&run.summary.protocol));
    if repeated.is_empty() {
        // Another text of the scenario may say the same.
        let files = run
            .manifest
            .inputs
            .iter()
            .filter(|i| Path::new(&i.path).extension().is_none_or(|end| end != "toml"));
        all.extend(files.map(|i| (format!("the file {}", i.path), i.sha256.chars().take(8).collect())));
    }
    all
}

fn differences<'a>(
    a: &'a BTreeMap<String, String>,
    b: &'a BTreeMap<String, String>,
) -> Vec<(&'a str, [&'a str; 2])> {
    let value = |of: &'a BTreeMap<String, String>, key: &str| of.get(key).map_or("not set", String::as_str);
    let mut all: Vec<&str> = a.keys().chain(b.keys()).map(String::as_str).collect();
    all.sort_unstable_by_key(|key| (!FIRST.contains(key), *key));
    all.dedup();
    let both = all.into_iter().map(|key| (key, [value(a, key), value(b, key)]));
    both.filter(|(_, [a, b])| a != b).collect()
}

fn told(differences: &[(&str, [&str; 2])]) -> String {
    let of = |(key, [a, b]): &(&str, [&str; 2])| format!("{key} ({a}, {b})");
    let named: Vec<String> = differences.iter().take(MOST_NAMED).map(of).collect();
    let more = differences.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named_the_most_telling_ones_first() {
        let of = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        let a = of(&[("area.x_m", "1"), ("nodes.count", "16"), ("same", "1"), ("z", "1"), ("zz", "1")]);
        let b = of(&[("area.x_m", "2"), ("nodes.count", "4"), ("same", "1"), ("z", "2")]);
        assert_eq!(told(&differences(&a, &b)), "nodes.count (16, 4), area.x_m (1, 2), z (1, 2) and 1 more");
        assert!(differences(&a, &a).is_empty());
    }
}
