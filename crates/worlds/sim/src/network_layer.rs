//! The network layer of simulated hosts, as far as applications are a part of it: what the kernel does for Mobile IP on a real host.
//!
//! * By its links ([`wayhop_core::LinkNeeds`]) an application hears ICMP, datagrams, packets in tunnels and ARP. Wires outside of the mesh are
//!   links of their own; the mesh is one, by the node's own routes.
//! * Packets for addresses that it intercepts, and those of its home address while that is away, go to it as they go to a TUN interface. What
//!   it sends for them has their number, so that a flow's packet is the same one inside of a tunnel and behind it.

use std::borrow::Cow;
use std::net::SocketAddrV4;

use wayhop_core::{
    Addr, ApplicationInput, DropReason, HomeRoute, HopKind, IfaceId, LinkId, LinkReach, LinkState,
    NetworkEffect, NetworkInput, Packet, PacketMeta, RxMeta, Time,
};
use wayhop_node::{Hop, HostTakes, World as _};
use wayhop_wire::{arp, ipv4, udp};

use crate::common::Common;
use crate::hosted_applications::HostNetwork;
use crate::net::Net;
use crate::outgoing::{HostRoute, Outgoing};
use crate::world::SimulationWorld;

impl Common {
    /// The number and the network layer of each of a node's applications that has one.
    fn networks(&self, node: u32) -> impl Iterator<Item = (u32, &HostNetwork)> {
        let all = self.applications.as_deref().filter(|a| a.has_networks);
        all.into_iter().flat_map(move |a| {
            let own = a.of_node(node).iter();
            own.filter_map(|n| Some((*n, a.all[*n as usize].network.as_deref()?)))
        })
    }

    /// What a packet of a host, or one that goes through it, takes for its way.
    pub(crate) fn host_route(&self, node: u32, packet: &[u8]) -> HostRoute {
        for (number, network) in self.networks(node) {
            let Some((from, to)) = ipv4::ends(packet) else { return HostRoute::Node };
            if network.intercepted.contains(&to) {
                return HostRoute::Tunnel(number);
            }
            if network.home_address == Some(to) {
                return HostRoute::Here;
            }
            if network.home_address != Some(from) {
                continue;
            }
            let at_home = network.home.filter(|h| h.is_home);
            return match at_home.and_then(|h| Some((h, network.iface(h.link?)?))) {
                Some((h, iface)) => {
                    HostRoute::By(iface, if h.network.contains(to) { to } else { h.router }.into())
                }
                None => HostRoute::Tunnel(number),
            };
        }
        HostRoute::Node
    }

    /// The address from which programs of a node send to another one: a mobile node's home address to all but the mesh.
    pub(crate) fn host_source(&self, node: u32, to: Addr) -> Addr {
        let mesh = self.applications.as_ref().and_then(|a| a.mesh);
        let home =
            self.networks(node).find_map(|(_, n)| n.home).filter(|_| mesh.is_some_and(|m| !m.contains(to)));
        home.map_or(self.addrs[node as usize], |h| h.addr).into()
    }

    /// Whether a node is a mobile node with this home address.
    pub(crate) fn is_home_address(&self, node: u32, addr: Addr) -> bool {
        self.networks(node).any(|(_, n)| n.home_address.is_some_and(|home| addr == home))
    }

