//! Giving up rights, for daemons and for untrusted programs. This is permanent, for this process
//! and its children.
//!
//! * [`privileges`]: capabilities, users, what an executed file may add.
//! * [`files`]: one folder to write to.
//! * [`syscalls`]: filters of system calls (seccomp).
//! * [`view`]: a private file system in which the machine's is read-only.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

pub mod files;
pub mod privileges;
pub mod syscalls;
pub mod view;
