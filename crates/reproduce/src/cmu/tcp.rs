//! Section 9: TCP. Its numbers wait for a model of TCP.

use wayhop_report::{Row, Section};

use super::paper;

/// The section of 9.
pub(crate) fn section() -> Section {
    let rows = paper::TCP.lines().skip(1).filter_map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let [name, _, megabytes, mean, _] = cells[..] else { return None };
        let what = format!("{}, {megabytes} MB", name.replace('_', " "));
        let note = "Comes with TCP: there is no model of TCP yet.";
        Some(Row::new("Section 9", &what, "goodput_mbps", mean.parse::<f64>().ok()).note(note))
    });
    Section { heading: "Section 9: TCP".to_owned(), text: vec![], rows: rows.collect(), figures: vec![] }
}