    /// A packet came by an interface that leads out of the mesh, or by another one.
    pub(crate) fn host_takes(&mut self, at: Time, node: u32, p: &Packet, rx: &RxMeta) -> HostTakes {
        let at_link = |(number, n): (u32, &HostNetwork)| {
            let link = n.links.iter().position(|l| l.iface == Some(rx.iface))? as LinkId;
            let (_, to) = ipv4::ends(p.bytes())?;
            Some((number, link, to, n.home_address == Some(to), n.intercepted.contains(&to)))
        };
        let Some((number, link, to, is_home, is_intercepted)) = self.networks(node).find_map(at_link) else {
            return HostTakes::Nothing;
        };
        if is_intercepted {
            // The kernel forwards it into the TUN.
            let mut octets = p.bytes().to_vec();
            if ipv4::decrement_ttl(&mut octets).is_ok_and(|ttl| ttl > 0) {
                self.network_input(at, number, NetworkInput::Outbound(octets.into()), Some(p));
            } else {
                self.lose(at, node, p, DropReason::TtlExpired);
            }
            return HostTakes::Packet;
        }
        let is_own = is_home || to == self.addrs[node as usize] || to.is_multicast() || to.is_broadcast();
        if is_own && self.hear(at, node, (number, link), p, true) {
            return HostTakes::Packet;
        }
        if is_home { HostTakes::ForPrograms } else { HostTakes::Nothing }
    }

    /// A packet was delivered by the mesh. Whether an application that is a part of the network layer took it.
    pub(crate) fn network_deliver(&mut self, at: Time, node: u32, p: &Packet) -> bool {
        let Some(at_mesh) = self.mesh_link(node, p.bytes()) else { return false };
        self.hear(at, node, at_mesh, p, false)
    }

    /// Whether an application hears a packet that the mesh delivers.
    pub(crate) fn network_listens(&self, node: u32, packet: &[u8]) -> bool {
        self.mesh_link(node, packet).is_some()
    }

    /// The application that hears a packet from the mesh, and its link.
    fn mesh_link(&self, node: u32, packet: &[u8]) -> Option<(u32, LinkId)> {
        self.networks(node).find_map(|(number, network)| {
            let link = network.links.iter().position(|l| l.iface.is_none())? as LinkId;
            message(link, &network.links[usize::from(link)].needs, packet)?;
            Some((number, link))
        })
    }

    /// Gives an application what it hears on a link. Whether it hears this.
    fn hear(
        &mut self,
        at: Time,
        node: u32,
        (number, link): (u32, LinkId),
        p: &Packet,
        is_arrival: bool,
    ) -> bool {
        let Some(network) =
            self.applications.as_ref().and_then(|a| a.all[number as usize].network.as_deref())
        else {
            return false;
        };
        let Some(input) = message(link, &network.links[usize::from(link)].needs, p.bytes()) else {
            return false;
        };
        let is_tunnelled = matches!(input, NetworkInput::Tunnelled { .. });
        if !is_tunnelled {
            if is_arrival {
                let hop = Hop { kind: HopKind::Deliver, ..Hop::HERE };
                SimulationWorld { common: self, node }.record(at, p, hop);
            }
            self.deliver_to_program(at, node, p);
        }
        self.network_input(at, number, input, is_tunnelled.then_some(p));
        true
    }

    /// Tells an application something. What it sends for a packet that is `carried` has that one's number; if it sends nothing, that one ends
    /// here.
    pub(crate) fn network_input(
        &mut self,
        at: Time,
        number: u32,
        input: NetworkInput<'_>,
        carried: Option<&Packet>,
    ) {
        let Some(applications) = &mut self.applications else { return };
        let node = applications.all[number as usize].node;
        let why = if matches!(input, NetworkInput::Outbound(_)) {
            DropReason::NoRoute
        } else {
            DropReason::NoListener
        };
        applications.carried = carried.map(|p| p.meta);
        applications.relayed = false;
        self.application(at, number, ApplicationInput::Network(input));
        let Some(applications) = &mut self.applications else { return };
        applications.carried = None;
        if let Some(p) = carried.filter(|_| !applications.relayed) {
            self.lose(at, node, p, why);
        }
    }

    /// A packet ends at a host.
    pub(crate) fn lose(&mut self, at: Time, node: u32, p: &Packet, why: DropReason) {
        let hop = Hop { kind: HopKind::Drop, reason: Some(why), ..Hop::HERE };
        SimulationWorld { common: self, node }.record(at, p, hop);
    }

