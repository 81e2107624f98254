//! What a library may call at any time.

use core::ffi::c_char;
use std::io::Write as _;

use super::abi::{ABI_VERSION, RawHost};
use super::{page, text::text};
use crate::progress;

pub(crate) static HOST: RawHost =
    RawHost { size: size_of::<RawHost>() as u32, abi_version: ABI_VERSION, log, fail };

unsafe extern "C" fn log(line: *const c_char) {
    // SAFETY: `wayhop.h` demands a text.
    let line = unsafe { text(line) }.unwrap_or_default();
    say(&line);
}

unsafe extern "C" fn fail(message: *const c_char) {
    // SAFETY: `wayhop.h` demands a text.
    let message = unsafe { text(message) }.unwrap_or_default();
    fail_with(&message);
}

/// Ends the process from within a library's function.
pub(crate) fn fail_with(what: &str) -> ! {
    if progress::is_watched() {
        progress::set_fault(what);
        page::end_now();
    }
    say(what);
    std::process::abort();
}

/// Prints a line. Without standard error there is nobody to tell.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "wayhop: library: {line}");
}
