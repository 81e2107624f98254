//! How many of a paper's numbers ours come near to.

use serde::Serialize;

use crate::row::Row;
use crate::table::Table;

/// Ours is 0 below this: what is printed as 0.
const ZERO: f64 = 0.000_5;

/// A paper's numbers by how close ours are: the object `tally` of `wayhop reproduce --json`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Rows with a number of the paper.
    pub numbers: usize,
    /// Ours is within 10 % of it.
    pub within_10_pct: usize,
    /// Ours is within 25 % of it, or nearer.
    pub within_25_pct: usize,
    /// Ours is farther off.
    pub farther: usize,
    /// The paper's number is 0.
    pub zero: usize,
    /// Of these, ours is 0 as well.
    pub zero_met: usize,
    /// There is no number of ours.
    pub without_ours: usize,
}

impl Tally {
    /// Of these rows; those without a number of the paper do not count.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut t = Self::default();
        for row in rows {
            let Some(paper) = row.paper else { continue };
            t.numbers += 1;
            match (row.ours, row.difference_pct().map(f64::abs)) {
                (None, _) => t.without_ours += 1,
                // There is no relative difference to 0.
                (Some(ours), _) if paper == 0.0 => {
                    t.zero += 1;
                    t.zero_met += usize::from(ours.abs() < ZERO);
                }
                (_, Some(pct)) if pct <= 25.0 => {
                    t.within_25_pct += 1;
                    t.within_10_pct += usize::from(pct <= 10.0);
                }
                _ => t.farther += 1,
            }
        }
        t
    }

    /// In a sentence; `None` if the paper has no number.
    pub fn in_words(self) -> Option<String> {
        if self.numbers == 0 {
            return None;
        }
        let mut parts = vec![format!(
            "Of {} numbers in the paper, ours are within 10 % for {}, within 25 % for {}, and farther off for {}",
            self.numbers, self.within_10_pct, self.within_25_pct, self.farther
        )];
        if self.zero > 0 {
            parts.push(format!("{} are 0 in the paper, {} of them also here", self.zero, self.zero_met));
        }
        if self.without_ours > 0 {
            parts.push(format!("{} have no number here", self.without_ours));
        }
        Some(parts.join("; ") + ".")
    }

    fn cells(self) -> Vec<String> {
        [
            self.numbers,
            self.within_10_pct,
            self.within_25_pct,
            self.farther,
            self.zero,
            self.zero_met,
            self.without_ours,
        ]
        .map(|n| n.to_string())
        .to_vec()
    }
}

/// One line for each artefact of the paper that has numbers, in the order in which they come.
pub(crate) fn by_artefact(rows: &[&Row]) -> Table {
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|r| r.paper.is_some()) {
        if !names.contains(&row.artefact.as_str()) {
            names.push(&row.artefact);
        }
    }
    let line = |name: &&str| {
        let own = rows.iter().filter(|r| r.artefact == *name).copied();
        [vec![(*name).to_owned()], Tally::of(own).cells()].concat()
    };
    let mut body: Vec<Vec<String>> = names.iter().map(line).collect();
    if body.len() > 1 {
        body.push([vec!["All".to_owned()], Tally::of(rows.iter().copied()).cells()].concat());
    }
    let head = [
        "",
        "numbers",
        "within 10 %",
        "within 25 %",
        "farther",
        "0 in the paper",
        "also 0 here",
        "no number here",
    ];
    Table { head: head.map(str::to_owned).to_vec(), body, words: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let row = |artefact: &str, paper: Option<f64>, ours: Option<f64>| {
            Row::new(artefact, "a", "loss_pct", paper).with([ours])
        };
        vec![
            row("Table 1", Some(10.0), Some(11.0)),
            row("Table 1", Some(-10.0), Some(-12.5)),
            row("Table 1", Some(10.0), Some(4.0)),
            row("Table 2", Some(0.0), Some(0.0001)),
            row("Table 2", Some(0.0), Some(0.2)),
            row("Table 2", Some(3.0), None),
            row("Table 3", None, Some(3.0)),
        ]
    }

    #[test]
    fn every_number_of_the_paper_counts_once() {
        let t = Tally::of(&rows());
        assert_eq!(t.cells(), ["6", "1", "2", "1", "2", "1", "1"]);
        assert_eq!(t.numbers, t.within_25_pct + t.farther + t.zero + t.without_ours);
        let words = t.in_words().unwrap();
        assert!(
            words.starts_with("Of 6 numbers in the paper, ours are within 10 % for 1, within 25 % for 2")
        );
        assert_eq!(Tally::of(&rows()[6..]).in_words(), None);
    }

    #[test]
    fn artefacts_without_a_number_of_the_paper_have_no_line() {
        let all = rows();
        let table = by_artefact(&all.iter().collect::<Vec<_>>());
        let names: Vec<&str> = table.body.iter().map(|l| l[0].as_str()).collect();
        assert_eq!(names, ["Table 1", "Table 2", "All"]);
        assert_eq!(table.body[1][1..], ["3", "0", "0", "0", "2", "1", "1"]);
    }
}