    /// Does what an application asks the network layer for.
    pub(crate) fn network_effect(&mut self, at: Time, number: u32, node: u32, effect: NetworkEffect) {
        match effect {
            NetworkEffect::Send { link, packet } => self.network_send(at, (number, node), link, &packet),
            NetworkEffect::Deliver(packet) => {
                let (p, _) = self.network_packet(at, node, &packet);
                self.answers.push_back((node, Outgoing::Forward(p)));
            }
            NetworkEffect::Arp { link, to, message } => {
                if let (Some(iface), Ok(message)) =
                    (self.network(number).and_then(|n| n.iface(link)), arp::Repr::parse(&message))
                {
                    self.answers.push_back((node, Outgoing::Arp(iface, to, message)));
                }
            }
            NetworkEffect::Attach(route) => self.attach(number, node, route),
            NetworkEffect::Intercept(addr) => self.change_network(number, |n| n.intercepted.push(addr)),
            NetworkEffect::Release(addr) => {
                self.change_network(number, |n| n.intercepted.retain(|a| *a != addr));
            }
            NetworkEffect::Remember(about, value) => {
                self.change_network(number, |n| drop(n.memory.insert(about, value)));
            }
            NetworkEffect::Log { .. } => {}
        }
    }

    fn network(&self, number: u32) -> Option<&HostNetwork> {
        self.applications.as_ref()?.all[number as usize].network.as_deref()
    }
    fn change_network(&mut self, number: u32, change: impl FnOnce(&mut HostNetwork)) {
        let network = self.applications.as_mut().and_then(|a| a.all[number as usize].network.as_deref_mut());
        if let Some(network) = network {
            change(network);
        }
    }

    /// The home address is elsewhere: neighbours on the link that has it may ask for it.
    fn attach(&mut self, number: u32, node: u32, route: HomeRoute) {
        let Some(network) = self.network(number) else { return };
        let on_link = (0..).zip(&network.links).filter(|(_, l)| l.needs.reach == LinkReach::Neighbours);
        let has = |link: LinkId| (route.link == Some(link)).then_some(route.addr);
        let all: Vec<_> = on_link.filter_map(|(i, l)| Some(Outgoing::Address(l.iface?, has(i)))).collect();
        self.answers.extend(all.into_iter().map(|address| (node, address)));
        self.change_network(number, |n| n.home = Some(route));
    }

    /// A packet that an application made, and whether it is one that it carries for others.
    fn network_packet(&mut self, at: Time, node: u32, octets: &[u8]) -> (Packet, bool) {
        let carried = self.applications.as_mut().and_then(|a| {
            a.relayed = true;
            a.carried
        });
        let meta = carried.unwrap_or_else(|| {
            // Registrations are flows of programs; agent discovery is the network's own.
            let is_data = octets.get(9) == Some(&ipv4::protocol::UDP);
            let to = ipv4::ends(octets).map(|(_, to)| Addr::from(to));
            let to = to.and_then(|to| self.stations.get(to));
            let flow = if is_data { self.flows.of_programs.sent(at, node, octets, to) } else { None };
            PacketMeta { flow, ..self.work.new_meta(at) }
        });
        let p = self.work.pool.packet(octets, meta);
        if carried.is_none() {
            self.originated(&p, true);
        }
        (p, carried.is_some())
    }

    fn network_send(&mut self, at: Time, (number, node): (u32, u32), link: Option<LinkId>, octets: &[u8]) {
        let Some((_, to)) = ipv4::ends(octets) else { return };
        let (p, is_carried) = self.network_packet(at, node, octets);
        let of_link = link.and_then(|link| self.network(number)?.links.get(usize::from(link)));
        let by = of_link.and_then(|l| match l.needs.reach {
            LinkReach::Mesh => None,
            LinkReach::Neighbours if to.is_multicast() || to.is_broadcast() => {
                Some((l.iface?, Addr::BROADCAST))
            }
            LinkReach::Neighbours => Some((l.iface?, to.into())),
            LinkReach::Routes => Some((l.iface?, l.router?.into())),
        });
        let outgoing = match by {
            Some((iface, next_hop)) => Outgoing::By(p, iface, next_hop),
            None if is_carried => Outgoing::Forward(p),
            None => Outgoing::Originate(p),
        };
        self.answers.push_back((node, outgoing));
    }
}

