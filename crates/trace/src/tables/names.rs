//! Which tables there are.

/// The names of the tables that a run directory may hold.
pub const TABLES: [&str; 15] = [
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
    "sizes",
    "identities",
    "nodes",
];
