//! How a frame was received, as DSR for IPv4 (RFC 4728) needs it.

use std::net::Ipv4Addr;

use wayhop_core::RxMeta;

/// A frame from a neighbour with an IPv4 address: DSR knows no other.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Reception {
    pub(crate) from: Ipv4Addr,
    pub(crate) broadcast: bool,
    /// Received power, dBm; NaN where the interface does not measure it.
    pub(crate) signal_dbm: f32,
}

impl Reception {
    /// `None` for a neighbour with an IPv6 address.
    #[inline]
    pub(crate) const fn of(rx: &RxMeta) -> Option<Self> {
        match rx.from.v4() {
            Some(from) => Some(Self { from, broadcast: rx.broadcast, signal_dbm: rx.signal_dbm }),
            None => None,
        }
    }
}
