//! The runs behind a row, and the numbered lists below a table.

use serde::Serialize;

/// What makes runs, and where they are then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The command.
    pub command: String,
    /// The run directory that it writes, or the folder of them.
    pub directory: String,
}

/// Things in the order in which they are first needed; equal ones have one number.
pub(crate) struct Numbered<T>(Vec<T>);

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: PartialEq> Numbered<T> {
    /// The number of one, counted from 1.
    pub(crate) fn number(&mut self, one: T) -> usize {
        let known = self.0.iter().position(|other| *other == one);
        known.unwrap_or_else(|| {
            self.0.push(one);
            self.0.len() - 1
        }) + 1
    }

    pub(crate) fn list(&self) -> &[T] {
        &self.0
    }
}

impl<'a> Numbered<&'a Source> {
    /// The numbers of these, counted from 1: `1-3, 7`.
    pub(crate) fn numbers(&mut self, of: &'a [Source]) -> String {
        let mut numbers: Vec<usize> = of.iter().map(|s| self.number(s)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut parts = Vec::new();
        let mut rest = numbers.as_slice();
        while let Some(&first) = rest.first() {
            let run = rest.iter().enumerate().take_while(|(i, n)| **n == first + i).count();
            let last = first + run - 1;
            parts.push(if run > 2 { format!("{first}\u{2013}{last}") } else { first.to_string() });
            rest = &rest[if run > 2 { run } else { 1 }..];
        }
        parts.join(", ")
    }
}

/// A word as a POSIX shell takes it: in single quotes, unless it is plain.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sources_have_one_number_and_three_in_a_row_are_a_range() {
        let source = |n: u32| Source { command: format!("wayhop run {n}"), directory: format!("runs/{n}") };
        let all: Vec<Source> = (0..6).map(source).collect();
        let mut sources = Numbered::default();
        assert_eq!(sources.numbers(&all[..2]), "1, 2");
        assert_eq!(sources.numbers(&all[..4]), "1\u{2013}4");
        assert_eq!(sources.numbers(&all[5..]), "5");
        assert_eq!(sources.numbers(&[]), "");
        assert_eq!(sources.list().len(), 5);
    }

    #[test]
    fn words_stand_as_a_shell_takes_them() {
        assert_eq!(
            ["runs/a-1", "two words", "it's"].map(shell_word),
            ["runs/a-1", "'two words'", "'it'\\''s'"]
        );
    }
}
