//! Self-contained HTML pages.

use std::fmt::Write as _;

use crate::escape::{escape, escape_document};
use crate::figure::{Figure, tied};
use crate::row::Row;
use crate::source::Numbered;
use crate::style;
use crate::table::Table;
use crate::tally::{Tally, by_artefact};

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

/// A page: its facts are terms and descriptions, as HTML like the body below them.
fn document(title: &str, lead: &str, facts: &str, body: &str) -> String {
    let (title, lead, sheet) = (escape(title), escape(lead), style::sheet());
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>\n{sheet}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         <p class=\"lead\">{lead}</p>\n<dl class=\"facts\">\n{facts}</dl>\n{body}</body>\n</html>\n"
    )
}

/// The fact that a command makes a page again.
fn repetition(command: &str) -> String {
    format!("<dt>To reproduce</dt><dd><code>{}</code></dd>\n", escape(command))
}

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
        let marks = if self.sections.iter().any(|s| !s.rows.is_empty()) { AGREEMENT } else { "" };
        let repeat = if self.command.is_empty() { String::new() } else { repetition(&self.command) };
        let facts = facts + marks + &repeat;
        let body = format!("{}<nav><ul>\n{contents}</ul></nav>\n{sections}", self.tally());
        Ok(document(&self.title, &self.lead, &facts, &body))
    }

    /// How near ours come to the paper; nothing without numbers of a paper.
    fn tally(&self) -> String {
        let rows: Vec<&Row> = self.sections.iter().flat_map(|s| &s.rows).collect();
        let Some(words) = Tally::of(rows.iter().copied()).in_words() else { return String::new() };
        format!("<p class=\"tally\">{}</p>\n{}", escape(&words), by_artefact(&rows).html())
    }
}

impl Section {
    /// A section with a paragraph for each line of `text`.
    pub fn new(heading: &str, text: &str) -> Self {
        let text = text.lines().map(str::to_owned).collect();
        Self { heading: heading.to_owned(), text, ..Self::default() }
    }

    /// With these numbers.
    #[must_use]
    pub fn rows(mut self, rows: Vec<Row>) -> Self {
        self.rows = rows;
        self
    }

    /// With these figures.
    #[must_use]
    pub fn figures(mut self, figures: impl IntoIterator<Item = Figure>) -> Self {
        self.figures.extend(figures);
        self
    }

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

fn numbers(rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let (mut notes, mut sources) = (Numbered::default(), Numbered::default());
    let mut body = String::new();
    for r in rows {
        let mark = if r.note.is_empty() {
            String::new()
        } else {
            format!(" <sup>{}</sup>", notes.number(r.note.as_str()))
        };
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
    let mut below = numbered(notes.list().iter().map(|n| escape(n)));
    if !below.is_empty() {
        below.push('\n');
    }
    let sources =
        numbered(sources.list().iter().map(|s| {
            format!("<code>{}</code> <span>in {}</span>", escape(&s.command), escape(&s.directory))
        }));
    if !sources.is_empty() {
        let _ = writeln!(below, "<details><summary>Runs behind these rows</summary>\n{sources}</details>");
    }
    format!(
        "<div class=\"scroll\"><table>\n<thead><tr><th>Artefact</th><th>Row</th><th>Quantity</th><th class=\"n\">Paper</th>\
         <th class=\"n\">Ours</th><th class=\"n\">95 % interval</th><th class=\"n\">Difference</th><th class=\"n\">%</th><th>Runs</th></tr></thead>\n\
         <tbody>\n{body}</tbody>\n</table></div>\n{below}"
    )
}

/// A numbered list; nothing of nothing.
fn numbered(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("<li>{item}</li>\n")).collect();
    if items.is_empty() { String::new() } else { format!("<ol class=\"notes\">\n{}</ol>", items.concat()) }
}

/// Figures with a table below.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// What it is.
    pub title: String,
    /// What it is about, in a sentence or two.
    pub lead: String,
    /// The command that makes it again.
    pub command: String,
    /// Its table.
    pub table: Table,
    /// Paragraphs below the table.
    pub notes: Vec<String>,
    /// Its figures.
    pub figures: Vec<Figure>,
}

impl Sheet {
    /// The page as HTML that is also well-formed XML. Fails if a figure cannot be drawn.
    pub fn html(&self) -> Result<String, String> {
        let mut body = String::new();
        for f in &self.figures {
            body += &f.html()?;
        }
        body += &self.table.html();
        for n in &self.notes {
            let _ = writeln!(body, "<p>{}</p>", escape(n));
        }
        Ok(document(&self.title, &self.lead, &repetition(&self.command), &body))
    }
}
