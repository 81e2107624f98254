//! Quoting of words for a remote shell.

/// Quotes a word for a POSIX shell: in single quotes, in which only the quote itself is special.
///
/// ssh joins its arguments with spaces and the remote shell splits them again, so all text from outside is quoted here. Words never
/// contain NUL: [`crate::Fleet`] rejects control characters.
pub(crate) fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_shell_reads_any_word_back(word in "[^\u{0}]{0,40}") {
            let line = format!("printf %s {}", quote(&word));
            let said = Command::new("sh").args(["-c", &line]).output().unwrap();
            prop_assert_eq!(String::from_utf8(said.stdout).unwrap(), word);
            prop_assert!(said.stderr.is_empty());
        }
    }

    #[test]
    fn a_word_with_everything_in_it_runs_nothing() {
        let word = "a'; touch /tmp/x; `id` $(id) \"$HOME\" \\ \n* ~ &";
        let said = Command::new("sh").args(["-c", &format!("printf %s {}", quote(word))]).output().unwrap();
        assert_eq!(String::from_utf8(said.stdout).unwrap(), word);
    }
}
