//! The scenario's file: its content, and saving it.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::edit::MAX_TEXT;

/// What a file held when it was read. No digest: there was no file.
pub(crate) struct FileSnapshot {
    pub(crate) text: String,
    pub(crate) digest: Option<String>,
}

pub(crate) fn read(path: &Path) -> Result<FileSnapshot, String> {
    let cannot = |e: std::io::Error| format!("{}: cannot read: {e}", path.display());
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return Ok(FileSnapshot { text: String::new(), digest: None });
        }
        Err(e) => return Err(cannot(e)),
    };
    let mut octets = Vec::new();
    file.take(MAX_TEXT as u64 + 1).read_to_end(&mut octets).map_err(cannot)?;
    if octets.len() > MAX_TEXT {
        return Err(format!("{}: larger than {MAX_TEXT} bytes; use a text editor", path.display()));
    }
    let digest = Some(digest(&octets));
    let text =
        String::from_utf8(octets).map_err(|_| format!("{}: not UTF-8; save it as UTF-8", path.display()))?;
    Ok(FileSnapshot { text, digest })
}

/// Replaces the file that had `before` by the text, atomically. Returns the new digest.
pub(crate) fn save(path: &Path, text: &str, before: Option<&str>) -> Result<String, Conflict> {
    let cannot = |e: std::io::Error| Conflict::Fails(format!("{}: cannot save: {e}", path.display()));
    let old = read(path).map_err(Conflict::Fails)?;
    if old.digest.as_deref() != before {
        return Err(Conflict::Changed(format!(
            "{}: the file was changed by another program; reload it, or overwrite it",
            path.display()
        )));
    }
    let text = with_line_ends_of(text, &old.text);
    let now = digest(text.as_bytes());
    if old.digest.as_ref() == Some(&now) {
        // It may be a file that this user cannot write.
        return Ok(now);
    }
    let part = beside(path);
    let mut file = File::options().write(true).create_new(true).open(&part).map_err(cannot)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).and_then(|()| {
        // The file's permissions stay as they were.
        match fs::metadata(path) {
            Ok(old) => file.set_permissions(old.permissions()),
            Err(_) => Ok(()),
        }
    });
    written.and_then(|()| fs::rename(&part, path)).map_err(|e| {
        // The old file is intact; the rest of the new one is useless.
        let _ = fs::remove_file(&part);
        cannot(e)
    })?;
    Ok(now)
}

/// TOML is edited with `\n`; a file whose lines all end in `\r\n` keeps them.
fn with_line_ends_of<'a>(text: &'a str, old: &str) -> Cow<'a, str> {
    let lines = old.matches('\n').count();
    if lines == 0 || old.matches("\r\n").count() < lines {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n"))
}

/// Why a file was not saved.
#[derive(Debug, PartialEq)]
pub(crate) enum Conflict {
    /// It is not the file that was read.
    Changed(String),
    Fails(String),
}

fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}

fn digest(octets: &[u8]) -> String {
    wayhop_core::hex(&Sha256::digest(octets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_somebody_else_has_changed_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        let none = read(&path).unwrap();
        assert_eq!((none.text.as_str(), none.digest.clone()), ("", None));
        let first = save(&path, "seed = 1\n", None).unwrap();
        assert!(matches!(save(&path, "seed = 2\n", None), Err(Conflict::Changed(_))), "it is there now");
        let second = save(&path, "seed = 2\n", Some(&first)).unwrap();
        fs::write(&path, "seed = 3\n").unwrap();
        let refused = save(&path, "seed = 4\n", Some(&second)).unwrap_err();
        assert!(matches!(&refused, Conflict::Changed(m) if m.contains("a.toml")), "{refused:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "seed = 3\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn line_ends_stay_and_what_has_not_changed_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        fs::write(&path, "seed = 1\r\n# two\r\n").unwrap();
        let first = read(&path).unwrap().digest.unwrap();
        let second = save(&path, "seed = 2\n# two\n", Some(&first)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "seed = 2\r\n# two\r\n");
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(save(&path, "seed = 2\n# two\n", Some(&second)).unwrap(), second);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);
        // Of two kinds, none is the file's.
        fs::write(&path, "seed = 1\r\n# two\n").unwrap();
        let mixed = read(&path).unwrap().digest.unwrap();
        save(&path, "seed = 3\n", Some(&mixed)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "seed = 3\n");
    }

    #[cfg(unix)]
    #[test]
    fn who_may_read_the_file_stays_as_it_was() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        let first = save(&path, "seed = 1\n", None).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        save(&path, "seed = 2\n", Some(&first)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(read(&path).err().unwrap().contains("UTF-8"));
        File::create(&path).unwrap().set_len(MAX_TEXT as u64 + 1).unwrap();
        assert!(read(&path).err().unwrap().contains("text editor"));
        assert!(read(folder.path()).is_err());
    }
}
