//! Where a mobile node is attached.

use std::net::Ipv4Addr;

use wayhop_core::LinkId;

/// Where a mobile node is attached.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Attachment {
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
    pub(crate) const fn link(self) -> Option<LinkId> {
        match self {
            Self::Nowhere => None,
            Self::Home { link } | Self::Foreign { link, .. } | Self::CoLocated { link, .. } => Some(link),
        }
    }
}
