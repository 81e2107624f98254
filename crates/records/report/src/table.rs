//! Tables: of anything in a page, and for terminals.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

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

/// Lines of columns that stand below each other, two blanks apart: the first `words` columns to the left, as words are, and
/// the others to the right, as numbers are. The first row is the heading. Each line ends with a line break.
pub fn columns(rows: &[Vec<String>], words: usize) -> String {
    aligned(rows, |column| column < words)
}

/// The same where `is_words` says which columns hold words.
pub(crate) fn aligned(rows: &[Vec<String>], is_words: impl Fn(usize) -> bool) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|cell| cell.width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let fill = " ".repeat(widths[c] - cell.width());
            if c > 0 {
                line.push_str("  ");
            }
            if is_words(c) { line += &(cell.clone() + &fill) } else { line += &(fill + cell) }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_to_the_left_and_numbers_to_the_right() {
        let rows = [["flow", "hops", "%"], ["\u{e9}t\u{e9}", "2", "100"], ["a long one", "12", "5"]];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|r| r.iter().map(ToString::to_string).collect()).collect();
        let expect = "flow        hops    %\n\u{e9}t\u{e9}            2  100\na long one    12    5\n";
        assert_eq!(columns(&rows, 1), expect);
    }
}
