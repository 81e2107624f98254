//! What an interface of a node is.

use std::net::Ipv4Addr;

use wayhop_core::{Mac, Span};

/// How link addresses of neighbours are found.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// They follow from the network address ([`Mac::from_addr`]): nothing is asked.
    Derived,
    /// By ARP as ns-2 and BSD do it: one packet waits for each address, a newer one pushes it out, and the fourth packet
    /// without an answer gives up.
    Bsd,
    /// By ARP as hosts do it (RFC 1122, section 2.3.2): some packets wait for each address, which is asked for again
    /// at growing intervals, then they are given up.
    Host,
}

/// One interface. Nodes with the same kind of interface share this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IfaceConfig {
    /// The longest IP packet that it carries, octets.
    pub mtu: usize,
    /// Packets that each class of its queue holds.
    pub queue_packets: usize,
    /// Whether its queue has classes; if not, all packets are in one.
    pub queue_classes: bool,
    /// Whether the link layer acknowledges unicasts.
    pub acknowledges: bool,
    /// How link addresses are found.
    pub resolution: Resolution,
    /// How long a packet takes from the network layer to the queue; `None` where it gets there at once, within the same
    /// call.
    pub link_delay: Option<Span>,
}

impl Default for IfaceConfig {
    fn default() -> Self {
        Self {
            mtu: 1_500,
            queue_packets: 64,
            queue_classes: true,
            acknowledges: false,
            resolution: Resolution::Derived,
            link_delay: None,
        }
    }
}

/// The link address of a node's interface where nobody gives another: [`Mac::from_addr`] for the first interface, and for
/// the others the same with the interface's number in the second octet.
pub(crate) fn derived_mac(addr: Ipv4Addr, iface: u8) -> Mac {
    let Mac(mut octets) = Mac::from_addr(addr);
    octets[1] = iface;
    Mac(octets)
}
