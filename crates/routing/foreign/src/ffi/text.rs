//! Texts of C.

use core::ffi::{CStr, c_char};
use std::borrow::Cow;

/// Longer texts are taken for ones without an end, bytes.
const LONGEST: usize = 64 << 10;

/// The text at `p`; `None` for a null pointer. What is no UTF-8 is replaced.
///
/// # Safety
/// `p` is null, or points to bytes with a zero among them that do not change while the result is used.
pub(crate) unsafe fn text<'a>(p: *const c_char) -> Option<Cow<'a, str>> {
    if p.is_null() {
        return None;
    }
    // SAFETY: each byte up to the zero may be read, as the caller promises.
    let length = (0..LONGEST).find(|&i| unsafe { *p.add(i) } == 0).unwrap_or(LONGEST);
    // SAFETY: these bytes were just read.
    let bytes = unsafe { core::slice::from_raw_parts(p.cast::<u8>(), length) };
    Some(String::from_utf8_lossy(bytes))
}

/// The text that a library wrote into a buffer.
pub(crate) fn written(buffer: &[u8]) -> String {
    CStr::from_bytes_until_nul(buffer)
        .map_or_else(|_| String::from_utf8_lossy(buffer), CStr::to_string_lossy)
        .trim()
        .to_owned()
}

/// The items of an array; none for a null pointer.
///
/// # Safety
/// `p` is null, or points to `count` items that do not change while the result is used.
pub(crate) unsafe fn items<'a, T>(p: *const T, count: usize) -> &'a [T] {
    if p.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { core::slice::from_raw_parts(p, count) }
}
