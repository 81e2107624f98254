//! A page of runs.

use wayhop_figures::comparison::{rows, table};
use wayhop_figures::{Choices, FigureKind, Runs, methods};
use wayhop_report::{Page, Section, Table};
use wayhop_sweep::figure_in_words;

use super::args::ReportArgs;
use crate::failure::Failure;
use crate::plot::columns;

/// The page of these run directories, or folders of them.
pub(super) fn page(a: &ReportArgs) -> Result<Page, Failure> {
    let columns = columns(&a.of)?;
    let runs = Runs::read(&columns, &FigureKind::ALL, Choices::default()).map_err(Failure::trace)?;
    let section = |heading: &str, kinds: &[FigureKind]| Section {
        heading: heading.to_owned(),
        figures: kinds.iter().filter_map(|k| runs.figure(*k)).collect(),
        ..Section::default()
    };
    let mut sections = vec![
        section("Delivery", &[FigureKind::Delivery, FigureKind::Throughput, FigureKind::Losses]),
        section("Latency", &[FigureKind::Cdf, FigureKind::Latency]),
        section("Routes", &[FigureKind::Hops, FigureKind::Overhead, FigureKind::Searches]),
        section("TCP", &[FigureKind::Sequence]),
    ];
    sections.retain(|s| !s.figures.is_empty());
    let names: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
    sections.push(numbers(&columns));
    sections.push(Section { heading: "Methods".to_owned(), text: methods(&columns), ..Section::default() });
    let scenarios: std::collections::BTreeSet<&str> =
        columns.iter().flat_map(|c| &c.runs).map(|r| r.summary.scenario.as_str()).collect();
    let count: usize = columns.iter().map(|c| c.runs.len()).sum();
    Ok(Page {
        title: format!("{}: {}", scenarios.into_iter().collect::<Vec<_>>().join(", "), names.join(", ")),
        lead: match count {
            1 => "Results of one run, and how it was produced.".to_owned(),
            n => format!("Results of {n} runs, and how they were produced."),
        },
        facts: Vec::new(),
        command: a.command(),
        sections,
    })
}

fn numbers(columns: &[wayhop_figures::Column]) -> Section {
    let mut rows = rows(columns);
    rows.retain(|r| !r.is_of_flow());
    let Table { head, mut body, words } = table(columns, &rows);
    // Rows that no run has, such as lateness in simulations.
    body.retain(|line| line[2..].iter().any(|cell| !cell.is_empty() && cell != "-"));
    let mut above = String::new();
    for line in &mut body {
        line[1] = figure_in_words(&line[1]);
        if line[0] == above { line[0].clear() } else { above.clone_from(&line[0]) }
    }
    let means = "All flows together. \u{b1} is half the 95 % interval over runs (Student's t); (3 of 10) means that only 3 \
                 of the 10 runs have the figure, and the mean is over those.";
    let differences = "Differences are relative to the first: of pairs with equal seeds if both sides have the same seeds, \
                       otherwise of the means with Welch's interval; * means the interval excludes zero, over at least \
                       five runs.";
    let has_means = columns.iter().any(|c| c.runs.len() > 1);
    let mut text = vec![if has_means { means } else { "All flows together." }.to_owned()];
    if columns.len() > 1 {
        text.push(differences.to_owned());
    }
    Section {
        heading: "Numbers".to_owned(),
        text,
        tables: vec![Table { head, body, words }],
        ..Section::default()
    }
}
