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
    Home { link: LinkId },
    /// By a foreign agent at this address on the link. The tunnel ends at the care-of address, which is the agent's too; the mobile
    /// node sends to the agent from its `own` address.
    Foreign { link: LinkId, agent: Ipv4Addr, care_of: Ipv4Addr, own: Ipv4Addr },
    /// By an address of its own, where the tunnel ends.
    CoLocated { link: LinkId, care_of: Ipv4Addr },
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
