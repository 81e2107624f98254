//! Lists of rows as JSON, CSV and a table for a terminal.

use std::fmt::Write as _;

use crate::document::Document;
use crate::row::Row;
use crate::source::{Numbered, Source};
use crate::table::aligned;
use crate::tally::Tally;

/// The object that `wayhop reproduce --json` prints.
pub fn rows_json(paper: &str, rows: &[Row]) -> Document {
    let row = |r: &Row| {
        let mut value = serde_json::json!(r);
        value["difference_pct"] = r.difference_pct().into();
        value
    };
    let values: Vec<_> = rows.iter().map(row).collect();
    serde_json::json!({ "paper": paper, "tally": Tally::of(rows), "rows": values }).into()
}

/// The rows as CSV (RFC 4180, with `\n` line ends); an empty cell means that there is no value.
pub fn rows_csv(rows: &[Row]) -> String {
    let mut text = "artefact,row,quantity,paper,ours,ci95_low,ci95_high,seeds,note,difference_pct,commands,directories\n".to_owned();
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
            number(r.difference_pct()),
            quoted(&joined(r, |s| &s.command)),
            quoted(&joined(r, |s| &s.directory)),
        ];
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

fn joined(row: &Row, part: impl Fn(&Source) -> &String) -> String {
    row.runs.iter().map(|s| part(s).as_str()).collect::<Vec<_>>().join("; ")
}

/// The tally of the rows, and the rows as a table for a terminal; notes stand below it, numbered.
pub fn rows_text(rows: &[Row]) -> String {
    let mut notes = Numbered::default();
    let header = ["artefact", "row", "quantity", "paper", "ours", "95 % interval", "difference", "%", ""];
    let mut table = vec![header.map(str::to_owned).to_vec()];
    let mut before = "artefact";
    for r in rows {
        let mark =
            if r.note.is_empty() { String::new() } else { format!("[{}]", notes.number(r.note.as_str())) };
        // An artefact is named once.
        let artefact = if r.artefact == before { String::new() } else { r.artefact.clone() };
        before = &r.artefact;
        let words = [artefact, r.row.clone(), r.quantity_words()];
        table.push([&words[..], &r.cells(), &[mark]].concat());
    }
    let mut text = Tally::of(rows).in_words().map_or_else(String::new, |t| t + "\n\n");
    text += &aligned(&table, |column| !(3..8).contains(&column));
    for (i, note) in notes.list().iter().enumerate() {
        let _ = writeln!(text, "{}[{}] {note}", if i == 0 { "\n" } else { "" }, i + 1);
    }
    text
}

/// A cell of CSV (RFC 4180).
pub fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::rows;

    #[test]
    fn json_has_the_keys_of_the_contract() {
        let v = serde_json::to_value(rows_json("cmu", &rows())).unwrap();
        assert_eq!(v["paper"], "cmu");
        let keys: Vec<&str> = v["rows"][0].as_object().unwrap().keys().map(String::as_str).collect();
        let expected = "artefact,ci95,difference_pct,note,ours,paper,quantity,row,runs,seeds";
        assert_eq!(keys.join(","), expected);
        assert_eq!(v["rows"][0]["ours"], 13.0);
        assert!(v["rows"][1]["ours"].is_null() && v["rows"][1]["ci95"].is_null());
        assert!(v["rows"][1]["difference_pct"].is_null());
        assert_eq!((&v["tally"]["numbers"], &v["tally"]["within_10_pct"]), (&3.into(), &1.into()));
    }

    #[test]
    fn the_table_for_a_terminal_lines_up() {
        let expected = "\
Of 3 numbers in the paper, ours are within 10 % for 1, within 25 % for 1, and farther off for 0; 2 have no number here.

artefact   row           quantity        paper  ours   95 % interval  difference  %
Table I    T1            loss (%)        13.01    13  10.52 to 15.48       \u{2212}0.01  0
           T2            loss (%)        12.57     \u{2013}               \u{2013}           \u{2013}  \u{2013}  [1]
Section 9  one hop, lab  goodput (Mb/s)   0.86     \u{2013}               \u{2013}           \u{2013}  \u{2013}  [1]

[1] no runs
";
        assert_eq!(rows_text(&rows()), expected);
    }

    #[test]
    fn csv_quotes_what_has_a_comma() {
        let text = rows_csv(&rows());
        assert_eq!(text.lines().nth(2), Some("Table I,T2,loss_pct,12.57,,,,0,no runs,,,"));
        assert_eq!(text.lines().nth(3), Some("Section 9,\"one hop, lab\",goodput_mbps,0.86,,,,0,no runs,,,"));
    }

    #[test]
    fn sources_stand_in_the_csv() {
        let mut row = Row::new("Table I", "T1", "loss_pct", 4.0).with([Some(5.0)]);
        for n in [1, 2] {
            row.runs.push(Source { command: format!("wayhop run {n}"), directory: format!("runs/{n}") });
        }
        let text = rows_csv(&[row]);
        let end = ",25,wayhop run 1; wayhop run 2,runs/1; runs/2\n";
        assert!(text.ends_with(end), "{text}");
    }
}
