//! Which tables there are.

/// The names of the tables that a run directory may hold.
pub const TABLES: [&str; 8] =
    ["packets", "positions", "flows", "counters", "events", "sends", "tcp", "nodes"];
