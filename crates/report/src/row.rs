//! One published number, and ours beside it.

use std::fmt::Write as _;

use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use crate::document::Document;
use crate::notes::Notes;
use crate::numbers::{plain, signed};
use crate::stats::{Estimate, FEWEST_RUNS};

/// One number of a paper and what a reproduction found: an object of `rows` in `wayhop reproduce --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// Where the paper has it: `Table I`, `Figure 8`, `Section 8.1`.
    pub artefact: String,
    /// Which row of it, or what the number belongs to.
    pub row: String,
    /// What is counted or measured, in `lower_snake_case` with its unit at the end: `loss_pct`, `timer_max_ms`.
    pub quantity: String,
    /// The paper's number; `None` where it gives none.
    pub paper: Option<f64>,
    /// Ours, the mean over seeds or, for a standard deviation, the one over seeds; `None` where it cannot be had, and `note`
    /// says why.
    pub ours: Option<f64>,
    /// The 95 % interval of ours over seeds; `None` of one seed.
    pub ci95: Option<[f64; 2]>,
    /// The number of runs behind ours.
    pub seeds: usize,
    /// What a reader has to know.
    pub note: String,
}

impl Row {
    /// The paper's number, with nothing of ours yet.
    pub fn new(artefact: &str, row: &str, quantity: &str, paper: impl Into<Option<f64>>) -> Self {
        Self {
            artefact: artefact.to_owned(),
            row: row.to_owned(),
            quantity: quantity.to_owned(),
            paper: paper.into(),
            ..Self::default()
        }
    }

    /// With ours, from one value a run. Runs that have none are left out.
    #[must_use]
    pub fn with(self, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        self.estimated(Estimate::of(&values.into_iter().flatten().collect::<Vec<_>>()))
    }

    /// With the standard deviation of ours over runs, from one value a run; nothing of fewer than two.
    #[must_use]
    pub fn with_deviation(self, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        self.estimated(Estimate::of_deviation(&values.into_iter().flatten().collect::<Vec<_>>()))
    }

    fn estimated(mut self, estimate: Option<Estimate>) -> Self {
        if let Some(e) = estimate {
            self.ours = Some(e.mean);
            self.ci95 = e.ci95;
            self.seeds = e.runs;
        }
        self
    }

    /// With a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Ours less the paper's.
    pub fn difference(&self) -> Option<f64> {
        Some(self.ours? - self.paper?)
    }
    /// Whether the paper's number lies within our interval.
    pub fn agrees(&self) -> Option<bool> {
        let ([low, high], paper) = (self.ci95?, self.paper?);
        Some((low..=high).contains(&paper))
    }

    /// Whether the paper's number lies within our interval, and the interval tells anything: it is of enough runs, and leaves out
    /// zero.
    pub fn agrees_surely(&self) -> bool {
        let tells = self.ci95.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
        self.agrees() == Some(true) && tells && self.seeds >= FEWEST_RUNS
    }

    /// Paper, ours, interval and difference as people read them; a dash where there is none.
    pub(crate) fn cells(&self) -> [String; 4] {
        let dash = || "\u{2013}".to_owned();
        let number = |v: Option<f64>| v.map_or_else(dash, plain);
        let interval =
            self.ci95.map_or_else(dash, |[low, high]| format!("{} to {}", plain(low), plain(high)));
        [number(self.paper), number(self.ours), interval, self.difference().map_or_else(dash, signed)]
    }

    /// The quantity in words: `loss_pct` is `loss (%)`.
    pub(crate) fn quantity_words(&self) -> String {
        const UNITS: [(&str, &str); 12] = [
            ("_kbytes_per_s", "kB/s"),
            ("_pct", "%"),
            ("_ms", "ms"),
            ("_us", "\u{b5}s"),
            ("_pps", "packets/s"),
            ("_kbps", "kb/s"),
            ("_mbps", "Mb/s"),
            ("_kmh", "km/h"),
            ("_mps", "m/s"),
            ("_hz", "Hz"),
            ("_s", "s"),
            ("_m", "m"),
        ];
        let unit = UNITS.iter().find_map(|(end, unit)| Some((self.quantity.strip_suffix(end)?, unit)));
        match unit {
            Some((what, unit)) => format!("{} ({unit})", what.replace('_', " ")),
            None => self.quantity.replace('_', " "),
        }
    }
}

/// The object that `wayhop reproduce --json` prints.
pub fn rows_json(paper: &str, rows: &[Row]) -> Document {
    serde_json::json!({ "paper": paper, "rows": rows }).into()
}

