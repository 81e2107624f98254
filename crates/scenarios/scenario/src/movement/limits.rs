//! How much movement a scenario may have.

/// The most trips of all nodes together that random waypoint may draw: 128 octets each.
pub(crate) const MAX_TRIPS: f64 = 1e7;
