//! What differs between processors.

use nix::libc::{self, c_long};

/// Denied, and there on some processors only.
#[cfg(target_arch = "x86_64")]
pub(super) const OLD: &[c_long] =
    &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_uselib, libc::SYS_nfsservctl];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const OLD: &[c_long] = &[];

/// The same call by its other numbers: x86-64 kernels may also have the ABI called x32, whose calls are marked by a bit.
#[cfg(target_arch = "x86_64")]
pub(super) fn other_numbers(call: c_long) -> impl Iterator<Item = c_long> {
    std::iter::once(call | X32)
}
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn other_numbers(_: c_long) -> impl Iterator<Item = c_long> {
    std::iter::empty()
}

/// Calls that x32 has for itself, among them ptrace and execve.
#[cfg(target_arch = "x86_64")]
pub(super) fn of_others() -> impl Iterator<Item = c_long> {
    (512..=547).map(|call| call | X32)
}
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn of_others() -> impl Iterator<Item = c_long> {
    std::iter::empty()
}

#[cfg(target_arch = "x86_64")]
const X32: c_long = 0x4000_0000;
