//! The kernel's interfaces, addresses and routes.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage, RouteProtocol};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use wayhop_core::Mac;

use crate::netlink::{Netlink, ROUTE_PROTOCOL};
use crate::routing_table::Table;

/// An interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkInfo {
    /// The kernel's number of it.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its link address, if it has one of six octets.
    pub mac: Option<Mac>,
    /// The longest packet on it, octets.
    pub mtu: usize,
    /// Whether somebody set it up.
    pub is_set_up: bool,
    /// Whether it is set up, and has a carrier.
    pub is_up: bool,
    /// Whether the kernel asks and answers by ARP there.
    pub has_arp: bool,
    /// The bridge, or other interface, that it is a part of: the kernel's number of it.
    pub part_of: Option<u32>,
}

impl LinkInfo {
    /// What a message says; nothing if it does not say all, as those about a port of a bridge and those of wireless drivers.
    pub(crate) fn of(m: LinkMessage) -> Option<Self> {
        let flags = m.header.flags;
        let mut link = Self {
            index: m.header.index,
            is_set_up: flags.contains(LinkFlags::Up),
            is_up: flags.contains(LinkFlags::Up | LinkFlags::LowerUp),
            has_arp: !flags.contains(LinkFlags::Noarp),
            ..Self::default()
        };
        for a in m.attributes {
            match a {
                LinkAttribute::IfName(name) => link.name = name,
                LinkAttribute::Address(octets) => link.mac = octets.try_into().ok().map(Mac),
                LinkAttribute::Mtu(mtu) => link.mtu = mtu as usize,
                LinkAttribute::Controller(index) => link.part_of = Some(index),
                _ => {}
            }
        }
        let is_whole =
            m.header.interface_family == AddressFamily::Unspec && !link.name.is_empty() && link.mtu > 0;
        is_whole.then_some(link)
    }
}

/// An address of an interface.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The kernel's number of the interface.
    pub ifindex: u32,
    /// The address.
    pub addr: IpAddr,
    /// The length of its network's prefix.
    pub prefix_len: u8,
}

/// A route by one interface.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelRoute {
    /// The table that has it: the main one, or one of this program.
    pub table: Table,
    /// The first address of the destination.
    pub to: IpAddr,
    /// How many of its bits count.
    pub prefix_len: u8,
    /// By which neighbour, if by one.
    pub via: Option<IpAddr>,
    /// The kernel's number of the interface.
    pub ifindex: u32,
    /// Whether this program made it, or an earlier life of it.
    pub is_ours: bool,
}

impl KernelRoute {
    pub(crate) fn of(m: &RouteMessage) -> Option<Self> {
        let (mut to, mut via, mut ifindex) = (None, None, None);
        for a in &m.attributes {
            match a {
                RouteAttribute::Destination(a) => to = ip(a),
                RouteAttribute::Gateway(a) => via = ip(a),
                RouteAttribute::Oif(i) => ifindex = Some(*i),
                _ => {}
            }
        }
        // One to everything names no destination.
        let to = to.or(match m.header.address_family {
            _ if m.header.destination_prefix_length > 0 => None,
            AddressFamily::Inet => Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            AddressFamily::Inet6 => Some(IpAddr::V6(Ipv6Addr::UNSPECIFIED)),
            _ => None,
        });
        Some(Self {
            table: Table::holding(m)?,
            to: to?,
            prefix_len: m.header.destination_prefix_length,
            via,
            ifindex: ifindex?,
            is_ours: m.header.protocol == RouteProtocol::from(ROUTE_PROTOCOL),
        })
    }
}

fn ip(a: &RouteAddress) -> Option<IpAddr> {
    match a {
        RouteAddress::Inet(a) => Some(IpAddr::V4(*a)),
        RouteAddress::Inet6(a) => Some(IpAddr::V6(*a)),
        _ => None,
    }
}

impl Netlink {
    /// All interfaces.
    pub fn links(&mut self) -> io::Result<Vec<LinkInfo>> {
        let mut all = Vec::new();
        self.dump(RouteNetlinkMessage::GetLink(LinkMessage::default()), |m| {
            if let RouteNetlinkMessage::NewLink(l) = m {
                all.extend(LinkInfo::of(l));
            }
        })?;
        Ok(all)
    }

    /// All addresses, of IPv4 and IPv6.
    pub fn addresses(&mut self) -> io::Result<Vec<Address>> {
        let mut all = Vec::new();
        self.dump(RouteNetlinkMessage::GetAddress(AddressMessage::default()), |m| {
            if let RouteNetlinkMessage::NewAddress(a) = m {
                // Where both are told, the other one is the far end's.
                let local = a.attributes.iter().find_map(|n| match n {
                    AddressAttribute::Local(addr) => Some(*addr),
                    _ => None,
                });
                let addr = local.or(a.attributes.iter().find_map(|n| match n {
                    AddressAttribute::Address(addr) => Some(*addr),
                    _ => None,
                }));
                let address =
                    |addr| Address { ifindex: a.header.index, addr, prefix_len: a.header.prefix_len };
                all.extend(addr.map(address));
            }
        })?;
        Ok(all)
    }

    /// The routes of the main table and of those of this program that are wanted.
    pub fn routes(&mut self, wanted: impl Fn(&KernelRoute) -> bool) -> io::Result<Vec<KernelRoute>> {
        let mut all = Vec::new();
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let mut any = RouteMessage::default();
            any.header.address_family = family;
            self.dump(RouteNetlinkMessage::GetRoute(any), |m| {
                if let RouteNetlinkMessage::NewRoute(m) = m {
                    all.extend(KernelRoute::of(&m).filter(&wanted));
                }
            })?;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_does_not_describe_an_interface_wholly_is_no_description() {
        let whole = vec![
            LinkAttribute::IfName("wlan0".to_owned()),
            LinkAttribute::Address(vec![2, 0, 0, 0, 0, 1]),
            LinkAttribute::Mtu(1500),
        ];
        let mut m = LinkMessage::default();
        m.header.index = 7;
        m.header.flags = LinkFlags::Up;
        m.attributes.clone_from(&whole);
        let link = LinkInfo::of(m.clone()).unwrap();
        assert_eq!((link.index, link.name.as_str(), link.mtu), (7, "wlan0", 1500));
        assert_eq!(link.mac, Some(Mac([2, 0, 0, 0, 0, 1])));
        assert!(link.is_set_up && !link.is_up && link.has_arp);
        // Of a wireless driver (net/wireless/wext-core.c): a name, and no MTU.
        let mut of_driver = m.clone();
        of_driver.attributes = whole[..1].to_vec();
        assert_eq!(LinkInfo::of(of_driver), None);
        // Of a bridge, about its port.
        m.header.interface_family = AddressFamily::Bridge;
        assert_eq!(LinkInfo::of(m), None);
    }
}
