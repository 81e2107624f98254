//! Limits on what is read.

/// The most nodes of a scenario, and of a file.
pub const MAX_NODES: usize = 1_000_000;

/// The longest run, seconds: a year.
pub const MAX_DURATION_S: f64 = 366.0 * 86_400.0;

/// The most packets of all traffic traces of a scenario together: 16 bytes each.
pub const MAX_TRACE_PACKETS: usize = 10_000_000;