impl Net {
    /// An application that is a part of the network layer has begun: it hears the time, what it remembers, and how its links are.
    pub(crate) fn begin_network(&mut self, at: Time, number: u32) {
        let common = &mut self.common;
        let Some(known) = common.network(number).map(|n| n.memory.values().cloned().collect::<Vec<_>>())
        else {
            return;
        };
        common.network_input(at, number, NetworkInput::TimeOfDay(at.as_nanos()), None);
        for known in known {
            common.network_input(at, number, NetworkInput::Recall(known), None);
        }
        let links = common.network(number).map_or(0, |n| n.links.len());
        (0..links as LinkId).for_each(|link| common.tell_link(at, number, link));
    }

    /// A node's interface went down, or came up.
    pub(crate) fn network_link(&mut self, at: Time, node: u32, iface: IfaceId, is_up: bool) {
        let common = &mut self.common;
        let at_it = |(number, n): (u32, &HostNetwork)| {
            Some((number, n.links.iter().position(|l| l.iface == Some(iface))? as LinkId))
        };
        let Some((number, link)) = common.networks(node).find_map(at_it) else { return };
        common.change_network(number, |n| n.links[usize::from(link)].is_up = is_up);
        if self.nodes[node as usize].is_up() {
            common.tell_link(at, number, link);
            self.send_answers(at);
        }
    }

    /// An ARP message came by an interface.
    pub(crate) fn network_arp(&mut self, at: Time, node: u32, iface: IfaceId, message: &[u8]) {
        let hears = |(number, n): (u32, &HostNetwork)| {
            let link = n.links.iter().position(|l| l.iface == Some(iface) && l.needs.arp)?;
            Some((number, link as LinkId))
        };
        let heard = self.common.networks(node).find_map(hears);
        if let Some((number, link)) = heard {
            let message = Cow::Borrowed(message);
            self.common.network_input(at, number, NetworkInput::Arp { link, message }, None);
            self.send_answers(at);
        }
    }
}

impl Common {
    fn tell_link(&mut self, at: Time, number: u32, link: LinkId) {
        let Some(hosted) = self.applications.as_ref().map(|a| &a.all[number as usize]) else { return };
        let (node, Some(l)) = (hosted.node, hosted.network.as_ref().map(|n| &n.links[usize::from(link)]))
        else {
            return;
        };
        let segment = |iface: IfaceId| self.ports.segment(self.ports.of(node)[iface.index()]);
        let state = LinkState {
            is_up: l.is_up,
            addr: Some(self.addrs[node as usize]),
            mac: l.iface.map(|iface| self.mac_of(node, segment(iface))),
        };
        self.network_input(at, number, NetworkInput::Link { link, state }, None);
    }
}

/// What an application hears of a packet that came for its host by a link.
fn message<'a>(link: LinkId, needs: &wayhop_core::LinkNeeds, packet: &'a [u8]) -> Option<NetworkInput<'a>> {
    let ip = ipv4::Packet::new_checked(packet).ok()?;
    match ip.protocol() {
        ipv4::protocol::ICMP if ip.payload().first().is_some_and(|kind| needs.icmp_types.contains(kind)) => {
            Some(NetworkInput::Icmp { link, src: ip.src(), message: ip.payload().into() })
        }
        ipv4::protocol::IP_IN_IP => Some(NetworkInput::Tunnelled { link, packet: packet.into() }),
        ipv4::protocol::UDP => {
            let d = udp::Packet::new_checked(ip.payload()).ok().filter(|d| d.dst_port() == needs.port)?;
            let from = SocketAddrV4::new(ip.src(), d.src_port());
            Some(NetworkInput::Datagram { link, from, data: d.payload().into() })
        }
        _ => None,
    }
}
