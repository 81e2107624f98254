//! Seeds and axes on the command line.

use std::collections::BTreeSet;

use wayhop_document::set_value;

use crate::matrix::{MAX_RUNS, label};
use crate::plan::{Axis, SeedRange, Seeds};

/// TOML's integers are signed.
const MAX_SEED: u64 = i64::MAX as u64;

impl Seeds {
    /// Reads `10` (seeds 1 to 10), `3..12` (both ends included) or `1,4,9`; lists may contain ranges. The error is the remedy.
    pub fn parse(text: &str) -> Result<Self, String> {
        if !text.contains([',', '.']) {
            let count = number(text, MAX_RUNS as u64)?;
            return if count == 0 {
                Err("give at least 1".to_owned())
            } else {
                Ok(Self::Range(SeedRange { first: 1, count }))
            };
        }
        if !text.contains(',') {
            return Ok(Self::Range(range(text)?));
        }
        let mut seeds = Vec::new();
        let mut seen = BTreeSet::new();
        for part in text.split(',') {
            let SeedRange { first, count } = range(part)?;
            if seeds.len() as u64 + count > MAX_RUNS as u64 {
                return Err(format!("give at most {MAX_RUNS} seeds"));
            }
            for seed in first..first + count {
                if !seen.insert(seed) {
                    return Err(format!("{seed} is given twice; give each seed once"));
                }
                seeds.push(seed);
            }
        }
        Ok(Self::List(seeds))
    }
}

/// `3..12`, or a single seed.
fn range(text: &str) -> Result<SeedRange, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let (first, last) = (number(first, MAX_SEED)?, number(last, MAX_SEED)?);
    if last < first {
        return Err(format!("{first}..{last} is in the wrong order; give {last}..{first}"));
    }
    let count = last - first + 1;
    if count > MAX_RUNS as u64 {
        return Err(format!("give at most {MAX_RUNS} seeds"));
    }
    Ok(SeedRange { first, count })
}

fn number(text: &str, most: u64) -> Result<u64, String> {
    let n = text.trim().parse::<u64>().ok().filter(|&n| n <= most);
    n.ok_or_else(|| {
        let text = text.trim();
        format!("{text:?} is not a whole number up to {most}; give a count (10), a range (3..12) or a list (1,4,9)")
    })
}

impl Axis {
    /// Reads `nodes.count=10,20,40`: the scenario's key, which also names the axis, and its values, each as `--set` takes it.
    /// A comma within quotes or brackets belongs to its value. The error is the remedy.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (key, list) = text
            .split_once('=')
            .ok_or("missing =; give a key of the scenario and its values, such as nodes.count=10,20,40")?;
        let key = key.trim();
        if key.split('.').any(|part| part.trim().is_empty()) || key.chars().any(char::is_control) {
            return Err(format!(
                "{key:?} is not a key; give a key of the scenario, such as nodes.count=10,20,40"
            ));
        }
        if key == "seed" {
            return Err("seeds cannot be an axis; use --seeds 1,2,3".to_owned());
        }
        let values: Vec<_> = split(list)?.into_iter().map(set_value).collect();
        let mut seen = BTreeSet::new();
        if let Some(twice) = values.iter().map(label).find(|l| !seen.insert(l.clone())) {
            return Err(format!("the value {twice} is given twice; give each value once"));
        }
        Ok(Self { name: key.to_owned(), key: Some(key.to_owned()), values, ..Self::default() })
    }
}

/// The parts between commas that are neither in quotes nor in brackets.
fn split(list: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0u32);
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in list.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            // TOML has no escapes within '...'.
            (Some('"'), '\\') => is_escaped = true,
            (Some(q), _) if c == q => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => {
                depth =
                    depth.checked_sub(1).ok_or_else(|| format!("unmatched {c}; put the value in quotes"))?;
            }
            (None, ',') if depth == 0 => {
                parts.push(list[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    if quote.is_some() || depth > 0 {
        return Err("unclosed quote or bracket; put the value in quotes".to_owned());
    }
    parts.push(list[begin..].trim());
    if parts.iter().any(|p| p.is_empty()) {
        return Err("empty value; separate values with commas, such as nodes.count=10,20,40".to_owned());
    }
    if parts.len() > MAX_RUNS {
        return Err(format!("give at most {MAX_RUNS} values"));
    }
    Ok(parts)
}
