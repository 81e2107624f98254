//! How large a scenario may be, besides what [`wayhop_simulator_files`] says.

/// The most flows of a scenario.
pub(crate) const MAX_FLOWS: usize = 1_000_000;

/// The most trips of all nodes together that random waypoint may draw: 128 octets each.
pub(crate) const MAX_TRIPS: f64 = 1e7;

/// The most outages of all nodes together.
pub(crate) const MAX_OUTAGES: usize = 1_000_000;

/// The most steps of all tables of path losses together.
pub(crate) const MAX_LOSS_STEPS: usize = 1_000_000;

/// The most radios of a scenario: as many channels as there are.
pub(crate) const MAX_RADIOS: usize = 64;

/// The most wires of a scenario.
pub(crate) const MAX_WIRES: usize = 10_000;

/// The most interfaces of a node.
pub(crate) const MAX_INTERFACES: usize = 128;
