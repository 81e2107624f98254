//! The links of a host, for applications in its network layer.

use core::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::Mac;

/// A link: its place in [`super::ApplicationParameters::links`].
pub type LinkId = u8;

/// How packets leave by a link.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LinkReach {
    /// Each is for a neighbour, whatever the host's routes say.
    Neighbours,
    /// Where the host's routes by this interface lead.
    Routes,
    /// Where the mesh's routing protocol leads.
    Mesh,
}

/// What an application needs of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkNeeds {
    /// The interface's name: in a scenario that of a wire, on a real host the kernel's.
    pub interface: String,
    /// On a real host in a mesh of AODV or DSDV: the radio's interface, by which packets come that leave by `interface`.
    pub radio: Option<String>,
    /// How packets leave.
    pub reach: LinkReach,
    /// Types of ICMP messages that the application hears there.
    pub icmp_types: &'static [u8],
    /// Multicast groups that the host joins there.
    pub groups: &'static [Ipv4Addr],
    /// The UDP port at which the application listens there.
    pub port: u16,
    /// Whether the application hears ARP, where the link has it.
    pub arp: bool,
}

impl LinkNeeds {
    /// The names of its interfaces.
    pub fn interfaces(&self) -> impl Iterator<Item = &String> + Clone {
        core::iter::once(&self.interface).chain(&self.radio)
    }
}

/// Whether a link can be used.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkState {
    /// Whether it has a carrier.
    pub is_up: bool,
    /// The host's own address there, which is not its home address.
    pub addr: Option<Ipv4Addr>,
    /// The link address of its interface, if it has one.
    pub mac: Option<Mac>,
}
