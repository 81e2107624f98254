//! The host's links: their sockets and state.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::BorrowedFd;

use wayhop_core::{LinkId, LinkNeeds, LinkReach, LinkState, Mac, NetworkInput};
use wayhop_linux::ip_sockets::{IpSockets, RawSender};
use wayhop_linux::listing::{Address, LinkInfo};
use wayhop_linux::netlink::Netlink;
use wayhop_linux::{ArpSocket, Error};

use crate::interfaces::settings::{LOOSE, WAY_BACK, is_way_back_strict, write_settings};
use crate::log::Log;
use crate::undo::Undo;

/// A link of the host. Its interface may go, and another one of its name take its place.
pub(super) struct Port {
    needs: PortNeeds,
    open: Option<PortSockets>,
    /// Why the interface that is there is not used, as it was logged.
    trouble: Option<String>,
}

/// What there is while the interface is there.
struct PortSockets {
    mac: Option<Mac>,
    /// By the kernel's number of the interface. A mesh whose packets come by the radio, and not by the TUN, has the radio's behind its own.
    sockets: Vec<(u32, IpSockets)>,
    arp: Option<ArpSocket>,
    out: RawSender,
}

/// Settings of an interface, and their values.
pub(super) type Settings = &'static [(&'static str, &'static str)];

/// What a link needs.
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

fn sockets(name: &str, index: u32, needs: &LinkNeeds) -> Result<IpSockets, Error> {
    let port = needs.port;
    IpSockets::open(name, index, port, needs.icmp_types, needs.groups).map_err(|e| {
        if e.kind() == io::ErrorKind::AddrInUse {
            return Error::System(format!(
                "UDP port {port} is in use on {name}; stop the other Mobile IP agent"
            ));
        }
        Error::system(format!("open sockets at {name}"))(e)
    })
}

impl PortSockets {
    fn new(links: &[LinkInfo], needs: &LinkNeeds) -> Result<Self, Error> {
        let name = &needs.interface;
        let LinkInfo { index, mac, .. } = find(links, name)?;
        let open = |name: &String| -> Result<_, Error> {
            let index = find(links, name)?.index;
            Ok((index, sockets(name, index, needs)?))
        };
        let sockets = needs.interfaces().map(open).collect::<Result<_, _>>()?;
        // Where there is a radio, any routes lead: the mesh's own protocol makes them.
        let by = needs.radio.is_none().then_some(name.as_str());
        let mut out = RawSender::open(by).map_err(Error::system(format!("open a socket for {name}")))?;
        if by.is_some() && needs.reach == LinkReach::Neighbours {
            // At another place the routes may be those of the last one yet.
            out = out.on_link();
        }
        let arp = mac.filter(|_| needs.arp).map(|mac| ArpSocket::open(index, mac)).transpose();
        let arp = arp.map_err(Error::system(format!("open a socket for ARP at {name}")))?;
        Ok(Self { mac, sockets, arp, out })
    }

    fn index(&self) -> u32 {
        self.sockets[0].0
    }
}

impl Port {
    /// A link whose interface is not there yet.
    pub(super) const fn waiting(needs: PortNeeds) -> Self {
        Self { needs, open: None, trouble: None }
    }

    /// Opens the sockets.
    pub(super) fn open(links: &[LinkInfo], needs: PortNeeds) -> Result<Self, Error> {
        let open = Some(PortSockets::new(links, &needs.link)?);
        Ok(Self { open, ..Self::waiting(needs) })
    }

    /// The name of its interface.
    pub(super) fn name(&self) -> &str {
        &self.needs.link.interface
    }
    /// Whether what is sent there is for a neighbour.
    pub(super) fn is_on_link(&self) -> bool {
        self.needs.link.reach == LinkReach::Neighbours
    }
    /// Whether its interface is there.
    pub(super) const fn is_there(&self) -> bool {
        self.open.is_some()
    }
    pub(super) fn index(&self) -> Option<u32> {
        self.open.as_ref().map(PortSockets::index)
    }
    pub(super) fn mac(&self) -> Option<Mac> {
        self.open.as_ref()?.mac
    }