/// The rows as CSV (RFC 4180, with `\n` line ends); an empty cell means that there is no value.
pub fn rows_csv(rows: &[Row]) -> String {
    let mut text = "artefact,row,quantity,paper,ours,ci95_low,ci95_high,seeds,note\n".to_owned();
    for r in rows {
        let number = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
        let cells = [
            quoted(&r.artefact),
            quoted(&r.row),
            quoted(&r.quantity),
            number(r.paper),
            number(r.ours),
            number(r.ci95.map(|c| c[0])),
            number(r.ci95.map(|c| c[1])),
            r.seeds.to_string(),
            quoted(&r.note),
        ];
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

/// The rows as a table for a terminal; notes stand below it, numbered.
pub fn rows_text(rows: &[Row]) -> String {
    let mut notes = Notes::default();
    let header = ["artefact", "row", "quantity", "paper", "ours", "95 % interval", "difference", ""];
    let mut table = vec![header.map(str::to_owned)];
    for r in rows {
        let mark = notes.number(&r.note).map(|n| format!("[{n}]")).unwrap_or_default();
        let [paper, ours, interval, difference] = r.cells();
        let what = r.quantity_words();
        table.push([r.artefact.clone(), r.row.clone(), what, paper, ours, interval, difference, mark]);
    }
    let widths: [usize; 8] =
        std::array::from_fn(|c| table.iter().map(|cells| cells[c].width()).max().unwrap_or(0));
    let mut text = String::new();
    let mut artefact = String::new();
    for (i, cells) in table.iter().enumerate() {
        let mut line = String::new();
        for (c, cell) in cells.iter().enumerate() {
            let fill = " ".repeat(widths[c] - cell.width());
            // An artefact is named once.
            let cell =
                if c == 0 && i > 0 && *cell == artefact { " ".repeat(cell.width()) } else { cell.clone() };
            if c > 0 {
                line.push_str("  ");
            }
            // Words to the left, numbers to the right.
            if (3..7).contains(&c) { line += &(fill + &cell) } else { line += &(cell + &fill) }
        }
        artefact.clone_from(&cells[0]);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    for (i, note) in notes.list().iter().enumerate() {
        let _ = writeln!(text, "{}[{}] {note}", if i == 0 { "\n" } else { "" }, i + 1);
    }
    text
}

/// A cell of CSV.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        vec![
            Row::new("Table I", "T1", "loss_pct", 13.01).with([12.0, 13.0, 14.0].map(Some)),
            Row::new("Table I", "T2", "loss_pct", 12.57).with([None, None]).note("no runs"),
            Row::new("Section 9", "one hop, lab", "goodput_mbps", 0.86).note("no runs"),
        ]
    }

    #[test]
    fn json_has_the_keys_of_the_contract() {
        let v = serde_json::to_value(rows_json("cmu", &rows())).unwrap();
        assert_eq!(v["paper"], "cmu");
        let keys: Vec<&str> = v["rows"][0].as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = ["artefact", "row", "quantity", "paper", "ours", "ci95", "seeds", "note"];
        expected.sort_unstable();
        let mut keys = keys;
        keys.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!(v["rows"][0]["ours"], 13.0);
        assert!(v["rows"][1]["ours"].is_null() && v["rows"][1]["ci95"].is_null());
    }

    #[test]
    fn the_table_for_a_terminal_lines_up() {
        let expected = "\
artefact   row           quantity        paper  ours   95 % interval  difference
Table I    T1            loss (%)        13.01    13  10.52 to 15.48       \u{2212}0.01
           T2            loss (%)        12.57     \u{2013}               \u{2013}           \u{2013}  [1]
Section 9  one hop, lab  goodput (Mb/s)   0.86     \u{2013}               \u{2013}           \u{2013}  [1]

[1] no runs
";
        assert_eq!(rows_text(&rows()), expected);
    }

    #[test]
    fn csv_quotes_what_has_a_comma() {
        let text = rows_csv(&rows());
        assert_eq!(text.lines().nth(2), Some("Table I,T2,loss_pct,12.57,,,,0,no runs"));
        assert_eq!(text.lines().nth(3), Some("Section 9,\"one hop, lab\",goodput_mbps,0.86,,,,0,no runs"));
    }

    #[test]
    fn agreement_is_the_paper_within_our_interval() {
        let [a, b, ..] = &rows()[..] else { unreachable!() };
        assert_eq!((a.agrees(), b.agrees()), (Some(true), None));
        assert!(!a.agrees_surely(), "three seeds are few");
        let row = |values: [f64; 5]| Row::new("Table I", "T1", "gain_pct", 13.0).with(values.map(Some));
        assert!(row([12.0, 13.0, 14.0, 12.5, 13.5]).agrees_surely());
        let noise = row([-72.0, 182.0, 10.0, -40.0, 90.0]);
        assert!(noise.agrees() == Some(true) && !noise.agrees_surely(), "{noise:?}");
    }
}
