//! The host's links: their sockets and state.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::BorrowedFd;

use wayhop_core::{LinkId, LinkNeeds, LinkReach, LinkState, Mac, NetworkInput};
use wayhop_linux::ip_sockets::{IpSockets, RawSender};
use wayhop_linux::listing::{Address, LinkInfo};
use wayhop_linux::netlink::Netlink;
use wayhop_linux::{ArpSocket, Error, interface};
use wayhop_wire::{arp, ipv4};

use crate::interfaces::settings::{LOOSE, WAY_BACK, is_way_back_strict};

/// Messages of one kind that are taken in one turn.
const BATCH: usize = 64;

/// A link of the host. Its interface may go, and another one of its name take its place.
pub(super) struct Port {
    wanted: PortNeeds,
    open: Option<PortSockets>,
    /// Why the interface that is there is not used, as it was told.
    trouble: Option<String>,
}

/// What there is while the interface is there.
struct PortSockets {
    index: u32,
    mac: Option<Mac>,
    sockets: IpSockets,
    /// Of a mesh whose packets come by the radio, and not by the TUN: the radio's number, and its sockets.
    radio: Option<(u32, IpSockets)>,
    arp: Option<ArpSocket>,
    way: PortRoute,
}

/// What has become of a port's interface.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum PortChange {
    None,
    Gone,
    /// It is there, and it is another one than before.
    Taken,
}

/// How a link's packets leave.
enum PortRoute {
    /// By its interface, where routes of this interface lead.
    Interface,
    /// By its interface, to a neighbour: at another place the routes may be those of the last one yet.
    OnLink,
    /// Where any routes lead: the mesh's own protocol makes them.
    Routes(RawSender),
}

/// Settings of an interface, and their values.
pub(super) type Settings = &'static [(&'static str, &'static str)];

/// What is wanted of a link.
#[derive(Clone)]
pub(super) struct PortNeeds {
    /// What the application needs.
    pub(super) link: LinkNeeds,
    /// The home agent, where routes of the interface lead to it.
    pub(super) by_routes: Option<Ipv4Addr>,
    /// Settings that an interface needs which takes the place of the first one. There they were made when it could be written down how
    /// to undo them; the same list undoes them here.
    pub(super) settings: Settings,
}

/// The interface of this name.
pub(super) fn find(links: &[LinkInfo], name: &str) -> Result<LinkInfo, Error> {
    links.iter().find(|l| l.name == name).cloned().ok_or_else(|| {
        Error::Config(format!("no interface {name}; `ip link` lists the interfaces of this host"))
    })
}

fn sockets(name: &str, index: u32, wanted: &LinkNeeds) -> Result<IpSockets, Error> {
    let port = wanted.port;
    IpSockets::open(name, index, port, wanted.icmp_types, wanted.groups).map_err(|e| {
        if e.kind() == std::io::ErrorKind::AddrInUse {
            return Error::System(format!(
                "UDP port {port} is in use on {name}; stop the other Mobile IP agent"
            ));
        }
        Error::system(format!("open sockets at {name}"))(e)
    })
}

impl PortSockets {
    fn new(links: &[LinkInfo], wanted: &LinkNeeds) -> Result<Self, Error> {
        let name = &wanted.interface;
        let link = find(links, name)?;
        let index = link.index;
        let sockets = sockets(name, index, wanted)?;
        let radio = match &wanted.radio {
            Some(radio) => {
                let index = find(links, radio)?.index;
                Some((index, self::sockets(radio, index, wanted)?))
            }
            None => None,
        };
        let way = match (&radio, wanted.reach) {
            (Some(_), _) => PortRoute::Routes(
                RawSender::open(None).map_err(Error::system(format!("open a socket for {name}")))?,
            ),
            (None, LinkReach::Neighbours) => PortRoute::OnLink,
            (None, LinkReach::Routes | LinkReach::Mesh) => PortRoute::Interface,
        };
        let arp = match link.mac.filter(|_| wanted.arp) {
            Some(mac) => Some(
                ArpSocket::open(index, mac)
                    .map_err(Error::system(format!("open a socket for ARP at {name}")))?,
            ),
            None => None,
        };
        Ok(Self { index, mac: link.mac, sockets, radio, arp, way })
    }

    fn all_sockets(&mut self) -> impl Iterator<Item = &mut IpSockets> {
        [Some(&mut self.sockets), self.radio.as_mut().map(|(_, s)| s)].into_iter().flatten()
    }
}

impl Port {
    /// A link whose interface is not there yet.
    pub(super) const fn waiting(wanted: PortNeeds) -> Self {
        Self { wanted, open: None, trouble: None }
    }

    /// Opens the sockets.
    pub(super) fn open(links: &[LinkInfo], wanted: PortNeeds) -> Result<Self, Error> {
        let open = Some(PortSockets::new(links, &wanted.link)?);
        Ok(Self { open, ..Self::waiting(wanted) })
    }

    /// The name of its interface.
    pub(super) fn name(&self) -> &str {
        &self.wanted.link.interface
    }
    /// Whether what is sent there is for a neighbour.
    pub(super) fn is_on_link(&self) -> bool {
        self.wanted.link.reach == LinkReach::Neighbours
    }
    /// Whether its interface is there.
    pub(super) const fn is_there(&self) -> bool {
        self.open.is_some()
    }
    pub(super) fn index(&self) -> Option<u32> {
        self.open.as_ref().map(|o| o.index)
    }
    pub(super) fn mac(&self) -> Option<Mac> {
        self.open.as_ref()?.mac
    }