    /// Gives an interface up that is there no more, and takes the one that has its name now. Whether it has taken one.
    pub(super) fn follow(&mut self, links: &[LinkInfo], log: &Log) -> bool {
        let index_of = |name: &String| links.iter().find(|l| l.name == *name).map(|l| l.index);
        let now: Option<Vec<u32>> = self.needs.link.interfaces().map(index_of).collect();
        let indices = |o: &PortSockets| o.sockets.iter().map(|(index, _)| *index).collect::<Vec<u32>>();
        if now.is_some() && self.open.as_ref().map(indices) == now {
            return false;
        }
        // The old sockets have the port.
        let was_open = self.open.take().is_some();
        let name = &self.needs.link.interface;
        let lost = || log.warning(format_args!("{name} is gone; waiting for it"));
        if now.is_none() {
            if was_open {
                lost();
            }
            self.trouble = None;
            return false;
        }
        match self.take_over(links) {
            Ok(open) => {
                log.info(format_args!("{name} is back"));
                (self.open, self.trouble) = (Some(open), None);
                true
            }
            Err(e) => {
                let trouble = Some(e.to_string());
                if self.trouble != trouble {
                    log.warning(format_args!("{name} cannot be used yet: {e}"));
                    lost();
                }
                self.trouble = trouble;
                false
            }
        }
    }

    /// The settings that its interface needs: loose reverse path filtering, because a mobile node's packets may come by an interface by which
    /// the answers would not leave, and what the role needs.
    fn settings(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let is_strict = !self.needs.settings.is_empty() && is_way_back_strict(self.name());
        is_strict.then_some((WAY_BACK, LOOSE)).into_iter().chain(self.needs.settings.iter().copied())
    }

    /// Makes the settings, and says how to undo them.
    pub(super) fn prepare(&self, undo: &mut Undo) -> Result<(), Error> {
        self.settings().try_for_each(|(key, value)| undo.set(self.name(), key, value))
    }

    fn take_over(&self, links: &[LinkInfo]) -> Result<PortSockets, Error> {
        write_settings(self.name(), self.settings())?;
        PortSockets::new(links, &self.needs.link)
    }

    /// To wait for: ICMP, datagrams, tunnels, and ARP if it is wanted.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.open.iter().flat_map(|o| {
            o.sockets.iter().flat_map(|(_, s)| s.fds()).chain(o.arp.as_ref().map(ArpSocket::fd))
        })
    }

    /// Takes what waits.
    pub(super) fn take(&mut self, link: LinkId, heard: &mut Vec<NetworkInput<'static>>) {
        let Some(open) = &mut self.open else { return };
        open.sockets.iter_mut().for_each(|(_, sockets)| sockets.take(link, heard));
        if let Some(arp) = &open.arp {
            arp.take(link, heard);
        }
    }

    /// Sends an IP packet. One that is not there loses it.
    pub(super) fn send(&self, packet: &[u8]) -> io::Result<()> {
        self.open.as_ref().map_or(Ok(()), |open| open.out.send(packet))
    }
    /// Sends an ARP message, if there is ARP at the interface.
    pub(super) fn send_arp(&self, to: Mac, message: &[u8]) -> io::Result<()> {
        self.open.as_ref().and_then(|o| o.arp.as_ref()).map_or(Ok(()), |arp| arp.send(to, message))
    }

    /// How it is now, with the host's address there that is not its home address.
    pub(super) fn state(
        &self,
        links: &[LinkInfo],
        addresses: &[Address],
        home: Ipv4Addr,
        netlink: &mut Netlink,
    ) -> io::Result<LinkState> {
        let Some(open) = &self.open else { return Ok(LinkState::default()) };
        let link = links.iter().find(|l| l.index == open.index());
        // A modem that is redialled is back before its default route, and a request that leaves meanwhile is lost: the next one would follow
        // after a second. Where there is no ARP, the other end takes what is sent without a route.
        let has_route = match self.needs.by_routes {
            Some(to) if link.is_some_and(|l| l.has_arp) => netlink.leads_to(to, open.index())?,
            _ => true,
        };
        let is_up = has_route && link.is_some_and(|l| l.is_up);
        Ok(LinkState { is_up, addr: own_address(addresses, open.index(), home), mac: open.mac })
    }
}

/// The first IPv4 address of an interface that is not this one.
pub(super) fn own_address(addresses: &[Address], index: u32, other_than: Ipv4Addr) -> Option<Ipv4Addr> {
    addresses.iter().filter(|a| a.ifindex == index).find_map(|a| match a.addr {
        IpAddr::V4(addr) if addr != other_than && !addr.is_link_local() => Some(addr),
        _ => None,
    })
}
