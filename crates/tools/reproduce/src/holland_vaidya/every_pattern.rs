//! Every pattern on a line: conditions, expected throughput, and throughput at each speed.

use wayhop_report::{Sheet, Table, plain, quoted};
use wayhop_topology::ChainThroughput;

use super::conditions::{Conditions, heads};
use super::plan::{Mechanism, SPEEDS_MPS};
use super::transfer::Transfers;

/// The table, with a column for each speed of each mechanism.
pub(crate) struct PatternTable {
    head: Vec<String>,
    /// Numbers of each pattern; the last line has the means.
    body: Vec<(String, Vec<Option<f64>>)>,
}

impl PatternTable {
    pub(crate) fn new(
        all: &[Conditions],
        runs: &Transfers,
        mechanisms: &[Mechanism],
        chains: Option<&ChainThroughput>,
    ) -> Self {
        let mut head = vec!["pattern".to_owned(), "expected (kb/s)".to_owned()];
        head.extend(heads().map(str::to_owned));
        for m in mechanisms {
            head.extend(SPEEDS_MPS.map(|s| format!("{}, {s} m/s (kb/s)", m.title())));
        }
        let line = |c: &Conditions| {
            let mut cells = vec![chains.and_then(|t| c.expected_kbps(t))];
            cells.extend(c.cells().map(Some));
            for m in mechanisms {
                cells.extend(SPEEDS_MPS.map(|s| runs.of(c.pattern, s, *m).map(|t| t.kbps)));
            }
            cells
        };
        let mut body: Vec<(String, Vec<Option<f64>>)> =
            all.iter().map(|c| (c.pattern.to_string(), line(c))).collect();
        let column = |i: usize| -> Vec<f64> { body.iter().filter_map(|(_, cells)| cells[i]).collect() };
        let means = (0..head.len() - 1).map(|i| wayhop_report::mean(&column(i))).collect();
        body.push(("mean".to_owned(), means));
        Self { head, body }
    }

    pub(crate) fn csv(&self) -> String {
        let mut text = self.head.iter().map(|h| quoted(h)).collect::<Vec<_>>().join(",") + "\n";
        for (name, cells) in &self.body {
            let cells = cells.iter().map(|c| c.map_or_else(String::new, |v| v.to_string()));
            text += &(name.clone() + "," + &cells.collect::<Vec<_>>().join(",") + "\n");
        }
        text
    }

    pub(crate) fn sheet(&self, command: &str) -> Sheet {
        let cells = |(name, cells): &(String, Vec<Option<f64>>)| {
            let rounded = |v: f64| plain((v * 10.0).round() / 10.0);
            let mut line = vec![name.clone()];
            line.extend(cells.iter().map(|c| c.map_or_else(String::new, rounded)));
            line
        };
        Sheet {
            title: "Every pattern".to_owned(),
            lead: "Conditions as in Figure 3 of Holland and Vaidya, expected throughput from the chains measured here, and \
                   measured throughput."
                .to_owned(),
            command: command.to_owned(),
            table: Table { head: self.head.clone(), body: self.body.iter().map(cells).collect(), words: 1 },
            ..Sheet::default()
        }
    }
}
