//! What goes into an engine, and what comes out.

use std::net::Ipv4Addr;

use wayhop_core::{Mac, Time};
use wayhop_wire::arp;

pub use crate::clock::Clock;
use crate::event::Event;
use crate::memory::KnownMobile;
pub use crate::place::{Attachment, LinkId, LinkState};

/// What happens.
#[derive(Copy, Clone, Debug)]
pub enum Input<'a> {
    /// An ICMP message arrived.
    Icmp {
        /// Where.
        link: LinkId,
        /// From whom.
        src: Ipv4Addr,
        /// The message, from its type on.
        message: &'a [u8],
    },
    /// A datagram to the port of registration arrived.
    Udp {
        /// Where.
        link: LinkId,
        /// From whom.
        src: Ipv4Addr,
        /// From which port.
        src_port: u16,
        /// What it carries.
        payload: &'a [u8],
    },
    /// An IP packet of protocol 4 arrived, whole.
    Tunnelled {
        /// Where.
        link: LinkId,
        /// The packet, from its outer header on.
        packet: &'a [u8],
    },
    /// The host's stack gave an IP packet to the tunnel interface.
    Outbound(&'a [u8]),
    /// An ARP message arrived.
    Arp {
        /// Where.
        link: LinkId,
        /// The message.
        message: arp::Repr,
    },
    /// A link is so now.
    Link {
        /// Which one.
        link: LinkId,
        /// What it is.
        state: LinkState,
    },
    /// The moment has come that [`Engine::next`] named, or a later one.
    Timer,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send an IP packet, complete with its header.
    Send {
        /// By this link; without one, where the host's routes lead.
        link: Option<LinkId>,
        /// The packet.
        packet: Vec<u8>,
    },
    /// Give an IP packet to the host's stack, at the tunnel interface.
    Deliver(Vec<u8>),
    /// Send an ARP message.
    Arp {
        /// By this link.
        link: LinkId,
        /// To this station, or all.
        to: Mac,
        /// The message.
        message: arp::Repr,
    },
    /// Packets for this address go to the tunnel interface from now on.
    Intercept(Ipv4Addr),
    /// And now no more.
    Release(Ipv4Addr),
    /// The mobile node is attached elsewhere: its routes are others.
    Attach(Attachment),
    /// A home agent that is started anew has to know this. It comes before the answer that follows from it.
    Remember(KnownMobile),
    /// Something that people may want to know.
    Event(Event),
}

/// A state machine without I/O.
pub trait Engine {
    /// Something happens; what is to be done goes to the end of `out`.
    fn input(&mut self, now: Clock, input: Input<'_>, out: &mut Vec<Output>);
    /// When it wants to be called with [`Input::Timer`].
    fn next(&self) -> Option<Time>;
}
