//! What a run's record lacks, for its readers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Selection;

/// Names or numbers in a sentence; further ones are counted.
const NAMED: usize = 8;

/// What the tables and the summary of a run leave out. Counts in the summary are those of the whole run all the same, except for a run
/// that was killed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartialRecord {
    /// Tables that the run did not write, because `output.tables` does not list them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tables: Vec<String>,
    /// The only nodes with rows (`output.nodes`); null for all.
    #[serde(default)]
    pub nodes: Option<Vec<u32>>,
    /// The only flows with rows (`output.flows`); null for all.
    #[serde(default)]
    pub flows: Option<Vec<u32>>,
    /// Shares of the packets and nodes that have rows, from when the tables had reached the size `output.limit_mb`; in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub thinned: Vec<Thinning>,
    /// Lists of the summary that are empty because they were too long, and the number of entries that each of them had.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub summary_lists: BTreeMap<String, u64>,
    /// Whether the counts of the summary are of the recorded rows only, as those of a run that was killed.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub summary_of_rows: bool,
}

impl Eq for PartialRecord {}

/// From a moment on, a share of the rows is recorded.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thinning {
    /// From when on, seconds of the run's clock.
    pub from_s: f64,
    /// The share of the packets and nodes that have rows from then on: 1 / 2^n; 0 if there are no further rows, except in `outcomes`.
    pub share: f64,
}

impl PartialRecord {
    /// What is known before the run begins: `tables` are those that it would have and does not write.
    pub(crate) fn of(selection: &Selection, tables: Vec<String>) -> Self {
        Self {
            tables,
            nodes: selection.nodes.as_ref().map(|nodes| nodes.iter().map(|n| n.0).collect()),
            flows: selection.flows.clone(),
            ..Self::default()
        }
    }

    /// Whether nothing is left out.
    pub fn is_whole(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the table `packets` lacks packets of the run.
    pub fn lacks_packets(&self) -> bool {
        let is_thinned = self.nodes.is_some() || self.flows.is_some() || !self.thinned.is_empty();
        is_thinned || self.lacks("packets")
    }

    /// Whether the run left out a table that it would have had.
    pub fn lacks(&self, table: &str) -> bool {
        self.tables.iter().any(|t| t == table)
    }

    /// What is left out, a phrase each, with the key to change.
    pub fn phrases(&self) -> Vec<String> {
        let mut all = Vec::new();
        if !self.tables.is_empty() {
            all.push(format!("without the tables {} (output.tables)", self.tables.join(", ")));
        }
        for (key, numbers) in [("nodes", &self.nodes), ("flows", &self.flows)] {
            if let Some(numbers) = numbers {
                all.push(format!("only rows of the {key} {} (output.{key})", listed(numbers)));
            }
        }
        if let (Some(first), Some(last)) = (self.thinned.first(), self.thinned.last()) {
            let kept = |t: &Thinning| match t.share {
                share if share > 0.0 => format!("1 in {:.0} packets and nodes", 1.0 / share),
                _ => "nothing but outcomes".to_owned(),
            };
            let later = if last == first {
                String::new()
            } else {
                format!(", from {:.3} s on {}", last.from_s, kept(last))
            };
            let (until_s, then) = (first.from_s, kept(first));
            all.push(format!("all rows up to {until_s:.3} s, then {then}{later} (output.limit_mb)"));
        }
        if self.summary_of_rows {
            all.push("counts of recorded rows only, because the run did not end by itself".to_owned());
        }
        for (list, entries) in &self.summary_lists {
            all.push(format!("a summary without the {entries} entries of {list}"));
        }
        all
    }
}

/// Some of them, and how many more there are.
fn listed(numbers: &[u32]) -> String {
    let shown: Vec<String> = numbers.iter().take(NAMED).map(ToString::to_string).collect();
    match numbers.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_with_the_key_to_change() {
        let record = PartialRecord {
            tables: vec!["sends".to_owned(), "sizes".to_owned()],
            nodes: Some((0..10).collect()),
            flows: Some(vec![3]),
            thinned: vec![
                Thinning { from_s: 12.5, share: 1.0 / 256.0 },
                Thinning { from_s: 80.0, share: 1.0 / 512.0 },
                Thinning { from_s: 90.25, share: 0.0 },
            ],
            summary_lists: [("applications".to_owned(), 1_000_000)].into(),
            ..PartialRecord::default()
        };
        let expected = [
            "without the tables sends, sizes (output.tables)",
            "only rows of the nodes 0, 1, 2, 3, 4, 5, 6, 7 and 2 more (output.nodes)",
            "only rows of the flows 3 (output.flows)",
            "all rows up to 12.500 s, then 1 in 256 packets and nodes, from 90.250 s on nothing but outcomes (output.limit_mb)",
            "a summary without the 1000000 entries of applications",
        ];
        assert_eq!(record.phrases(), expected);
        assert!(!record.is_whole() && PartialRecord::default().is_whole());
    }
}
