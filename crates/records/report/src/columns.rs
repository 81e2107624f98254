//! Tables for terminals.

use unicode_width::UnicodeWidthStr as _;

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
