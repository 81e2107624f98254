//! How a frame was received, as DSR for IPv4 (RFC 4728) needs it.

use std::net::Ipv4Addr;

use wayhop_core::RxMeta;
use wayhop_wire::dsr::FlowState;

/// A frame from a neighbour with an IPv4 address: DSR knows no other.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Reception {
    pub(crate) from: Ipv4Addr,
    pub(crate) broadcast: bool,
    /// Received power, dBm; NaN where the interface does not measure it.
    pub(crate) signal_dbm: f32,
    /// Whether the frame was for another node.
    pub(crate) overheard: bool,
    /// The packet's Flow State header, once it is off; its Hop Count counts this node (section 8.6.3).
    pub(crate) flow: Option<FlowState>,
}

impl Reception {
    /// `None` for a neighbour with an IPv6 address.
    #[inline]
    pub(crate) fn of(rx: &RxMeta, overheard: bool) -> Option<Self> {
        let (broadcast, signal_dbm) = (rx.broadcast, rx.signal_dbm);
        rx.from.v4().map(|from| Self { from, broadcast, signal_dbm, overheard, flow: None })
    }
}
