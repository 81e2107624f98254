//! Marks that git leaves where a merge was not solved.

use std::path::Path;

use crate::sources;

/// How the first and the last line of such a place begin.
const MARKS: [&str; 2] = ["<<<<<<< ", ">>>>>>> "];

/// One line for each mark in a text file that git tracks.
pub(crate) fn findings(root: &Path) -> Result<Vec<String>, String> {
    let texts = sources::tracked_texts(root, |_| true)?;
    Ok(texts.iter().flat_map(|(name, text)| in_text(name, text)).collect())
}

fn in_text<'a>(name: &'a str, text: &'a str) -> impl Iterator<Item = String> + 'a {
    let marked = |line: &str| MARKS.iter().any(|mark| line.starts_with(mark));
    let lines = text.lines().enumerate().filter(move |(_, line)| marked(line));
    lines.map(move |(at, _)| {
        format!("{name}:{}: an unsolved merge; choose a side and remove the marks", at + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_marks_are_found_with_their_lines() {
        let [open, close] = MARKS;
        let text = format!("a\n{open}HEAD\nb\n=======\nc\n{close}theirs\n");
        assert_eq!(
            in_text("f.md", &text).collect::<Vec<_>>(),
            [
                "f.md:2: an unsolved merge; choose a side and remove the marks",
                "f.md:6: an unsolved merge; choose a side and remove the marks"
            ]
        );
    }

    #[test]
    fn quoted_and_underlining_signs_are_no_marks() {
        let text = "=======\n> <<<<<<< HEAD\n    >>>>>>> x\n<<<<<<<<\n";
        assert_eq!(in_text("f.md", text).count(), 0);
    }

    #[test]
    fn a_folder_outside_of_git_has_no_findings() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("f"), format!("{}x\n", MARKS[0])).unwrap();
        assert_eq!(findings(root.path()), Ok(Vec::new()));
    }
}
