//! The host's links: their sockets, and how they are.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::BorrowedFd;

use wayhop_core::Mac;
use wayhop_linux::ip_sockets::{IpSockets, RawSender};
use wayhop_linux::listing::{Address, Link};
use wayhop_linux::netlink::Netlink;
use wayhop_linux::{ArpSocket, Error};
use wayhop_mobile_ip::{Clock, Engine, Input, LinkState, Output};
use wayhop_wire::{ipv4, mobile_ip};

/// Messages of one kind that are taken in one turn.
const BATCH: usize = 64;

/// A link of the host.
pub(super) struct Port {
    pub(super) name: String,
    pub(super) index: u32,
    pub(super) mac: Option<Mac>,
    sockets: IpSockets,
    /// Of a mesh whose packets come by the radio, and not by the TUN.
    radio: Option<IpSockets>,
    arp: Option<ArpSocket>,
    way: Way,
}

/// How a link's packets leave.
enum Way {
    /// By its interface, where routes of this interface lead.
    Interface,
    /// By its interface, to a neighbour: at another place the routes may be those of the last one yet.
    OnLink,
    /// Where any routes lead: the mesh's own protocol makes them.
    Routes(RawSender),
}

/// Which ICMP messages are wanted: router advertisements, or solicitations.
pub(super) const ADVERTISEMENTS: &[u8] = &[9];
pub(super) const SOLICITATIONS: &[u8] = &[10];

/// What is wanted of a link.
pub(super) struct Wanted<'a> {
    pub(super) name: &'a str,
    pub(super) icmp_types: &'a [u8],
    /// What the interface joins.
    pub(super) groups: &'a [Ipv4Addr],
    pub(super) arp: bool,
    /// Whether what is sent there is for a neighbour.
    pub(super) on_link: bool,
    /// Of a mesh whose packets come by the radio: its interface.
    pub(super) radio: Option<&'a str>,
}

/// The interface of this name.
pub(super) fn find(links: &[Link], name: &str) -> Result<Link, Error> {
    links.iter().find(|l| l.name == name).cloned().ok_or_else(|| {
        Error::Config(format!("there is no interface {name}; `ip link` lists the interfaces of this host"))
    })
}

fn sockets(name: &str, index: u32, wanted: &Wanted<'_>) -> Result<IpSockets, Error> {
    let port = mobile_ip::PORT;
    IpSockets::open(name, index, port, wanted.icmp_types, wanted.groups).map_err(|e| {
        if e.kind() == std::io::ErrorKind::AddrInUse {
            return Error::System(format!(
                "UDP port {port} is in use on {name}: another program for Mobile IP runs here; stop it"
            ));
        }
        Error::system(format!("open sockets at {name}"))(e)
    })
}

impl Port {
    /// Opens the sockets.
    pub(super) fn open(links: &[Link], wanted: &Wanted<'_>) -> Result<Self, Error> {
        let link = find(links, wanted.name)?;
        let (name, index) = (wanted.name, link.index);
        let sockets = sockets(name, index, wanted)?;
        let radio = match wanted.radio {
            Some(radio) => Some(self::sockets(radio, find(links, radio)?.index, wanted)?),
            None => None,
        };
        let way = match (&radio, wanted.on_link) {
            (Some(_), _) => Way::Routes(
                RawSender::open(None).map_err(Error::system(format!("open a socket for {name}")))?,
            ),
            (None, true) => Way::OnLink,
            (None, false) => Way::Interface,
        };
        let arp = match link.mac.filter(|_| wanted.arp) {
            Some(mac) => Some(
                ArpSocket::open(index, mac)
                    .map_err(Error::system(format!("open a socket for ARP at {name}")))?,
            ),
            None => None,
        };
        Ok(Self { name: name.to_owned(), index, mac: link.mac, sockets, radio, arp, way })
    }

    /// To wait for: ICMP, datagrams, tunnels, and ARP if it is wanted.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let sockets = [Some(&self.sockets), self.radio.as_ref()].into_iter().flatten();
        sockets.flat_map(IpSockets::fds).chain(self.arp.as_ref().map(ArpSocket::fd))
    }

    /// Takes what waits, and gives it to the engine.
    pub(super) fn take(&mut self, link: u8, now: Clock, engine: &mut dyn Engine, out: &mut Vec<Output>) {
        for sockets in [Some(&mut self.sockets), self.radio.as_mut()].into_iter().flatten() {
            take(sockets, link, now, engine, out);
        }
        for _ in 0..BATCH {
            let Some(heard) = self.arp.as_ref().and_then(ArpSocket::receive) else { break };
            if let Some(message) = heard {
                engine.input(now, Input::Arp { link, message }, out);
            }
        }
    }

    /// Sends an IP packet.
    pub(super) fn send(&self, packet: &[u8]) -> std::io::Result<()> {
        match &self.way {
            Way::Interface => self.sockets.send(packet),
            Way::OnLink => self.sockets.send_on_link(packet),
            Way::Routes(out) => out.send(packet),
        }
    }
    /// Sends an ARP message, if there is ARP at the interface.
    pub(super) fn send_arp(&self, to: Mac, message: &wayhop_wire::arp::Repr) -> std::io::Result<()> {
        self.arp.as_ref().map_or(Ok(()), |arp| arp.send(to, message))
    }
}

fn take(sockets: &mut IpSockets, link: u8, now: Clock, engine: &mut dyn Engine, out: &mut Vec<Output>) {
    for _ in 0..BATCH {
        let Some(packet) = sockets.receive_icmp() else { break };
        if let Ok(ip) = ipv4::Packet::new_checked(packet) {
            engine.input(now, Input::Icmp { link, src: ip.src(), message: ip.payload() }, out);
        }
    }
    for _ in 0..BATCH {
        let Some((from, payload)) = sockets.receive_datagram() else { break };
        let (src, src_port) = (*from.ip(), from.port());
        engine.input(now, Input::Udp { link, src, src_port, payload }, out);
    }
    for _ in 0..BATCH {
        let Some(packet) = sockets.receive_tunnelled() else { break };
        engine.input(now, Input::Tunnelled { link, packet }, out);
    }
}

/// How links are now, besides their address of this host that is not its home address.
pub(super) fn states(
    ports: &[Port],
    home: Ipv4Addr,
    netlink: &mut Netlink,
) -> std::io::Result<Vec<LinkState>> {
    let (links, addresses) = (netlink.links()?, netlink.addresses()?);
    let state = |p: &Port| LinkState {
        is_up: links.iter().any(|l| l.index == p.index && l.is_up),
        addr: own_address(&addresses, p.index, home),
    };
    Ok(ports.iter().map(state).collect())
}

/// The first IPv4 address of an interface that is not this one.
pub(super) fn own_address(addresses: &[Address], index: u32, other_than: Ipv4Addr) -> Option<Ipv4Addr> {
    addresses.iter().filter(|a| a.ifindex == index).find_map(|a| match a.addr {
        IpAddr::V4(addr) if addr != other_than && !addr.is_link_local() => Some(addr),
        _ => None,
    })
}
