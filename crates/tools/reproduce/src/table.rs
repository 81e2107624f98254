//! A paper's tables, as CSV in the program, and words in ours.

/// The number in a table's column, in the row that begins so; `None` where the table has none.
pub(crate) fn cell(table: &str, row: &str, column: &str) -> Option<f64> {
    let mut lines = table.lines();
    let at = lines.next()?.split(',').position(|name| name == column)?;
    lines.find(|l| l.split(',').next() == Some(row))?.split(',').nth(at)?.parse().ok()
}

/// `1 hop`, `2 hops`.
pub(crate) fn hops_in_words(hops: usize) -> String {
    if hops == 1 { "1 hop".to_owned() } else { format!("{hops} hops") }
}