    /// Gives an interface up that is there no more, and takes the one that has its name now. The error is why that cannot be used; it
    /// comes once.
    pub(super) fn follow(&mut self, links: &[LinkInfo]) -> Result<PortChange, Error> {
        let index_of = |name: &str| links.iter().find(|l| l.name == name).map(|l| l.index);
        let own = index_of(self.name());
        let radio = self.wanted.link.radio.as_deref().map(index_of);
        let is_same = |o: &PortSockets| {
            own == Some(o.index) && radio.is_none_or(|r| r == o.radio.as_ref().map(|(i, _)| *i))
        };
        if self.open.as_ref().is_some_and(is_same) {
            return Ok(PortChange::None);
        }
        // The old sockets have the port.
        let was_open = self.open.take().is_some();
        if own.is_none() || radio.is_some_and(|r| r.is_none()) {
            self.trouble = None;
            return Ok(if was_open { PortChange::Gone } else { PortChange::None });
        }
        match self.take_over(links) {
            Ok(open) => {
                (self.open, self.trouble) = (Some(open), None);
                Ok(PortChange::Taken)
            }
            Err(e) => {
                let text = Some(e.to_string());
                if std::mem::replace(&mut self.trouble, text.clone()) == text {
                    return Ok(PortChange::None);
                }
                Err(e)
            }
        }
    }

    fn take_over(&self, links: &[LinkInfo]) -> Result<PortSockets, Error> {
        let name = self.name();
        let loose =
            (!self.wanted.settings.is_empty() && is_way_back_strict(name)).then_some((WAY_BACK, LOOSE));
        for (key, value) in self.wanted.settings.iter().copied().chain(loose) {
            let path = interface::ipv4_setting(name, key);
            fs::write(&path, value).map_err(Error::system(format!("write {}", path.display())))?;
        }
        PortSockets::new(links, &self.wanted.link)
    }

    /// To wait for: ICMP, datagrams, tunnels, and ARP if it is wanted.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.open.iter().flat_map(|o| {
            let sockets = [Some(&o.sockets), o.radio.as_ref().map(|(_, s)| s)].into_iter().flatten();
            sockets.flat_map(IpSockets::fds).chain(o.arp.as_ref().map(ArpSocket::fd))
        })
    }

    /// Takes what waits.
    pub(super) fn take(&mut self, link: LinkId, give: &mut dyn FnMut(NetworkInput<'static>)) {
        let Some(open) = &mut self.open else { return };
        for sockets in open.all_sockets() {
            take(sockets, link, give);
        }
        for _ in 0..BATCH {
            let Some(heard) = open.arp.as_ref().and_then(ArpSocket::receive) else { break };
            if let Some(message) = heard {
                let mut octets = vec![0; message.buffer_len()];
                message.emit(&mut octets);
                give(NetworkInput::Arp { link, message: octets.into() });
            }
        }
    }

    /// Sends an IP packet. One that is not there loses it.
    pub(super) fn send(&self, packet: &[u8]) -> std::io::Result<()> {
        let Some(open) = &self.open else { return Ok(()) };
        match &open.way {
            PortRoute::Interface => open.sockets.send(packet),
            PortRoute::OnLink => open.sockets.send_on_link(packet),
            PortRoute::Routes(out) => out.send(packet),
        }
    }
    /// Sends an ARP message, if there is ARP at the interface.
    pub(super) fn send_arp(&self, to: Mac, message: &arp::Repr) -> std::io::Result<()> {
        self.open.as_ref().and_then(|o| o.arp.as_ref()).map_or(Ok(()), |arp| arp.send(to, message))
    }

    /// Whether routes lead where its packets go. A modem that is redialled is back before its default route, and a request that leaves
    /// meanwhile is lost: the next one would follow after a second.
    pub(super) fn has_route(&self, links: &[LinkInfo], netlink: &mut Netlink) -> std::io::Result<bool> {
        let Some((open, to)) = self.open.as_ref().zip(self.wanted.by_routes) else { return Ok(true) };
        // Where there is no ARP, the other end takes what is sent without a route.
        let has_arp = links.iter().any(|l| l.index == open.index && l.has_arp);
        if has_arp { netlink.leads_to(to, open.index) } else { Ok(true) }
    }

    /// How it is now, besides its address of this host that is not its home address.
    pub(super) fn state(
        &self,
        links: &[LinkInfo],
        has_route: bool,
        addresses: &[Address],
        home: Ipv4Addr,
    ) -> LinkState {
        let Some(open) = &self.open else { return LinkState::default() };
        LinkState {
            is_up: has_route && links.iter().any(|l| l.index == open.index && l.is_up),
            addr: own_address(addresses, open.index, home),
            mac: open.mac,
        }
    }
}

fn take(sockets: &mut IpSockets, link: LinkId, give: &mut dyn FnMut(NetworkInput<'static>)) {
    for _ in 0..BATCH {
        let Some(packet) = sockets.receive_icmp() else { break };
        if let Ok(ip) = ipv4::Packet::new_checked(packet) {
            give(NetworkInput::Icmp { link, src: ip.src(), message: ip.payload().to_vec().into() });
        }
    }
    for _ in 0..BATCH {
        let Some((from, data)) = sockets.receive_datagram() else { break };
        give(NetworkInput::Datagram { link, from, data: data.to_vec().into() });
    }
    for _ in 0..BATCH {
        let Some(packet) = sockets.receive_tunnelled() else { break };
        give(NetworkInput::Tunnelled { link, packet: packet.to_vec().into() });
    }
}

/// The first IPv4 address of an interface that is not this one.
pub(super) fn own_address(addresses: &[Address], index: u32, other_than: Ipv4Addr) -> Option<Ipv4Addr> {
    addresses.iter().filter(|a| a.ifindex == index).find_map(|a| match a.addr {
        IpAddr::V4(addr) if addr != other_than && !addr.is_link_local() => Some(addr),
        _ => None,
    })
}
