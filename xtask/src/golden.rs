//! The golden captures: generated from their sources, and listed.

use std::fs;
use std::path::Path;

use wayhop_testkit::golden::{self, Capture};

use crate::sources;

/// Where the sources are, and the captures made of them.
const FOLDERS: [&str; 2] = ["captures/rfc3561", "captures/rfc4728"];
/// The list stands between these lines of each folder's README.
const LIST: (&str, &str) = ("<!-- list: cargo xtask golden -->\n", "<!-- end of list -->");

/// Writes every capture, and the lists of them.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    for folder in FOLDERS {
        for (path, bytes) in files(root, folder)? {
            let path = root.join(path);
            fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    Ok(())
}

/// One line for each file that is not what its source makes, and for each capture without a source.
pub(crate) fn stale(root: &Path) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for folder in FOLDERS {
        let files = files(root, folder)?;
        for (path, bytes) in &files {
            if fs::read(root.join(path)).ok().as_ref() != Some(bytes) {
                findings.push(format!("{path}: stale; run `cargo xtask golden` and commit the result"));
            }
        }
        for file in sources::children(&root.join(folder))? {
            let path = format!("{folder}/{}", file.file_name().unwrap_or_default().to_string_lossy());
            if path.ends_with(".pcapng") && !files.iter().any(|(p, _)| *p == path) {
                findings.push(format!("{path}: a capture without a source"));
            }
        }
    }
    Ok(findings)
}

/// Path from the root, and contents, of what a folder's sources make.
fn files(root: &Path, folder: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
    let captures = golden::read_all(&root.join(folder))?;
    let mut files: Vec<_> =
        captures.iter().map(|c| (format!("{folder}/{}.pcapng", c.name), c.pcapng())).collect();
    let readme = format!("{folder}/README.md");
    let text = fs::read_to_string(root.join(&readme)).map_err(|e| format!("{readme}: {e}"))?;
    files.push((
        readme.clone(),
        with_list(&text, &captures).ok_or(format!("{readme}: no place for the list"))?.into(),
    ));
    Ok(files)
}

fn with_list(readme: &str, captures: &[Capture]) -> Option<String> {
    let (before, rest) = readme.split_once(LIST.0)?;
    let (_, after) = rest.split_once(LIST.1)?;
    let head = "\n| capture | packets | what it shows |\n|---|---|---|\n";
    let row = |c: &Capture| {
        let (name, n) = (&c.name, c.packets.len());
        format!("| [{name}]({name}.pcapng) ([octets]({name}.txt)) | {n} | {} |\n", c.about)
    };
    let list: String = captures.iter().map(row).collect();
    Some(format!("{before}{}{head}{list}\n{}{after}", LIST.0, LIST.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for folder in FOLDERS.map(|f| root.path().join(f)) {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("one.txt"), "# About.\npacket | a packet\n45 00 | begins\n").unwrap();
            fs::write(folder.join("README.md"), format!("Before.\n{}{}\nBehind.\n", LIST.0, LIST.1)).unwrap();
        }
        root
    }

    #[test]
    fn captures_are_stale_until_they_are_written_and_when_their_source_changes() {
        let root = repository();
        assert_eq!(stale(root.path()).unwrap().len(), 4, "a capture and a list in each folder");
        write(root.path()).unwrap();
        assert_eq!(stale(root.path()).unwrap(), Vec::<String>::new());
        fs::write(root.path().join(FOLDERS[1]).join("one.txt"), "# About.\npacket | a packet\n45 01\n")
            .unwrap();
        let expected =
            format!("{}/one.pcapng: stale; run `cargo xtask golden` and commit the result", FOLDERS[1]);
        assert_eq!(stale(root.path()).unwrap(), [expected]);
    }

    #[test]
    fn a_capture_whose_source_is_gone_is_found() {
        let root = repository();
        write(root.path()).unwrap();
        fs::write(root.path().join(FOLDERS[1]).join("two.pcapng"), "").unwrap();
        assert_eq!(
            stale(root.path()).unwrap(),
            [format!("{}/two.pcapng: a capture without a source", FOLDERS[1])]
        );
    }

    #[test]
    fn the_list_replaces_itself_only() {
        let text = format!("Before.\n{}earlier\n{}\nBehind.\n", LIST.0, LIST.1);
        let c = Capture::parse("one", "# About.\npacket | a packet\n45 00\n").unwrap();
        let made = with_list(&text, &[c]).unwrap();
        assert!(made.starts_with("Before.\n") && made.ends_with("\nBehind.\n"));
        assert!(made.contains("| 1 | About. |") && !made.contains("earlier"));
    }
}
