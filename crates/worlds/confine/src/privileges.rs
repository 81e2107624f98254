//! Capabilities and users.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

pub use caps::Capability;
use caps::{CapSet, CapsHashSet};
use nix::sys::prctl;
use nix::unistd::{self, Gid, Uid};

/// From now on no executed file adds privileges.
pub fn no_new() -> io::Result<()> {
    Ok(prctl::set_no_new_privs()?)
}

/// Keeps these capabilities, as far as this thread has them.
pub fn keep(these: &[Capability]) -> io::Result<()> {
    let set: CapsHashSet = these.iter().copied().collect();
    caps::set(None, CapSet::Inheritable, &CapsHashSet::new()).map_err(io::Error::other)?;
    let have = caps::read(None, CapSet::Permitted).map_err(io::Error::other)?;
    let kept: CapsHashSet = set.intersection(&have).copied().collect();
    caps::set(None, CapSet::Effective, &kept).map_err(io::Error::other)?;
    caps::set(None, CapSet::Permitted, &kept).map_err(io::Error::other)
}

/// Makes sure that no program that this process becomes gets more than these.
pub fn bound(these: &[Capability]) -> io::Result<()> {
    // Dropping from the bounding set needs CAP_SETPCAP; without it the parent has already bounded
    // this process.
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP).map_err(io::Error::other)? {
        for cap in caps::all().iter().filter(|c| !these.contains(c)) {
            // The kernel may not know it.
            let _ = caps::drop(None, CapSet::Bounding, *cap);
        }
    }
    Ok(())
}

/// Becomes another user, in no group but this.
pub fn become_user(user: Uid, group: Gid) -> io::Result<()> {
    unistd::setgroups(&[])?;
    unistd::setresgid(group, group, group)?;
    Ok(unistd::setresuid(user, user, user)?)
}

/// Gives up all capabilities, and the ways to others. The user stays.
pub fn give_up_all() -> io::Result<()> {
    bound(&[])?;
    no_new()?;
    keep(&[])
}

/// Keeps these capabilities, and of root's other rights what makes files in this folder: the user becomes its owner.
pub fn become_owner(folder: &Path, kept: &[Capability]) -> io::Result<()> {
    let owner = std::fs::metadata(folder)?;
    bound(kept)?;
    if Uid::effective().is_root() && owner.uid() != 0 {
        prctl::set_keepcaps(!kept.is_empty())?;
        become_user(Uid::from_raw(owner.uid()), Gid::from_raw(owner.gid()))?;
    }
    no_new()?;
    keep(kept)
}
