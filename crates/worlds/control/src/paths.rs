//! Where the sockets of running nodes are.
//!
//! The socket of the run or daemon NAME is `/run/wayhop/NAME.sock` for root and for services, and
//! `$XDG_RUNTIME_DIR/wayhop/NAME.sock` for other users; without that variable
//! `wayhop-UID/NAME.sock` in the folder for temporary files. `$WAYHOP_RUNTIME_DIR`, if set,
//! replaces all of these.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// The folder of the machine's own services.
const SYSTEM: &str = "/run/wayhop";

/// The longest name of a run: the path of a socket may have 107 octets.
const LONGEST_NAME: usize = 48;

/// The socket of the run or daemon of this name. Makes no folder.
///
/// # Errors
/// If the name cannot be a file's.
pub fn socket(name: &str) -> Result<PathBuf, String> {
    check(name)?;
    Ok(folder().join(format!("{name}.sock")))
}

/// Any text as a name that [`socket`] takes.
pub fn name_from(text: &str) -> String {
    let name: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .take(LONGEST_NAME)
        .collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "run".to_owned() } else { name.to_owned() }
}

fn check(name: &str) -> Result<(), String> {
    if name_from(name) == name {
        return Ok(());
    }
    Err(format!(
        "{name:?} is not a valid run name: use up to {LONGEST_NAME} letters, digits, '-', '_' and '.', not \
         starting with '.'"
    ))
}

/// The sockets that there are, in the order of their names: those of this user, then the machine's. Whether anybody answers
/// is for [`crate::Client`] to find out.
pub fn sockets() -> Vec<PathBuf> {
    folders().iter().flat_map(|f| sockets_in(f)).collect()
}

/// The name that belongs to a socket.
pub fn name_of(socket: &Path) -> String {
    socket.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The socket of a running node by its name, wherever it is.
pub fn find(name: &str) -> Result<PathBuf, String> {
    let own = socket(name)?;
    let file = own.file_name().unwrap_or_default();
    let there = folders().into_iter().map(|f| f.join(file)).find(|p| p.exists());
    Ok(there.unwrap_or(own))
}

/// As [`sockets`], in one folder.
pub(crate) fn sockets_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|e| e.file_type().is_ok_and(|t| t.is_socket()))
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|x| x == "sock"))
        .take(10_000)
        .collect();
    found.sort();
    found
}

/// The folders where sockets are: this user's, then the machine's, unless a variable names the only one.
fn folders() -> Vec<PathBuf> {
    let mut folders = vec![folder()];
    if named_folder().is_none() && folders[0] != Path::new(SYSTEM) {
        folders.push(SYSTEM.into());
    }
    folders
}

fn named_folder() -> Option<PathBuf> {
    std::env::var_os("WAYHOP_RUNTIME_DIR").filter(|d| !d.is_empty()).map(PathBuf::from)
}

/// The folder of the sockets of this user's runs. Makes none.
pub fn folder() -> PathBuf {
    if let Some(dir) = named_folder() {
        return dir;
    }
    let uid = rustix::process::geteuid();
    if uid.is_root() {
        return SYSTEM.into();
    }
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(dir) if Path::new(&dir).is_absolute() => Path::new(&dir).join("wayhop"),
        _ => std::env::temp_dir().join(format!("wayhop-{}", uid.as_raw())),
    }
}

/// Makes a socket's folder if it is missing, with this mode; refuses one in which another user could change things.
///
/// # Errors
/// If it cannot be made, or another user could change things in it.
pub fn prepare_folder(folder: &Path, mode: u32) -> io::Result<()> {
    match DirBuilder::new().recursive(true).mode(0o755).create(folder.parent().unwrap_or(folder)) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    match DirBuilder::new().mode(mode).create(folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    let me = rustix::process::geteuid().as_raw();
    let is_ours = |m: &fs::Metadata| m.uid() == me || m.uid() == 0;
    let meta = fs::metadata(folder)?;
    // Where all may write, the sticky bit keeps each to its own files: /tmp.
    let is_open_to_all = meta.mode() & 0o1002 == 0o002;
    // A link to a folder of ours may be another user's.
    if is_open_to_all || !is_ours(&meta) || !is_ours(&fs::symlink_metadata(folder)?) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the folder belongs to another user, or others may write into it",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_file_in_its_folder() {
        for bad in ["", "..", ".hidden", "a/b", "a\0b", "n\u{e4}he", &"x".repeat(LONGEST_NAME + 1)] {
            assert!(socket(bad).is_err(), "{bad:?}");
            assert!(socket(&name_from(bad)).is_ok(), "{bad:?}");
        }
        let path = socket("chain-5").expect("a name");
        assert_eq!(path.file_name().expect("a file"), "chain-5.sock");
        assert_eq!(name_of(&path), "chain-5");
    }
}
