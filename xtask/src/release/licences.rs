//! The licences of what is linked into the program, as each of them asks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::linked::Linked;

const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT"];

/// All crates with their licence, then each text once with the crates that have it.
pub(super) fn text(linked: &[Linked]) -> Result<String, String> {
    let mut out =
        "Crates that are part of the program, with their licences; the texts follow.\n\n".to_owned();
    let mut texts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for c in linked {
        let _ = writeln!(out, "{} {}: {}", c.name, c.version, c.licence);
        for text in files(&c.folder)? {
            texts.entry(text).or_default().push(&c.name);
        }
    }
    for (text, mut names) in texts {
        names.dedup();
        let _ = write!(out, "\n{}\n{}\n\n{}\n", "-".repeat(80), names.join(", "), text.trim_matches('\n'));
    }
    Ok(out)
}

fn files(folder: &Path) -> Result<Vec<String>, String> {
    let fails = |e| format!("{}: {e}", folder.display());
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).map_err(fails)? {
        let path = entry.map_err(fails)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_file() && NAMES.iter().any(|n| name.starts_with(n)) {
            texts.push(fs::read_to_string(&path).map_err(fails)?.replace('\r', ""));
        }
    }
    texts.sort();
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_there_once_with_all_that_have_it() {
        let folder = tempfile::tempdir().unwrap();
        let linked = ["a", "b", "c"].map(|name| {
            let folder = folder.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("LICENSE-MIT"), if name == "c" { "Of c\n" } else { "Of all\r\n" }).unwrap();
            fs::write(folder.join("lib.rs"), "code").unwrap();
            let (version, licence) = ("1.0.0".into(), "MIT".into());
            Linked { name: name.into(), version, licence, checksum: String::new(), folder }
        });
        let text = text(&linked).unwrap();
        assert!(text.contains("b 1.0.0: MIT\n") && !text.contains("code"), "{text}");
        assert!(text.contains("\na, b\n\nOf all\n") && text.contains("\nc\n\nOf c\n"), "{text}");
    }
}
