//! Numbers of transmissions, for status reports.

/// Marks the numbers of transmissions of which the Maintenance Buffer has, or had, a copy.
pub(crate) const COPIED: u64 = 1 << 63;
