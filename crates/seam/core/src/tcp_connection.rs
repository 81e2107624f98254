//! The state of one of the host's TCP connections, from its kernel.

use crate::{Addr, Span};

/// Linux's view of one of its TCP connections (`struct tcp_info`, linux/tcp.h): one row of the
/// trace's table `connections`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TcpConnection {
    /// Both ends.
    pub ends: TcpEnds,
    /// Its state (RFC 9293, section 3.3.2), in `lower_snake_case`.
    pub state: &'static str,
    /// Octets of payload sent, those sent again included.
    pub sent: u64,
    /// Of these, octets that were sent again.
    pub sent_again: u64,
    /// Octets of payload that the other end has acknowledged.
    pub acked: u64,
    /// Octets of payload that arrived in order.
    pub received: u64,
    /// Segments sent again.
    pub retransmissions: u32,
    /// Segments under way: sent, and neither acknowledged nor taken for lost.
    pub in_flight: u32,
    /// The congestion window, in segments.
    pub window: u32,
    /// The slow-start threshold, in segments; `None` before the first loss.
    pub threshold: Option<u32>,
    /// Octets in a full segment.
    pub segment: u32,
    /// The smoothed round-trip time, once it was measured.
    pub srtt: Option<Span>,
    /// The mean deviation of the round-trip time, with `srtt`.
    pub deviation: Option<Span>,
    /// The retransmission timeout, backed off.
    pub rto: Span,
}

/// The two ends of a TCP connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TcpEnds {
    /// This host's address.
    pub local: Addr,
    /// This host's port.
    pub local_port: u16,
    /// The other end's address.
    pub remote: Addr,
    /// The other end's port.
    pub remote_port: u16,
}
