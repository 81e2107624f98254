//! The node on this host, without I/O: what reaches it from the TUN, from the interfaces and from the kernel, and what is due.
//!
//! Start with [`host`]; [`world`] is what the node asks for.

mod first_number;
pub(crate) mod host;
pub(crate) mod outages;
pub(crate) mod power;
pub(crate) mod set_up;
pub(crate) mod timing;
pub(crate) mod transmitters;
pub(crate) mod tx_status;
pub(crate) mod world;
