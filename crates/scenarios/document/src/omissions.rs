//! What a reader of other tools' files skipped: counted by kind, with the first lines.

use std::path::{Path, PathBuf};

const MOST_LINES: usize = 5;
/// Kinds that are counted separately: names in a hostile file may produce any number of them.
const MOST_KINDS: usize = 30;
const FURTHER: [&str; 2] = ["item of another kind", "items of other kinds"];

/// What was skipped in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Omissions {
    file: PathBuf,
    kinds: Vec<OmissionKind>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct OmissionKind {
    one: String,
    several: String,
    count: usize,
    lines: Vec<u32>,
}

impl Omissions {
    /// An empty list for this file.
    pub fn of(file: &Path) -> Self {
        Self { file: file.to_path_buf(), kinds: Vec::new() }
    }

    /// Counts one item of a kind, which is named in the singular and in the plural. Lines count from 1; files without
    /// lines pass none.
    pub fn add(&mut self, line: impl Into<Option<u32>>, kind: [&str; 2]) {
        let full = self.kinds.len() >= MOST_KINDS;
        let is_new = self.kinds.iter().all(|k| k.one != kind[0]);
        let [one, several] = if full && is_new { FURTHER } else { kind };
        let at = self.kinds.iter().position(|k| k.one == one).unwrap_or_else(|| {
            let (one, several) = (one.to_owned(), several.to_owned());
            self.kinds.push(OmissionKind { one, several, count: 0, lines: Vec::new() });
            self.kinds.len() - 1
        });
        let kind = &mut self.kinds[at];
        kind.count += 1;
        if let Some(line) = line.into().filter(|line| *line > 0 && kind.count <= MOST_LINES) {
            kind.lines.push(line);
        }
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether the whole file was read.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// What was skipped, one text per kind, such as `3 sentences with a wrong checksum (lines 4, 7 and 9)`.
    pub fn kinds(&self) -> impl Iterator<Item = String> {
        self.kinds.iter().map(OmissionKind::shown)
    }

    /// A note for each kind.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.kinds().map(|kind| format!("{}: skipped {kind}", self.file.display()))
    }

    /// An error for each kind, for users who want nothing skipped.
    pub fn errors(&self) -> impl Iterator<Item = String> {
        let what = |kind| {
            format!("{}: {kind}; correct or remove them, or run without --strict", self.file.display())
        };
        self.kinds().map(what)
    }
}

impl OmissionKind {
    fn shown(&self) -> String {
        let name = if self.count == 1 { &self.one } else { &self.several };
        let mut lines: Vec<String> = self.lines.iter().map(ToString::to_string).collect();
        if !lines.is_empty() && self.count > self.lines.len() {
            lines.push("others".to_owned());
        }
        let Some(last) = lines.pop() else { return format!("{} {name}", self.count) };
        match &lines[..] {
            [] => format!("{} {name} (line {last})", self.count),
            _ => format!("{} {name} (lines {} and {last})", self.count, lines.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_counted_with_its_first_lines() {
        let mut skipped = Omissions::of("a.log".as_ref());
        assert!(skipped.is_empty());
        skipped.add(7, ["place", "places"]);
        for line in 1..=9 {
            skipped.add(line, ["word", "words"]);
        }
        skipped.add(8, ["place", "places"]);
        skipped.add(None, ["end", "ends"]);
        let said: Vec<String> = skipped.notes().collect();
        let expected = [
            "a.log: skipped 2 places (lines 7 and 8)",
            "a.log: skipped 9 words (lines 1, 2, 3, 4, 5 and others)",
            "a.log: skipped 1 end",
        ];
        assert_eq!(said, expected);
        let refused = skipped.errors().next().unwrap();
        let expected = "a.log: 2 places (lines 7 and 8); correct or remove them, or run without --strict";
        assert_eq!(refused, expected);
    }

    #[test]
    fn any_number_of_kinds_needs_bounded_memory() {
        let mut skipped = Omissions::default();
        for i in 0..1_000 {
            skipped.add(i, [&format!("x{i}"), &format!("x{i}s")]);
        }
        assert_eq!(skipped.kinds().count(), MOST_KINDS + 1);
        assert!(skipped.kinds().last().unwrap().starts_with("970 items of other kinds (lines 30, 31,"));
    }
}
