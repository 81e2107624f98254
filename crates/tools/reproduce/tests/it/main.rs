//! Reproductions in small.

mod cmu;
mod das;

use std::path::Path;

use wayhop_report::Row;
use wayhop_reproduce::Outcome;

/// The row of these names.
fn row<'a>(rows: &'a [Row], artefact: &str, row: &str, quantity: &str) -> &'a Row {
    let is_it =
        |r: &&Row| (r.artefact.as_str(), r.row.as_str(), r.quantity.as_str()) == (artefact, row, quantity);
    rows.iter().find(is_it).unwrap_or_else(|| panic!("no row {artefact}, {row}, {quantity}"))
}

/// Writes an outcome into a folder, and counts the figures in its report.
fn figures_written(outcome: &Outcome, dir: &Path) -> usize {
    outcome.write(dir).expect("written");
    let html = std::fs::read_to_string(dir.join("report.html")).expect("a report");
    let tree = roxmltree::Document::parse(html.strip_prefix("<!DOCTYPE html>").expect("HTML"));
    tree.expect("well-formed").descendants().filter(|n| n.has_tag_name("figure")).count()
}
