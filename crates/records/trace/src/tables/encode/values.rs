//! The cells of one column that wait for being encoded.

use std::borrow::Cow;
use std::ops::Range;

/// Cells of a column, row by row.
pub(crate) struct Values<T> {
    values: Vec<T>,
    /// Of a column that may lack values: which rows have one. Empty if all do.
    has: Vec<bool>,
}

impl<T> Default for Values<T> {
    fn default() -> Self {
        Self { values: Vec::new(), has: Vec::new() }
    }
}

impl<T: Copy + Default> Values<T> {
    /// Adds cells of a column in which every row has a value.
    pub(crate) fn required(&mut self, values: impl Iterator<Item = T>) {
        self.values.extend(values);
    }

    /// Adds cells of a column in which rows may have none.
    pub(crate) fn optional(&mut self, values: impl Iterator<Item = Option<T>>) {
        let (low, _) = values.size_hint();
        self.values.reserve(low);
        self.has.reserve(low);
        for v in values {
            self.values.push(v.unwrap_or_default());
            self.has.push(v.is_some());
        }
    }

    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.has.clear();
    }

    /// Which of these rows have a value; `None` if the column has one in every row.
    pub(super) fn has(&self, rows: &Range<usize>) -> Option<&[bool]> {
        self.has.get(rows.clone()).filter(|_| !self.has.is_empty())
    }

    /// The values of these rows, without gaps.
    pub(super) fn dense(&self, rows: &Range<usize>) -> Cow<'_, [T]> {
        let values = &self.values[rows.clone()];
        match self.has(rows) {
            None => Cow::Borrowed(values),
            Some(has) => values.iter().zip(has).filter(|(_, has)| **has).map(|(v, _)| *v).collect(),
        }
    }
}
