//! Giving up what is not needed, before the first frame from the air is read.

use std::io;

use caps::{CapSet, Capability, CapsHashSet};
use nix::sys::prctl;
use nix::unistd::{self, User};
use wayhop_linux::Error;

fn only(these: &[Capability]) -> Result<(), caps::errors::CapsError> {
    let set: CapsHashSet = these.iter().copied().collect();
    caps::set(None, CapSet::Inheritable, &CapsHashSet::new())?;
    let have = caps::read(None, CapSet::Permitted)?;
    let kept: CapsHashSet = set.intersection(&have).copied().collect();
    caps::set(None, CapSet::Effective, &kept)?;
    caps::set(None, CapSet::Permitted, &kept)
}

/// Makes sure that no program that this process becomes gets more.
fn bound(these: &[Capability]) -> Result<(), caps::errors::CapsError> {
    // Needs a capability of its own; one who has not got it was bounded by whoever started it.
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP)? {
        for cap in caps::all().iter().filter(|c| !these.contains(c)) {
            let _ = caps::drop(None, CapSet::Bounding, *cap);
        }
    }
    Ok(())
}

fn refused(e: impl std::fmt::Display) -> Error {
    Error::System(format!("cannot give up privileges: {e}"))
}

/// Becomes `user`, if this is root, and keeps `CAP_NET_ADMIN` (routes) and `CAP_NET_RAW` (packet sockets of an interface
/// that comes back).
pub(crate) fn give_up(user: &str) -> Result<(), Error> {
    const KEPT: [Capability; 2] = [Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW];
    bound(&KEPT).map_err(refused)?;
    if unistd::geteuid().is_root() {
        let found = User::from_name(user).map_err(|e| refused(io::Error::from(e)))?;
        let Some(found) = found else {
            return Err(Error::Config(format!("user: there is no user {user:?}; name one that exists")));
        };
        prctl::set_keepcaps(true).map_err(refused)?;
        unistd::setgroups(&[]).map_err(refused)?;
        unistd::setresgid(found.gid, found.gid, found.gid).map_err(refused)?;
        unistd::setresuid(found.uid, found.uid, found.uid).map_err(refused)?;
    }
    prctl::set_no_new_privs().map_err(refused)?;
    only(&KEPT).map_err(refused)
}

/// Keeps what the process that sets the host back needs.
pub(crate) fn keep_network_admin() -> Result<(), Error> {
    prctl::set_no_new_privs().map_err(refused)?;
    bound(&[Capability::CAP_NET_ADMIN]).map_err(refused)?;
    only(&[Capability::CAP_NET_ADMIN]).map_err(refused)
}
