//! Times in exported files.

use wayhop_core::Time;

/// A time as ns-2 reads it, exact to the nanosecond.
pub(super) fn seconds(t: Time) -> String {
    let ns = t.as_nanos();
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}
