//! Being on time: the loop's thread goes before the programs that it serves, where the system allows it.

use crate::syscalls::schedule;

/// Puts this thread before all programs of usual priority, with the lowest of the real-time priorities. Without the right
/// to do that (`CAP_SYS_NICE`) it stays among them, and the run's lateness tells what that costs.
pub fn raise() {
    schedule(libc::SCHED_FIFO, 1);
}

/// Puts this thread among all programs; new threads and programs are where their parent was.
pub fn lower() {
    schedule(libc::SCHED_OTHER, 0);
}
