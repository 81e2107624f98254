//! The interface between an application and its host's network layer, below UDP: Mobile IP is such
//! an application.

use core::net::{Ipv4Addr, SocketAddrV4};
use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::link::{LinkId, LinkState};
use crate::{Mac, Prefix, bytes};

/// What the network layer tells an application. Of links it tells only what [`super::LinkNeeds`] names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkInput<'a> {
    /// A link is so now.
    Link {
        /// Which one.
        link: LinkId,
        /// How it is.
        state: LinkState,
    },
    /// The time of day now, nanoseconds since 1970. It comes after the start, and when the clock was set.
    TimeOfDay(u64),
    /// What [`NetworkEffect::Remember`] kept in an earlier life. It comes after the start.
    Recall(Value),
    /// An ICMP message came.
    Icmp {
        /// By this link.
        link: LinkId,
        /// From whom.
        src: Ipv4Addr,
        /// The message, from its type on.
        #[serde(with = "bytes::cow")]
        message: Cow<'a, [u8]>,
    },
    /// A datagram came to the link's port.
    Datagram {
        /// By this link.
        link: LinkId,
        /// From there.
        from: SocketAddrV4,
        /// Its data.
        #[serde(with = "bytes::cow")]
        data: Cow<'a, [u8]>,
    },
    /// An IP packet of protocol 4 came for the host, whole.
    Tunnelled {
        /// By this link.
        link: LinkId,
        /// The packet, from its outer header on.
        #[serde(with = "bytes::cow")]
        packet: Cow<'a, [u8]>,
    },
    /// The host's stack gave an IP packet to the tunnel interface.
    Outbound(#[serde(with = "bytes::cow")] Cow<'a, [u8]>),
    /// An ARP message came.
    Arp {
        /// By this link.
        link: LinkId,
        /// The message.
        #[serde(with = "bytes::cow")]
        message: Cow<'a, [u8]>,
    },
}

/// What an application asks the network layer for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkEffect {
    /// Send an IP packet, complete with its header.
    Send {
        /// By this link; without one, where the host's routes lead.
        link: Option<LinkId>,
        /// The packet.
        #[serde(serialize_with = "bytes::hexadecimal")]
        packet: Vec<u8>,
    },
    /// Send an ARP message.
    Arp {
        /// By this link.
        link: LinkId,
        /// To this station, or all.
        to: Mac,
        /// The message.
        #[serde(serialize_with = "bytes::hexadecimal")]
        message: Vec<u8>,
    },
    /// Give an IP packet to the host's stack, at the tunnel interface.
    Deliver(#[serde(serialize_with = "bytes::hexadecimal")] Vec<u8>),
    /// Packets for this address go to the tunnel interface from now on.
    Intercept(Ipv4Addr),
    /// And now no more.
    Release(Ipv4Addr),
    /// The host's home address is elsewhere.
    Attach(HomeRoute),
    /// Keep this over a restart, in place of what was kept about the same address. It comes before the answer that follows from it.
    Remember(Ipv4Addr, Value),
    /// A line for people: a warning, or information. A simulated host has no log.
    Log {
        /// Whether something is wrong.
        is_warning: bool,
        /// The line.
        text: String,
    },
}

/// Where a host's home address is, and by which way its packets leave.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HomeRoute {
    /// The address.
    pub addr: Ipv4Addr,
    /// The home network.
    pub network: Prefix,
    /// The router there.
    pub router: Ipv4Addr,
    /// The link that has the address, if it is one where neighbours may ask for it.
    pub link: Option<LinkId>,
    /// Whether that link is the home network. Elsewhere packets from the address go to the tunnel interface.
    pub is_home: bool,
}
