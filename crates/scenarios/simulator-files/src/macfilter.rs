//! Macfilters: which frames nodes ignore, and from when. Such a file turns one wire into a mesh whose links change.
//!
//! One change per line, in order of time; each line lists everything that its node ignores from then on:
//!
//! ```text
//! # seconds  node  link addresses (or "nobody")
//! at 0      node 0 ignores 02:00:0a:00:00:03 02:00:0a:00:00:04
//! at 12.75  node 0 ignores nobody
//! ```

use std::fmt;
use std::net::Ipv4Addr;

use wayhop_core::{Mac, Time};

use crate::ns2::value::shown_seconds;

const MAX_LINES: usize = 1_000_000;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignores {
    /// From when.
    pub at: Time,
    /// The node, as the scenario numbers it.
    pub node: u32,
    /// The addresses whose frames it ignores. It hears all others.
    pub from: Vec<Mac>,
}

/// A whole file, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MacFilter(Vec<Ignores>);

impl MacFilter {
    /// Of these lines, which are put in order of time.
    pub fn new(mut lines: Vec<Ignores>) -> Self {
        lines.sort_by_key(|l| l.at);
        Self(lines)
    }

    /// Reads a file for a mesh with this number of nodes; an error begins with the number of the line, from 1.
    pub fn parse(text: &str, nodes: usize) -> Result<Self, String> {
        let mut lines: Vec<Ignores> = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let number = i + 1;
            if number > MAX_LINES {
                return Err(format!("{number}: the file has more than {MAX_LINES} lines; remove some"));
            }
            let content = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = content.split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            let one = parse_line(&words, nodes).map_err(|e| format!("{number}: {e}"))?;
            if lines.last().is_some_and(|last| one.at < last.at) {
                return Err(format!(
                    "{number}: the time is earlier than in the previous line; sort the lines by time"
                ));
            }
            lines.push(one);
        }
        Ok(Self(lines))
    }

    /// The lines of one node.
    pub fn of(&self, node: u32) -> impl Iterator<Item = &Ignores> {
        self.0.iter().filter(move |s| s.node == node)
    }

    /// All link addresses that any node ever ignores, each once.
    pub fn link_addresses(&self) -> Vec<Mac> {
        let mut all: Vec<Mac> = self.0.iter().flat_map(|s| s.from.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The lines, for nodes that exist.
    pub fn steps(&self, addresses: &[Ipv4Addr]) -> Vec<Ignores> {
        self.0.iter().filter(|s| (s.node as usize) < addresses.len()).cloned().collect()
    }
}

impl fmt::Display for MacFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("# Frames that nodes ignore, and from when, seconds; ")?;
        f.write_str("each line lists everything that its node ignores.\n")?;
        for s in &self.0 {
            write!(f, "at {} node {} ignores", shown_seconds(s.at), s.node)?;
            if s.from.is_empty() {
                f.write_str(" nobody")?;
            }
            for m in &s.from {
                write!(f, " {m}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn parse_line(words: &[&str], nodes: usize) -> Result<Ignores, String> {
    let ["at", at, "node", node, "ignores", from @ ..] = words else {
        return Err(
            "not a line of a macfilter file; write: at SECONDS node NUMBER ignores ADDRESS... (or nobody)"
                .into(),
        );
    };
    let at = parse_time(at).ok_or_else(|| {
        format!("{at:?} is not a time; give seconds, at least 0, with at most 9 decimals, such as 12.75")
    })?;
    let node: u32 = node.parse().ok().filter(|n| (*n as usize) < nodes).ok_or_else(|| {
        format!("there is no node {node:?}; give a number from 0 to {}", nodes.saturating_sub(1))
    })?;
    let from = match from {
        [] => return Err("the ignored addresses are missing; list link addresses, or write nobody".into()),
        ["nobody"] => Vec::new(),
        some => some.iter().map(|m| m.parse()).collect::<Result<_, _>>()?,
    };
    Ok(Ignores { at, node, from })
}

/// Seconds with at most nine decimals, exactly.
fn parse_time(text: &str) -> Option<Time> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits =
        |t: &str, most: usize| (1..=most).contains(&t.len()) && t.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole, 9) || !digits(decimals, 9) {
        return None;
    }
    let seconds: u64 = whole.parse().ok()?;
    let nanoseconds: u64 = format!("{decimals:0<9}").parse().ok()?;
    Some(Time::from_nanos(seconds * 1_000_000_000 + nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: Mac = Mac([2, 0, 10, 0, 0, 1]);

    #[test]
    fn a_file_by_hand_is_understood() {
        let text =
            "# a walk\nat 0 node 1 ignores 02:00:0a:00:00:01 # too far\n\nat 12.75 node 1 ignores nobody\n";
        let f = MacFilter::parse(text, 2).unwrap();
        let at = |s| Time::from_secs_f64(s);
        let line = |s, from: &[Mac]| Ignores { at: at(s), node: 1, from: from.to_vec() };
        assert_eq!(f.0, [line(0.0, &[A]), line(12.75, &[])]);
    }

    #[test]
    fn mistakes_name_the_line_and_the_remedy() {
        for (text, message) in [
            (
                "at 0 node 0 hears nobody",
                "1: not a line of a macfilter file; write: at SECONDS node NUMBER ignores ADDRESS... (or nobody)",
            ),
            (
                "\nat -1 node 0 ignores nobody",
                "2: \"-1\" is not a time; give seconds, at least 0, with at most 9 decimals, such as 12.75",
            ),
            ("at 0 node 2 ignores nobody", "1: there is no node \"2\"; give a number from 0 to 1"),
            (
                "at 0 node 0 ignores",
                "1: the ignored addresses are missing; list link addresses, or write nobody",
            ),
            (
                "at 0 node 0 ignores 02:00",
                "1: \"02:00\" is not a link address; write it like 02:00:0a:00:00:03",
            ),
            (
                "at 2 node 0 ignores nobody\nat 1 node 0 ignores nobody",
                "2: the time is earlier than in the previous line; sort the lines by time",
            ),
        ] {
            assert_eq!(MacFilter::parse(text, 2).unwrap_err(), message);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[at node ignores0-9.:#\\n]{0,80}") {
            if let Ok(f) = MacFilter::parse(&text, 3) {
                prop_assert_eq!(MacFilter::parse(&f.to_string(), 3).unwrap(), f);
            }
        }

        #[test]
        fn what_is_written_is_read_as_the_same_to_the_nanosecond(
            lines in proptest::collection::vec(
                (0..1_000_000_000_000_000_000_u64, 0..5_u32, proptest::collection::vec(any::<[u8; 6]>(), 0..4)),
                0..20,
            ),
        ) {
            let one = |(ns, node, macs): (u64, u32, Vec<[u8; 6]>)| Ignores {
                at: Time::from_nanos(ns),
                node,
                from: macs.into_iter().map(Mac).collect(),
            };
            let mut lines: Vec<Ignores> = lines.into_iter().map(one).collect();
            lines.sort_by_key(|l| l.at);
            let filter = MacFilter(lines);
            prop_assert_eq!(MacFilter::parse(&filter.to_string(), 5).unwrap(), filter);
        }
    }
}
