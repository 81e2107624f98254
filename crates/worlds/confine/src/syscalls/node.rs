//! System calls that a node may use after its start.
//!
//! It may start processes, and execute files: the undo process is Wayhop itself, executed again,
//! with this filter.

use std::io;

use nix::libc;

use super::denied::deny;

/// The sockets of a node: those of programs, and packet sockets of an interface that comes back.
const FAMILIES: [i32; 5] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_PACKET];
/// A program that is in the kernel already is set at an interface that comes back (`linux/bpf.h`: `BPF_LINK_CREATE`).
const LINK_CREATE: u64 = 28;

/// Refuses this thread, and what it starts, what a router has no need of.
pub fn confine_node() -> io::Result<()> {
    deny(&FAMILIES, &[LINK_CREATE])
}

#[cfg(test)]
mod tests {
    use nix::libc::c_long;

    use super::*;
    use crate::syscalls::tests::are_refused;

    #[test]
    fn a_node_loads_no_programs_into_the_kernel_and_starts_processes() {
        // Those who ask are processes that it starts. Commands MAP_CREATE and PROG_LOAD of bpf(2).
        let refused = [
            (libc::SYS_bpf, 0),
            (libc::SYS_bpf, 5),
            (libc::SYS_ptrace, 0),
            (libc::SYS_mount, 0),
            (libc::SYS_unshare, c_long::from(libc::CLONE_NEWUSER)),
            (libc::SYS_io_uring_setup, 0),
            (libc::SYS_socket, c_long::from(libc::AF_VSOCK)),
        ];
        assert_eq!(are_refused(confine_node, &refused), [true; 7]);
        // The kernel itself finds that there is no program.
        let allowed = [(libc::SYS_bpf, 28), (libc::SYS_socket, c_long::from(libc::AF_INET))];
        let by_kernel = are_refused(|| Ok(()), &allowed);
        assert_eq!(are_refused(confine_node, &allowed), by_kernel);
    }
}
