//! Files that the node creates before it drops its privileges, and that its user writes later.

use std::io;
use std::path::Path;

use wayhop_linux::Error;

/// Makes the folder of a file that the node's user is to write, if there is none.
pub(crate) fn prepare_folder(file: &Path, user: &str) -> Result<(), Error> {
    let Some(folder) = file.parent().filter(|f| !f.as_os_str().is_empty() && !f.exists()) else {
        return Ok(());
    };
    let made = std::fs::create_dir_all(folder).and_then(|()| give_to(folder, user));
    made.map_err(Error::system(format!("create the folder {}", folder.display())))
}

/// Gives a file to the node's user, if this is root.
pub(crate) fn give_to(path: &Path, user: &str) -> io::Result<()> {
    if nix::unistd::geteuid().is_root()
        && let Some(user) = nix::unistd::User::from_name(user)?
    {
        std::os::unix::fs::chown(path, Some(user.uid.as_raw()), Some(user.gid.as_raw()))?;
    }
    Ok(())
}
