//! IPv6 at the node on this host: every packet goes through this process, whatever the protocol does with IPv4.
//!
//! The kernel's own IPv6 is off at the interfaces, so that it neither answers neighbour discovery nor forwards.

use std::net::Ipv6Addr;

use wayhop_core::{Addr, IfaceId, Mac, Prefix, Route, RxMeta};
use wayhop_linux::packet_socket::ETHERNET;
use wayhop_wire::{icmpv6, ip, ipv6};

use crate::ipv6::mesh6::Mesh6;
use crate::node::host::{Host, mac_at};

impl Host {
    /// Gives the node an IPv6 address in a prefix of this length. Before the protocol begins.
    pub(crate) fn set_ipv6(&mut self, (addr, prefix_len): (Ipv6Addr, u8), routes: &[Route]) {
        self.node.set_ipv6(addr, prefix_len);
        let routed = routes.iter().map(|r| r.destination).filter(|p| !p.addr.is_v4());
        let reachable = std::iter::once(Prefix::around(addr, prefix_len)).chain(routed).collect();
        self.around.v6 = Some(Mesh6 { addr, reachable });
    }

    /// A packet of a program. The stack's own chatter from no address, such as reports of groups, is for nobody here.
    pub(crate) fn packet_in6(&mut self, bytes: &[u8]) {
        let Ok(ip) = ip::Packet::new_checked(bytes) else { return };
        if self.node.addr6().is_none() || ip.src.is_unspecified() {
            return;
        }
        let own = self.node.addr6().is_some_and(|a| ip.src == Addr::from(a));
        let p = self.around.packet(&bytes[..ip.total_len]);
        if own {
            self.call(|n, w, at| n.originate(w, at, p));
        } else {
            self.refuse(p);
        }
    }

    /// A frame with an IPv6 packet from an interface, for this node or a group.
    pub(crate) fn frame_in6(&mut self, iface: IfaceId, frame: &[u8], signal_dbm: f32) {
        let (to, from_mac) = (mac_at(frame, 0), mac_at(frame, 6));
        let from_another = from_mac != self.node.mac(iface) && !from_mac.is_group();
        let body = &frame[ETHERNET..];
        let Some(ip) = ip::Packet::new_checked(body).ok().filter(|_| from_another) else {
            self.around.counters.strange_frames += 1;
            return;
        };
        self.around.counters.received_frames += 1;
        let body = &body[..ip.total_len];
        if ip.protocol == ipv6::next_header::ICMPV6 && icmpv6::is_neighbour_discovery(ip.payload) {
            self.discovery_in(iface, body, from_mac, ip.src);
            return;
        }
        // One who never asked for this node's link address is known by the address that its own link address gives.
        let from = self.transmitters.addr6(from_mac).unwrap_or_else(|| ipv6::link_local(from_mac));
        let rx = RxMeta { iface, ..RxMeta::from(from, to.is_group()).with_signal(signal_dbm) };
        let p = self.around.packet(body);
        self.around.arrived = Some(p.meta.id);
        self.call(|n, w, at| n.receive(w, at, p, rx));
        self.around.arrived = None;
    }

    fn discovery_in(&mut self, iface: IfaceId, body: &[u8], from_mac: Mac, source: Addr) {
        let known = source.v6().map(|a| (a, self.node.mac_of(iface, a)));
        self.call(|n, w, at| n.receive_discovery(w, at, iface, body));
        let Some((from, before)) = known.filter(|(a, _)| self.node.mac_of(iface, *a) == Some(from_mac))
        else {
            return;
        };
        self.transmitters.learn6(from, from_mac);
        if before != Some(from_mac) {
            self.around.events.neighbour(self.around.now, from, from_mac);
        }
    }
}
