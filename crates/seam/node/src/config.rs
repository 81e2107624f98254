//! The configuration of a node's interface.

use wayhop_core::{Limits, Span};

/// How link addresses of neighbours are found.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// They follow from the network address ([`wayhop_core::Mac::from_addr`]): nothing is asked.
    Derived,
    /// By ARP as ns-2 and BSD do it: one packet waits for each address, a newer one pushes it out, and the fourth packet
    /// without an answer gives up.
    Bsd,
    /// By ARP as hosts do it (RFC 1122, section 2.3.2): some packets wait for each address, which is asked for three
    /// times, a second apart; then they are given up.
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
    /// How much later than others the node answers the first ARP request of a neighbour that it does not know. Needs a
    /// `link_delay`.
    pub first_answer: Span,
    /// Of several interfaces on which a neighbour is heard, the one with the lowest metric carries what is for it.
    pub metric: u8,
    /// The number of the medium it is at: nodes at one medium have the same. It goes into link addresses that follow from
    /// the network address.
    pub segment: u16,
    /// Whether it leads out of the mesh: no engine speaks or listens there.
    pub leads_out: bool,
    /// How much routing traffic and ARP the node takes from its neighbours here.
    pub limits: Limits,
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
            first_answer: Span::ZERO,
            metric: 0,
            segment: 0,
            leads_out: false,
            limits: Limits::NONE,
        }
    }
}
