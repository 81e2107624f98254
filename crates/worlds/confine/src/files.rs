//! Which files a process may touch (Landlock, Linux 5.13).

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
};

/// From now on this thread, and those that it starts, open and change files below this folder only. Where the kernel cannot do that,
/// nothing changes.
pub fn only_below(folder: &Path) -> io::Result<()> {
    let all = AccessFs::from_all(ABI::V3);
    let confine = || {
        let folder = PathBeneath::new(PathFd::new(folder)?, all & !AccessFs::Execute);
        Ruleset::default().handle_access(all)?.create()?.add_rule(folder)?.restrict_self()?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
    };
    confine().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_outside_of_the_folder_is_out_of_reach() {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = tempfile::tempdir().expect("a folder");
        fs::write(outside.path().join("secret"), "x").expect("a file");
        let (inside, outside) = (folder.path().to_owned(), outside.path().to_owned());
        std::thread::spawn(move || {
            only_below(&inside).expect("Landlock");
            fs::write(inside.join("a"), "x").expect("a file");
            fs::rename(inside.join("a"), inside.join("b")).expect("another name");
            assert!(fs::read(outside.join("secret")).is_err());
            assert!(fs::write(outside.join("new"), "x").is_err());
        })
        .join()
        .expect("no panic");
    }
}
