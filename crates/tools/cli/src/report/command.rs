//! The command shown on a page.

use std::path::Path;

use super::args::ReportArgs;

/// The shell command that writes the page again.
pub(super) fn command(a: &ReportArgs) -> String {
    let mut words = vec!["wayhop report".to_owned()];
    words.extend(a.of.iter().map(|p| quoted(p)));
    #[cfg(feature = "studio")]
    if a.replay {
        words.push("--replay".to_owned());
    }
    if let Some(out) = &a.out {
        words.extend(["--out".to_owned(), quoted(out)]);
    }
    words.join(" ")
}

fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_as_a_shell_takes_them() {
        let names = ["runs/a-1", "two words", "it's"].map(|n| quoted(Path::new(n)));
        assert_eq!(names, ["runs/a-1", "'two words'", "'it'\\''s'"]);
    }
}
