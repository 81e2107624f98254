//! Rust source without its comments and literals, so that a forbidden name in prose is no finding.

/// The source with every comment, string and character literal blanked out. Line breaks stay, so line numbers hold.
pub(crate) fn code_only(source: &str) -> String {
    blanked(source, false)
}

/// The source with every comment blanked out. Line breaks stay, so line numbers hold.
pub(crate) fn without_comments(source: &str) -> String {
    blanked(source, true)
}

fn blanked(source: &str, keep_literals: bool) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let skipped = skipped_length(rest, out.chars().next_back());
        if skipped == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        } else if keep_literals && first != '/' {
            out.push_str(&rest[..skipped]);
            rest = &rest[skipped..];
        } else {
            out.push(' ');
            out.extend(rest[..skipped].chars().filter(|c| *c == '\n'));
            rest = &rest[skipped..];
        }
    }
    out
}

/// Whether `name` stands in `code` as a whole path: `HashMap` is not found in `FxHashMap`.
pub(crate) fn lines_naming<'a>(code: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.lines().enumerate().filter_map(move |(index, line)| {
        let found = line.match_indices(name).any(|(at, _)| {
            !line[..at].chars().next_back().is_some_and(is_part)
                && !line[at + name.len()..].chars().next().is_some_and(is_part)
        });
        found.then_some(index + 1)
    })
}

/// The length in bytes of the comment or literal that `rest` begins with; 0 if it begins with code.
fn skipped_length(rest: &str, before: Option<char>) -> usize {
    if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else if rest.starts_with("/*") {
        block_comment_length(rest)
    } else if rest.starts_with('"') {
        quoted_length(rest)
    } else if rest.starts_with('r') && !before.is_some_and(|c| c.is_alphanumeric() && c != 'b' || c == '_') {
        raw_string_length(rest)
    } else if rest.starts_with('\'') {
        character_length(rest)
    } else {
        0
    }
}

fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn quoted_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn raw_string_length(rest: &str) -> usize {
    let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
    let body = 1 + hashes;
    if !rest[body..].starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    rest[body + 1..].find(&end).map_or(rest.len(), |at| body + 1 + at + end.len())
}

/// A quote starts a character literal (`'x'`, `'\n'`) or a lifetime (`'a`), which is code.
fn character_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((escape, _))) => {
            let after = escape + rest[escape..].chars().next().map_or(1, char::len_utf8);
            rest[after..].find('\'').map_or(0, |at| after + at + 1)
        }
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str, name: &str) -> Vec<usize> {
        lines_naming(&code_only(source), name).collect()
    }

    #[test]
    fn a_name_in_code_is_found_on_its_line() {
        assert_eq!(names("fn f() {\n    let x = Instant::now();\n}", "Instant"), [2]);
    }

    #[test]
    fn a_name_in_comments_and_literals_is_not_found() {
        let source = "// Instant\n/* Instant /* Instant */ Instant */\nlet a = \"Instant \\\" Instant\";\n\
                      let b = r#\"Instant \" Instant\"#;\nlet c = b\"Instant\";\nlet d = br\"Instant\";";
        assert_eq!(names(source, "Instant"), [0_usize; 0]);
    }

    #[test]
    fn code_after_a_literal_is_still_read() {
        assert_eq!(names("let q = '\"'; let i: Instant;", "Instant"), [1]);
        assert_eq!(names("let q = '\\''; let i: Instant;", "Instant"), [1]);
        assert_eq!(names("fn f<'a>(x: &'a str) -> Instant {}", "Instant"), [1]);
        assert_eq!(names("let s = r\"\\\"; let i: Instant;", "Instant"), [1]);
        assert_eq!(names("/* one\ntwo */ let i: Instant;", "Instant"), [2]);
    }

    #[test]
    fn a_longer_name_is_another_name() {
        assert_eq!(names("use rustc_hash::FxHashMap;", "HashMap"), [0_usize; 0]);
        assert_eq!(names("struct HashMaps;", "HashMap"), [0_usize; 0]);
        assert_eq!(names("use std::collections::{BTreeMap, HashMap};", "HashMap"), [1]);
    }
}
