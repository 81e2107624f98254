//! Which tables there are.

/// The names of the tables that a run directory may hold.
pub const TABLES: [&str; 12] = [
    "packets",
    "positions",
    "flows",
    "counters",
    "events",
    "sends",
    "tcp",
    "outcomes",
    "receptions",
    "gps",
    "identities",
    "nodes",
];
