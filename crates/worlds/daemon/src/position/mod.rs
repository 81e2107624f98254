//! Where the node is, and where other nodes reported to be.

pub(crate) mod fix_time;
pub(crate) mod places;
pub(crate) mod positions;
pub(crate) mod receiver;
pub(crate) mod whereabouts;
