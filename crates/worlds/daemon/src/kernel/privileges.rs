//! Dropping privileges, before the first frame from the air is read.

use std::io;

use nix::sys::prctl;
use nix::unistd::{self, User};
use wayhop_confine::privileges::{self, Capability};
use wayhop_confine::syscalls;
use wayhop_linux::Error;

fn refused(e: impl Into<io::Error>) -> Error {
    Error::System(format!("cannot drop privileges: {}", e.into()))
}

/// What is kept: `CAP_NET_ADMIN` (routes) and `CAP_NET_RAW` (packet sockets of an interface that comes back).
const KEPT: [Capability; 2] = [Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW];

/// Becomes `user`, if this is root, and keeps what a node needs. From now on its system calls are filtered.
pub(crate) fn give_up(user: &str) -> Result<(), Error> {
    give_up_but(user, &KEPT)
}

/// The same, for who has to open a low port again at an interface that comes back.
pub(crate) fn give_up_but_ports(user: &str) -> Result<(), Error> {
    let [admin, raw] = KEPT;
    give_up_but(user, &[admin, raw, Capability::CAP_NET_BIND_SERVICE])
}

pub(crate) fn check_user(user: &str) -> Result<(), Error> {
    find_user(user).map(drop)
}

fn find_user(user: &str) -> Result<User, Error> {
    User::from_name(user)
        .map_err(refused)?
        .ok_or_else(|| Error::Config(format!("user: no such user: {user:?}")))
}

fn give_up_but(user: &str, kept: &[Capability]) -> Result<(), Error> {
    privileges::bound(kept).map_err(refused)?;
    if unistd::geteuid().is_root() {
        let found = find_user(user)?;
        prctl::set_keepcaps(true).map_err(refused)?;
        privileges::become_user(found.uid, found.gid).map_err(refused)?;
    }
    privileges::no_new().map_err(refused)?;
    privileges::keep(kept).map_err(refused)?;
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
