//! Propagation, reception and medium access.
