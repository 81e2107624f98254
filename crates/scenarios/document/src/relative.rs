//! Paths in a file, which are relative to its folder.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The path from an absolute folder to an absolute file.
pub fn relative_path(folder: &Path, file: &Path) -> PathBuf {
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir.as_os_str());
    let down: Vec<&OsStr> = file.components().skip(shared).map(Component::as_os_str).collect();
    up.chain(down).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_between_two_places_goes_up_and_then_down() {
        for (folder, file, expected) in [
            ("/a/b", "/a/b/m.tcl", "m.tcl"),
            ("/a/b", "/a/c/d/m.tcl", "../c/d/m.tcl"),
            ("/", "/m.tcl", "m.tcl"),
            ("/a/b", "/m.tcl", "../../m.tcl"),
        ] {
            assert_eq!(relative_path(Path::new(folder), Path::new(file)), Path::new(expected));
        }
    }
}
