//! Links, and where a mobile node is attached.

use std::net::Ipv4Addr;

use wayhop_core::Mac;

/// A link of the host: its place in the configuration.
pub type LinkId = u8;

/// Whether a link can be used.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkState {
    /// Whether it has a carrier.
    pub is_up: bool,
    /// The host's own address there, which is not the home address.
    pub addr: Option<Ipv4Addr>,
    /// The link address of its interface, if it has one.
    pub mac: Option<Mac>,
}

/// Where a mobile node is attached.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Attachment {
    /// Nowhere: its packets are lost.
    #[default]
    Nowhere,
    /// On its home link, as any other host.
    Home {
        /// The link.
        link: LinkId,
    },
    /// By a foreign agent.
    Foreign {
        /// The link.
        link: LinkId,
        /// The agent's address on the link.
        agent: Ipv4Addr,
        /// The end of the tunnel: an address of the agent.
        care_of: Ipv4Addr,
        /// From which address the mobile node sends to the agent.
        own: Ipv4Addr,
    },
    /// By an address of its own, where the tunnel ends.
    CoLocated {
        /// The link.
        link: LinkId,
        /// The address.
        care_of: Ipv4Addr,
    },
}

impl Attachment {
    /// The link in use.
    pub const fn link(self) -> Option<LinkId> {
        match self {
            Self::Nowhere => None,
            Self::Home { link } | Self::Foreign { link, .. } | Self::CoLocated { link, .. } => Some(link),
        }
    }
}
