//! Giving up what is not needed, before the first frame from the air is read.

use std::io;

use nix::sys::prctl;
use nix::unistd::{self, User};
use wayhop_confine::privileges::{self, Capability};
use wayhop_confine::syscalls;
use wayhop_linux::Error;

fn refused(e: impl Into<io::Error>) -> Error {
    Error::System(format!("cannot give up privileges: {}", e.into()))
}

/// Becomes `user`, if this is root, and keeps `CAP_NET_ADMIN` (routes) and `CAP_NET_RAW` (packet sockets of an interface
/// that comes back). From now on its system calls are filtered.
pub(crate) fn give_up(user: &str) -> Result<(), Error> {
    const KEPT: [Capability; 2] = [Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW];
    privileges::bound(&KEPT).map_err(refused)?;
    if unistd::geteuid().is_root() {
        let found = User::from_name(user).map_err(refused)?;
        let Some(found) = found else {
            return Err(Error::Config(format!("user: there is no user {user:?}; name one that exists")));
        };
        prctl::set_keepcaps(true).map_err(refused)?;
        privileges::become_user(found.uid, found.gid).map_err(refused)?;
    }
    privileges::no_new().map_err(refused)?;
    privileges::keep(&KEPT).map_err(refused)?;
    filter_calls()
}

/// Keeps what the process that sets the host back needs.
pub(crate) fn keep_network_admin() -> Result<(), Error> {
    privileges::no_new().map_err(refused)?;
    privileges::bound(&[Capability::CAP_NET_ADMIN]).map_err(refused)?;
    privileges::keep(&[Capability::CAP_NET_ADMIN]).map_err(refused)?;
    filter_calls()
}

fn filter_calls() -> Result<(), Error> {
    syscalls::confine_node().map_err(|e| {
        Error::System(format!("cannot filter system calls: {e}; the kernel needs CONFIG_SECCOMP_FILTER"))
    })
}
