//! What lies in a folder and in the folders in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::drive;
use crate::sweeps;

/// How deep folders are looked into: `FOLDER/paper/sweep-speed/runs/dsr-seed-1`.
const DEEPEST: usize = 5;
const MOST_LOOKED_AT: usize = 50_000;

pub(crate) fn is_run(path: &Path) -> bool {
    path.join("manifest.json").is_file()
}

/// Whether `wayhop matrix drive` writes, or has written, there.
pub(crate) fn is_drive(path: &Path) -> bool {
    path.join(drive::LOG).is_file()
}

/// All folders below one but those within runs, by their paths in it, in order. Links are followed only to what is listed: no circles.
pub(crate) fn below(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut left = MOST_LOOKED_AT;
    look(folder, "", 1, &mut left, &mut found);
    found.sort_unstable();
    found
}

fn look(folder: &Path, name: &str, depth: usize, left: &mut usize, found: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        let Ok(own) = entry.file_name().into_string() else { continue };
        if kind.is_file() {
            continue;
        }
        let name = if name.is_empty() { own } else { format!("{name}/{own}") };
        let is_listed = is_run(&path) || is_drive(&path) || sweeps::is_sweep(&path);
        if kind.is_dir() && !is_run(&path) && depth < DEEPEST {
            look(&path, &name, depth + 1, left, found);
        }
        if is_listed {
            found.push((name, path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_in_folders_and_nothing_within_runs_nor_by_circles() {
        let dir = tempfile::tempdir().unwrap();
        let run = |name: &str| {
            fs::create_dir_all(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join("manifest.json"), "{}").unwrap();
        };
        for name in ["b", "paper/a", "paper/sweep/runs/x", "b/nodes/0", "1/2/3/4/5/6"] {
            run(name);
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(dir.path(), dir.path().join("paper/circle")).unwrap();
            std::os::unix::fs::symlink(dir.path().join("b"), dir.path().join("linked")).unwrap();
        }
        let names: Vec<String> = below(dir.path()).into_iter().map(|(name, _)| name).collect();
        let linked: &[&str] = if cfg!(unix) { &["linked"] } else { &[] };
        assert_eq!(names, [&["b"], linked, &["paper/a", "paper/sweep/runs/x"]].concat());
    }
}
