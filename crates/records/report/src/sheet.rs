//! One page of HTML with a table of anything, and figures.

use std::fmt::Write as _;

use crate::escape::escape;
use crate::figure::Figure;
use crate::style;
use crate::table::Table;

/// Figures with a table below.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// What it is.
    pub title: String,
    /// What it is about, in a sentence or two.
    pub lead: String,
    /// The command that makes it again.
    pub command: String,
    /// The heads of the columns.
    pub head: Vec<String>,
    /// The lines; a line may be shorter than the head.
    pub body: Vec<Vec<String>>,
    /// How many columns, from the left, hold words; figures stand to the right.
    pub words: usize,
    /// Paragraphs below the table.
    pub notes: Vec<String>,
    /// Its figures.
    pub figures: Vec<Figure>,
}

impl Sheet {
    /// The page as HTML that is also well-formed XML. Fails if a figure cannot be drawn.
    pub fn html(&self) -> Result<String, String> {
        let table = Table { head: self.head.clone(), body: self.body.clone(), words: self.words }.html();
        let mut figures = String::new();
        for f in &self.figures {
            figures += &f.html()?;
        }
        let mut below = String::new();
        for n in &self.notes {
            let _ = writeln!(below, "<p>{}</p>", escape(n));
        }
        let (title, lead, command) = (escape(&self.title), escape(&self.lead), escape(&self.command));
        let sheet = style::sheet();
        Ok(format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" \
             content=\"width=device-width, \
             initial-scale=1\"/>\n<title>{title}</title>\n<style>\n{sheet}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p \
             class=\"lead\">{lead}</p>\n<dl class=\"facts\">\n<dt>To \
             reproduce</dt><dd><code>{command}</code></dd>\n</dl>\n{figures}{table}{below}</body>\n</html>\n"
        ))
    }
}
