//! Giving up rights, for daemons and for programs that nobody vouches for. What is given up does not come back, for this process or for
//! what it starts.
//!
//! * [`privileges`]: capabilities, users, what an executed file may add.
//! * [`files`]: one folder to write to.
//! * [`syscalls`]: filters of system calls (seccomp).
//! * [`view`]: a file system of one's own, in which the machine's is to be read only.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

pub mod files;
pub mod privileges;
pub mod syscalls;
pub mod view;
