//! Constructions that do not come back into comments, messages and pages: each reads as translated.

use std::path::Path;

use crate::sources;

/// A construction, and what to write instead. One that begins with a comma is wrong only where a clause begins.
const CONSTRUCTIONS: &[(&str, &str)] = &[
    ("so many", "name the number (`capacity`), or write \"this many\""),
    (", of which", "begin a new sentence, or use \"whose\" or \"some of them\""),
    ("whoever", "name the role: the sender, a receiver, each client"),
    ("tell of", "report, announce, describe"),
    ("tells of", "reports, announces, describes"),
    ("told of", "reported, notified of, learned"),
    ("telling of", "reporting, announcing, describing"),
    ("in the place of", "instead of, or replaces"),
    ("give way", "are replaced, are removed"),
    ("gives way", "is replaced, is removed"),
    ("gave way", "was replaced, was removed"),
    ("go along", "follow, take a route, adapt"),
    ("goes along", "follows, takes a route, adapts"),
    ("went along", "followed, took a route, adapted"),
    ("to be had", "is available, exists"),
    ("go on with", "continue, use"),
    ("goes on with", "continues, uses"),
    ("gone on with", "continued"),
    ("stand on", "depend on, use"),
    ("stands on", "depends on, uses"),
    ("is whole", "is complete, is intact"),
    ("are whole", "are complete, are intact"),
    ("anew", "again; restarted, rebuilt, redrawn, recomputed"),
    ("set back", "restored, undone"),
    ("sets back", "restores, undoes"),
    ("set it back", "restored it, undone it"),
    ("sets it back", "restores it, undoes it"),
    ("set them back", "restored them, undone them"),
    ("sets them back", "restores them, undoes them"),
    ("leads nowhere", "is offline, is no route"),
    ("takes no harm", "is not affected"),
    ("wants to be", "is to be"),
];

/// Where the prose is: folders and pages.
const PLACES: &[&str] = &[
    "crates/",
    "xtask/",
    "fuzz/",
    "docs/",
    "packaging/",
    "bench/",
    "web/src/",
    "web/test/",
    "web/e2e/",
    "scenarios/",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
];
const ENDINGS: &[&str] = &["rs", "md", "toml", "py", "ts", "tsx", "mjs", "service"];
/// This list of constructions.
const OWN: &str = "xtask/src/prose.rs";

/// One line for each construction in a file that git tracks.
pub(crate) fn findings(root: &Path) -> Result<Vec<String>, String> {
    let texts = sources::tracked_texts(root, has_prose)?;
    Ok(texts.iter().flat_map(|(name, text)| in_file(name, text)).collect())
}

fn has_prose(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    name != OWN && PLACES.iter().any(|place| name.starts_with(place)) && ENDINGS.contains(&ending)
}

fn in_file(name: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for paragraph in paragraphs(text) {
        for (construction, instead) in CONSTRUCTIONS {
            let shown = construction.trim_start_matches(", ");
            let finding = |line| format!("{name}:{}: \"{shown}\": write {instead}", line + 1);
            findings.extend(paragraph.lines_with(construction).map(finding));
        }
    }
    findings
}

/// Lines up to an empty one, in lower case and with single spaces, so that a line break hides nothing.
#[derive(Default)]
struct Paragraph {
    words: String,
    /// Where each line begins in `words`, and its index in the file.
    lines: Vec<(usize, usize)>,
}

impl Paragraph {
    fn lines_with(&self, construction: &str) -> impl Iterator<Item = usize> {
        let (construction, begins_clause) =
            construction.strip_prefix(", ").map_or((construction, false), |rest| (rest, true));
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let found = self.words.match_indices(construction).filter(move |(at, _)| {
            let (before, after) = (&self.words[..*at], &self.words[at + construction.len()..]);
            let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
            is_whole && !(begins_clause && before.trim_end().ends_with(is_part))
        });
        found.filter_map(|(at, _)| self.lines.iter().rfind(|(begin, _)| *begin <= at).map(|(_, line)| *line))
    }
}

/// The text without the marks of comments, quotes and lists at the beginning of lines, and without the backslashes
/// that continue a string. Code stays: no construction is code.
fn paragraphs(text: &str) -> Vec<Paragraph> {
    let mut all = vec![Paragraph::default()];
    for (index, line) in text.lines().enumerate() {
        let line = line
            .trim_start_matches(|c: char| c.is_whitespace() || "/!#*>-".contains(c))
            .trim_end_matches(|c: char| c.is_whitespace() || c == '\\');
        let Some(paragraph) = all.last_mut() else { continue };
        if line.is_empty() {
            all.push(Paragraph::default());
            continue;
        }
        paragraph.lines.push((paragraph.words.len(), index));
        for word in line.split_whitespace() {
            paragraph.words.push_str(&word.to_lowercase());
            paragraph.words.push(' ');
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "crates/a/src/lib.rs";

    fn found(text: &str) -> Vec<String> {
        in_file(NAME, text)
    }

    fn is_clean(text: &str) -> bool {
        found(text).is_empty()
    }

    #[test]
    fn a_construction_is_found_with_its_line_and_what_to_write() {
        assert_eq!(
            found("fn f() {}\n\n/// The file is whole.\n"),
            ["crates/a/src/lib.rs:3: \"is whole\": write is complete, is intact"]
        );
        assert!(!is_clean("let e = \"Whoever comes\";"));
    }

    #[test]
    fn a_line_break_hides_nothing() {
        let one = "    /// A table of at most so\n    /// many rows.\n";
        assert_eq!(found(one).len(), 1, "a comment");
        assert!(found(one)[0].starts_with("crates/a/src/lib.rs:1: "));
        assert_eq!(found("let e = \"nodes are told \\\n         of it\";").len(), 1, "a string");
        assert_eq!(found("* A page gives\n  way.\n").len(), 1, "a list");
    }

    #[test]
    fn a_longer_word_another_paragraph_and_another_sentence_are_no_construction() {
        for text in ["so manya", "also many", "a_so many", "/// so\n///\n/// many", "so. Many", "so, many"] {
            assert!(is_clean(text), "{text}");
        }
    }

    #[test]
    fn of_which_is_wrong_at_the_beginning_of_a_clause_only() {
        for text in ["nodes, of which two", "nodes (of which two", "/// Of which node.", "a; of\n// which b"]
        {
            assert!(!is_clean(text), "{text}");
        }
        for text in ["nodes, each of which", "two of which are"] {
            assert!(is_clean(text), "{text}");
        }
    }

    #[test]
    fn prose_is_where_users_and_developers_read_it() {
        for name in
            [NAME, "docs/concepts/a.md", "README.md", "bench/a.py", "web/src/a.tsx", "scenarios/a.toml"]
        {
            assert!(has_prose(name), "{name}");
        }
        for name in [OWN, "captures/a.md", "docs/img/a.svg", "crates/a/tests/a.pcapng", "Cargo.toml"] {
            assert!(!has_prose(name), "{name}");
        }
    }
}
