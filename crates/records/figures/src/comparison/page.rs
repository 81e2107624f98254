//! A comparison as a page.

use wayhop_report::{Sheet, Table};
use wayhop_trace::Error;

use super::rows::FigureRow;
use super::text::{heads, spaced, values};
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

/// A page with figures, and the rows as a table. Fails if a table of a run cannot be read.
pub fn page(columns: &[Column], rows: &[FigureRow], remarks: &[String]) -> Result<Sheet, Error> {
    // Runs without tables have only their summaries.
    let has_tables =
        columns.iter().flat_map(|c| &c.runs).all(|r| r.dir.path().join("packets.parquet").is_file());
    let kinds: Vec<FigureKind> = FIGURES.into_iter().filter(|k| has_tables || !k.needs_packets()).collect();
    let runs = Runs::read(columns, &kinds, Choices::default())?;
    let figures = kinds.iter().filter_map(|k| runs.figure(*k)).collect();
    let paths: Vec<String> = columns.iter().map(|c| c.path.display().to_string()).collect();
    Ok(Sheet {
        title: "Comparison of runs".to_owned(),
        lead: "Differences are relative to the first: of pairs with equal seeds if both sides have the same seeds, \
               otherwise of the means with Welch's interval. Intervals are 95 %; * means the interval excludes zero, over \
               at least five runs. (3 of 10) means that only 3 of the 10 runs have the figure; the mean is over those."
            .to_owned(),
        command: format!("wayhop compare {}", paths.join(" ")),
        table: table(columns, rows),
        notes: remarks.to_vec(),
        figures,
    })
}

/// A table of rows.
pub fn table(columns: &[Column], rows: &[FigureRow]) -> Table {
    let heads = heads(columns);
    let line = |cells: &[String], difference| [vec![String::new()], spaced(cells, difference)].concat();
    let head = line(&heads[0], "difference");
    let mut body: Vec<Vec<String>> = heads[1..].iter().map(|cells| line(cells, "")).collect();
    body.extend(rows.iter().map(|r| [vec![r.about.clone(), r.quantity.clone()], values(r)].concat()));
    Table { head, body, words: 2 }
}
