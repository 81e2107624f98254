//! What makes a host a router between the mesh and an uplink.

pub(crate) mod probe;
pub(crate) mod router;
