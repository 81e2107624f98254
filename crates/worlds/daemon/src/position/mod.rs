//! Where the node is, and where others said that they are.

pub(crate) mod fix_time;
pub(crate) mod places;
pub(crate) mod positions;
pub(crate) mod receiver;
pub(crate) mod whereabouts;
