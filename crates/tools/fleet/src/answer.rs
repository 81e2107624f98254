//! Output of a script on a host: one fact per line, `KEY VALUE`.

use std::collections::BTreeMap;

/// Facts by key; the last one of a key counts.
pub(crate) type Facts = BTreeMap<String, String>;

/// Prefix of each key, to skip output of a login shell.
pub(crate) const MARK: &str = "wayhop-fleet:";
/// Most facts, and the longest one, bytes.
const MOST: usize = 64;
const LONGEST: usize = 4096;

/// Reads a host's answer. Any input is safe; lines that are not facts are skipped.
pub fn parse(text: &str) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for line in text.lines() {
        let Some(fact) = line.strip_prefix(MARK).filter(|f| f.len() <= LONGEST) else { continue };
        let (key, value) = fact.split_once(' ').unwrap_or((fact, ""));
        let is_key = !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if is_key && (facts.len() < MOST || facts.contains_key(key)) {
            facts.insert(key.to_owned(), value.trim().to_owned());
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_login_shell_prints_is_no_fact() {
        let facts =
            parse("Welcome to car-1!\nversion 9\nwayhop-fleet:version wayhop 0.1.0\nwayhop-fleet:empty\n");
        assert_eq!(facts.get("version").map(String::as_str), Some("wayhop 0.1.0"));
        assert_eq!(facts.get("empty").map(String::as_str), Some(""));
        assert_eq!(facts.len(), 2);
    }

    proptest! {
        #[test]
        fn any_answer_has_a_bound(lines in proptest::collection::vec("(wayhop-fleet:)?[a-z]{0,3}[ -~]{0,30}", 0..200)) {
            let facts = parse(&lines.join("\n"));
            prop_assert!(facts.len() <= MOST);
            prop_assert!(facts.values().all(|v| v.len() <= LONGEST));
        }
    }
}
