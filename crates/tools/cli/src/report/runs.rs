//! A page of runs.

use wayhop_figures::comparison::totals;
use wayhop_figures::{Choices, Kind, Runs, methods};
use wayhop_report::{Page, Section, Table};
use wayhop_sweep::figure_in_words;

use super::args::ReportArgs;
use super::command::command;
use crate::compare::table;
use crate::failure::Failure;
use crate::plot::columns;

/// The page of these run directories, or folders of them.
pub(super) fn page(a: &ReportArgs) -> Result<Page, Failure> {
    let columns = columns(&a.of)?;
    let runs = Runs::read(&columns, &Kind::ALL, Choices::default()).map_err(Failure::trace)?;
    let section = |heading: &str, kinds: &[Kind]| Section {
        heading: heading.to_owned(),
        figures: kinds.iter().filter_map(|k| runs.figure(*k)).collect(),
        ..Section::default()
    };
    let mut sections = vec![
        section("Delivery", &[Kind::Delivery, Kind::Throughput, Kind::Losses]),
        section("Latency", &[Kind::Cdf, Kind::Latency]),
        section("Routes", &[Kind::Hops, Kind::Overhead, Kind::Searches]),
        section("TCP", &[Kind::Sequence]),
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
            1 => "One run: what became of its packets, and how it was made.".to_owned(),
            n => format!("{n} runs: what became of their packets, and how they were made."),
        },
        facts: Vec::new(),
        command: command(a),
        sections,
    })
}

fn numbers(columns: &[wayhop_figures::Column]) -> Section {
    let rows = totals(columns);
    let (head, mut body) = table(columns, &rows);
    // What no run has: to be on time without a clock to be late by.
    body.retain(|line| line[2..].iter().any(|cell| !cell.is_empty() && cell != "-"));
    let mut above = String::new();
    for line in &mut body {
        line[1] = figure_in_words(&line[1]);
        if line[0] == above { line[0].clear() } else { above.clone_from(&line[0]) }
    }
    let means = "Numbers are of all flows together. \u{b1} is half of the 95 % interval over runs (Student's t); (3 of 10): only 3 of the \
                 10 runs have the number, and the mean is of those.";
    let differences = "Differences are to the first, of pairs with the same seed if both sides have the same seeds, else of the means with \
                       Welch's interval; a * marks an interval of five runs or more that leaves out zero.";
    let has_means = columns.iter().any(|c| c.runs.len() > 1);
    let mut text = vec![if has_means { means } else { "Numbers are of all flows together." }.to_owned()];
    if columns.len() > 1 {
        text.push(differences.to_owned());
    }
    Section {
        heading: "Numbers".to_owned(),
        text,
        tables: vec![Table { head, body, words: 2 }],
        ..Section::default()
    }
}
