//! What a library does wrong, and the end that it has.

use crate::ffi::page;
use crate::progress;

/// Ends the run because of something that the library did. Called where no C function is on the stack.
///
/// # Panics
/// In a process that nobody watches, which is a test.
pub(crate) fn end(what: &str) -> ! {
    if progress::is_watched() {
        progress::set_fault(what);
        // Nothing of the library may run any more: neither its destructors nor its callbacks.
        page::end_now();
    }
    panic!("{what}");
}
