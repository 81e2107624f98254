//! A comparison as a page.

use wayhop_report::Sheet;
use wayhop_trace::Error;

use super::rows::FigureRow;
use super::text::{difference, heads, value};
use crate::column::Column;
use crate::kind::FigureKind;
use crate::runs::{Choices, Runs};

/// Figures above the table, the most informative first.
const FIGURES: [FigureKind; 6] = [
    FigureKind::Cdf,
    FigureKind::Delivery,
    FigureKind::Losses,
    FigureKind::Hops,
    FigureKind::Overhead,
    FigureKind::Searches,
];

/// A page with figures, and the rows as a table.
///
/// # Errors
/// If a table of a run cannot be read.
pub fn page(columns: &[Column], rows: &[FigureRow], remarks: &[String]) -> Result<Sheet, Error> {
    // Runs without tables have only their summaries.
    let has_tables =
        columns.iter().flat_map(|c| &c.runs).all(|r| r.dir.path().join("packets.parquet").is_file());
    let kinds: Vec<FigureKind> = FIGURES.into_iter().filter(|k| has_tables || !k.needs_packets()).collect();
    let runs = Runs::read(columns, &kinds, Choices::default())?;
    let figures = kinds.iter().filter_map(|k| runs.figure(*k)).collect();
    let (head, body) = table(columns, rows);
    let paths: Vec<String> = columns.iter().map(|c| c.path.display().to_string()).collect();
    Ok(Sheet {
        title: "Comparison of runs".to_owned(),
        lead: "Differences are relative to the first: of pairs with equal seeds if both sides have the same seeds, \
               otherwise of the means with Welch's interval. Intervals are 95 %; * means the interval excludes zero, over \
               at least five runs. (3 of 10) means that only 3 of the 10 runs have the figure; the mean is over those."
            .to_owned(),
        command: format!("wayhop compare {}", paths.join(" ")),
        head,
        body,
        words: 2,
        notes: remarks.to_vec(),
        figures,
    })
}

/// Heads and lines of a table of rows.
pub fn table(columns: &[Column], rows: &[FigureRow]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut heads = heads(columns);
    let names = heads.remove(0);
    let mut head = vec![String::new(), String::new(), names[1].clone()];
    head.extend(names[2..].iter().flat_map(|n| [n.clone(), "difference".to_owned()]));
    let mut body: Vec<Vec<String>> = Vec::new();
    for h in heads {
        let mut line = vec![String::new(), h[0].clone(), h[1].clone()];
        line.extend(h[2..].iter().flat_map(|c| [c.clone(), String::new()]));
        body.push(line);
    }
    for r in rows {
        let mut line = vec![r.about.clone(), r.quantity.clone(), value(r.mean(0))];
        for i in 1..columns.len() {
            line.extend([value(r.mean(i)), difference(r.difference(i).as_ref())]);
        }
        body.push(line);
    }
    (head, body)
}
