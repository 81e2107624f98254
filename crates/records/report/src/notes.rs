//! The numbered notes below a table.

/// Notes in the order in which they are first needed; the same words are one note.
#[derive(Default)]
pub(crate) struct Notes<'a>(Vec<&'a str>);

impl<'a> Notes<'a> {
    /// The number of a note, counted from 1; `None` for one without words.
    pub(crate) fn number(&mut self, note: &'a str) -> Option<usize> {
        if note.is_empty() {
            return None;
        }
        let known = self.0.iter().position(|n| *n == note);
        Some(
            known.unwrap_or_else(|| {
                self.0.push(note);
                self.0.len() - 1
            }) + 1,
        )
    }
    /// All of them, in order.
    pub(crate) fn list(&self) -> &[&'a str] {
        &self.0
    }
}
