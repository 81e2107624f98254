//! System calls that an untrusted program in a mesh may use.

use std::io;

use nix::libc;

use super::denied::deny;

/// The sockets of a mesh's programs.
const FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Refuses this thread, and what it starts, what a program in a mesh has no need of.
pub fn confine_program() -> io::Result<()> {
    deny(&FAMILIES, &[])
}

#[cfg(test)]
mod tests {
    use nix::libc::c_long;

    use super::*;
    use crate::syscalls::tests::are_refused;

    #[test]
    fn a_program_has_sockets_of_the_network_layer_and_no_bpf() {
        let socket = |family: i32| (libc::SYS_socket, c_long::from(family));
        let allowed = FAMILIES.map(socket);
        assert_eq!(are_refused(confine_program, &allowed), [false; 4]);
        // Commands MAP_CREATE and LINK_CREATE of bpf(2). PTRACE_TRACEME, 0, is anybody's without a filter.
        let refused = [
            socket(libc::AF_PACKET),
            socket(libc::AF_VSOCK),
            (libc::SYS_bpf, 0),
            (libc::SYS_bpf, 28),
            (libc::SYS_ptrace, 0),
            (libc::SYS_io_uring_setup, 0),
        ];
        assert_eq!(are_refused(confine_program, &refused), [true; 6]);
        let new_user = c_long::from(libc::CLONE_NEWUSER);
        assert_eq!(are_refused(confine_program, &[(libc::SYS_clone, new_user)]), [true]);
    }
}
