//! Which tables there are.

/// The names of the tables that a run directory may hold.
pub const TABLES: [&str; 16] = [
    "packets",
    "positions",
    "flows",
    "counters",
    "events",
    "sends",
    "tcp",
    "connections",
    "outcomes",
    "receptions",
    "bundles",
    "contacts",
    "gps",
    "sizes",
    "identities",
    "nodes",
];
