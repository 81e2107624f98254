//! The node on this host, without I/O: inputs from the TUN, the interfaces and the kernel, and timers.
//!
//! Start with [`host`]; [`world`] has the node's effects.

pub(crate) mod clock;
mod first_number;
pub(crate) mod host;
pub(crate) mod outages;
pub(crate) mod power;
pub(crate) mod set_up;
#[cfg(test)]
mod test_hosts;
pub(crate) mod timing;
pub(crate) mod transmitters;
pub(crate) mod tx_status;
pub(crate) mod world;
