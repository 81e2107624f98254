//! Which tables there are.

/// The names of the tables that a run directory may hold.
pub const TABLES: [&str; 14] = [
    "packets",
    "positions",
    "flows",
    "counters",
    "events",
    "sends",
    "tcp",
    "outcomes",
    "receptions",
    "bundles",
    "contacts",
    "gps",
    "identities",
    "nodes",
];
