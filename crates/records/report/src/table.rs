//! A table of anything in a page.

use std::fmt::Write as _;

use crate::escape::escape;

/// Heads and lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The heads of the columns.
    pub head: Vec<String>,
    /// The lines; a line may be shorter than the head.
    pub body: Vec<Vec<String>>,
    /// How many columns, from the left, hold words; figures stand to the right.
    pub words: usize,
}

impl Table {
    pub(crate) fn html(&self) -> String {
        if self.body.is_empty() {
            return String::new();
        }
        let cells = |name: &str, line: &[String]| {
            let mut text = String::new();
            for (i, cell) in line.iter().enumerate() {
                let class = if i < self.words { "" } else { " class=\"n\"" };
                let _ = write!(text, "<{name}{class}>{}</{name}>", escape(cell));
            }
            text
        };
        let head = cells("th", &self.head);
        let mut body = String::new();
        for line in &self.body {
            let _ = writeln!(body, "<tr>{}</tr>", cells("td", line));
        }
        format!(
            "<div class=\"scroll wide\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n"
        )
    }
}
