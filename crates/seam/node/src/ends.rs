//! Where a packet comes from and goes to.

use wayhop_core::Addr;

/// What forwarding needs of an IP header.
pub(crate) struct Ends {
    pub(crate) source: Addr,
    pub(crate) destination: Addr,
}
