//! The node's control socket.

pub(crate) mod desk;
pub(crate) mod links;
pub(crate) mod socket;
