//! One self-contained HTML page.

use std::fmt::Write as _;

use crate::escape::{escape, escape_document};
use crate::figure::Figure;
use crate::notes::Notes;
use crate::row::Row;
use crate::source::Sources;
use crate::style;
use crate::table::Table;
use crate::tally::{Tally, by_artefact};
use crate::ties::tied;

/// A report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// What it is.
    pub title: String,
    /// What it is about, in a sentence or two.
    pub lead: String,
    /// What it was made from: scenario, seeds, version, ...
    pub facts: Vec<(String, String)>,
    /// The command that makes it again.
    pub command: String,
    /// Its parts.
    pub sections: Vec<Section>,
}

/// A part of a report, about one artefact of the paper or several that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// Its paragraphs.
    pub text: Vec<String>,
    /// The paper's numbers and ours.
    pub rows: Vec<Row>,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// Tables of anything, below the figures.
    pub tables: Vec<Table>,
    /// Documents within the page, below the tables.
    pub insets: Vec<Inset>,
}

/// A document of its own within a page, such as a replay. It may run scripts, and reaches nothing of the page or elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inset {
    /// What it is, for screen readers.
    pub title: String,
    /// Its HTML.
    pub html: String,
}

/// Explains the marks in tables with a paper's numbers and ours.
const AGREEMENT: &str = "<dt><span class=\"in\">\u{2713}</span></dt><dd>the interval, over at least five seeds, contains \
                         the paper's number and excludes zero</dd>\n";

impl Page {
    /// The page as HTML that is also well-formed XML. Fails if a figure cannot be drawn.
    pub fn html(&self) -> Result<String, String> {
        let mut sections = String::new();
        let mut contents = String::new();
        for (i, s) in self.sections.iter().enumerate() {
            let _ = writeln!(contents, "<li><a href=\"#s{i}\">{}</a></li>", escape(&s.heading));
            sections += &s.html(i)?;
        }
        let facts: String = self
            .facts
            .iter()
            .map(|(what, value)| format!("<dt>{}</dt><dd>{}</dd>\n", escape(what), escape(value)))
            .collect::<Vec<_>>()
            .concat();
        let (title, lead, command) = (escape(&self.title), escape(&self.lead), escape(&self.command));
        let (sheet, tally) = (style::sheet(), self.tally());
        let marks = if self.sections.iter().any(|s| !s.rows.is_empty()) { AGREEMENT } else { "" };
        let repeat = if command.is_empty() {
            String::new()
        } else {
            format!("<dt>To reproduce</dt><dd><code>{command}</code></dd>\n")
        };
        Ok(format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <title>{title}</title>\n<style>\n{sheet}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
             <p class=\"lead\">{lead}</p>\n<dl class=\"facts\">\n{facts}{marks}{repeat}</dl>\n\
             {tally}<nav><ul>\n{contents}</ul></nav>\n{sections}</body>\n</html>\n"
        ))
    }

    /// How near ours come to the paper; nothing without numbers of a paper.
    fn tally(&self) -> String {
        let rows: Vec<&Row> = self.sections.iter().flat_map(|s| &s.rows).collect();
        let Some(words) = Tally::of(rows.iter().copied()).in_words() else { return String::new() };
        format!("<p class=\"tally\">{}</p>\n{}", escape(&words), by_artefact(&rows).html())
    }
}

impl Section {
    fn html(&self, number: usize) -> Result<String, String> {
        let mut text = format!("<section id=\"s{number}\">\n<h2>{}</h2>\n", escape(&self.heading));
        for p in &self.text {
            let _ = writeln!(text, "<p>{}</p>", escape(&tied(p)));
        }
        text += &numbers(&self.rows);
        for f in &self.figures {
            text += &f.html()?;
        }
        for t in &self.tables {
            text += &t.html();
        }
        for i in &self.insets {
            let (title, document) = (escape(&i.title), escape_document(&i.html));
            let _ = writeln!(
                text,
                "<iframe class=\"inset\" title=\"{title}\" sandbox=\"allow-scripts allow-forms\" loading=\"lazy\" srcdoc=\"{document}\"></iframe>"
            );
        }
        text += "</section>\n";
        Ok(text)
    }
}

/// The paper's numbers and ours.
fn numbers(rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let (mut notes, mut sources) = (Notes::default(), Sources::default());
    let mut body = String::new();
    for r in rows {
        let mark = notes.number(&r.note).map(|n| format!(" <sup>{n}</sup>")).unwrap_or_default();
        let [paper, ours, interval, difference, pct] = r.cells();
        let runs = sources.numbers(&r.runs);
        let (inside, mark_in) = if r.agrees_surely() { (" in", " \u{2713}") } else { ("", "") };
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}{mark}</td><td class=\"n\">{paper}</td><td class=\"n ours\">{ours}</td>\
             <td class=\"n{inside}\">{interval}{mark_in}</td><td class=\"n\">{difference}</td><td class=\"n\">{pct}</td><td>{runs}</td></tr>",
            escape(&r.artefact),
            escape(&r.row),
            escape(&r.quantity_words()),
        );
    }
    let notes: String =
        notes.list().iter().map(|n| format!("<li>{}</li>\n", escape(n))).collect::<Vec<_>>().concat();
    let notes = if notes.is_empty() { notes } else { format!("<ol class=\"notes\">\n{notes}</ol>\n") };
    let sources: String = sources
        .list()
        .iter()
        .map(|s| {
            format!("<li><code>{}</code> <span>in {}</span></li>\n", escape(&s.command), escape(&s.directory))
        })
        .collect::<Vec<_>>()
        .concat();
    let sources = if sources.is_empty() {
        sources
    } else {
        format!(
            "<details><summary>Runs behind these rows</summary>\n<ol class=\"notes\">\n{sources}</ol></details>\n"
        )
    };
    format!(
        "<div class=\"scroll\"><table>\n<thead><tr><th>Artefact</th><th>Row</th><th>Quantity</th><th class=\"n\">Paper</th>\
         <th class=\"n\">Ours</th><th class=\"n\">95 % interval</th><th class=\"n\">Difference</th><th class=\"n\">%</th><th>Runs</th></tr></thead>\n\
         <tbody>\n{body}</tbody>\n</table></div>\n{notes}{sources}"
    )
}
