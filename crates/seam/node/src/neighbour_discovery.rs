//! Neighbour discovery (RFC 4861): solicitations, advertisements, and what is learned from them. It does for IPv6 what ARP
//! does for IPv4, and no more: no router or prefix discovery, no duplicate address detection, no probing of neighbours that
//! are known.

use std::net::Ipv6Addr;

use wayhop_core::{Addr, Frame, IfaceId, Mac, Payload, Protocol, Time};
use wayhop_wire::icmpv6::Repr;
use wayhop_wire::ipv6::{self, next_header};

use crate::node::Node;
use crate::world::World;

/// The hop limit of every message: one from another link has less (RFC 4861, section 11.2).
const HOP_LIMIT: u8 = 255;

impl<P: Protocol> Node<P> {
    /// A solicitation of a neighbour's link address, to the address's solicited-node group.
    pub(crate) fn solicitation<W: World>(
        &self,
        w: &mut W,
        at: Time,
        iface: IfaceId,
        target: Ipv6Addr,
    ) -> Frame {
        let source = match self.addr6() {
            Some(own) if !ipv6::is_link_local(target) => own,
            _ => self.link_local(iface),
        };
        let message = Repr::NeighbourSolicitation { target, source_mac: Some(self.mac(iface)) };
        let group = ipv6::solicited_node(target);
        let receiver = ipv6::group_mac(group);
        self.discovery_frame(w, at, message, iface, (source, group), (Addr::BROADCAST, receiver))
    }

    fn discovery_frame<W: World>(
        &self,
        w: &mut W,
        at: Time,
        message: Repr<'_>,
        iface: IfaceId,
        (source, destination): (Ipv6Addr, Ipv6Addr),
        to: (Addr, Mac),
    ) -> Frame {
        let len = message.buffer_len();
        let mut packet = w.workspace().new_packet(at, ipv6::HEADER_LEN + len);
        let head = ipv6::Repr::new(source, destination, next_header::ICMPV6, len as u16);
        ipv6::Repr { hop_limit: HOP_LIMIT, ..head }.emit(packet.bytes_mut());
        message.emit(&mut packet.bytes_mut()[ipv6::HEADER_LEN..], source, destination);
        self.own_frame(packet, Payload::Neighbour, iface, to)
    }

    /// An IPv6 packet with a message of neighbour discovery arrived: the one who is asked learns who asks, and answers; the
    /// one who asked learns the answer.
    pub fn receive_discovery<W: World>(&mut self, w: &mut W, at: Time, iface: IfaceId, bytes: &[u8]) {
        let Ok(ip) = ipv6::Packet::new_checked(bytes) else { return };
        if !self.is_up || self.v6.is_none() || ip.hop_limit() != HOP_LIMIT || self.has_addr6(ip.src(), iface)
        {
            return;
        }
        let Ok(upper) = ip.upper() else { return };
        if self.interfaces.len() > 1 && !ip.src().is_unspecified() {
            self.hear(at, ip.src().into(), iface);
        }
        match Repr::parse(upper.payload, ip.src(), ip.dst()) {
            _ if upper.protocol != next_header::ICMPV6 => {}
            Ok(Repr::NeighbourSolicitation { target, source_mac }) if self.has_addr6(target, iface) => {
                self.answer_solicitation(w, at, iface, ip.src(), target, source_mac);
            }
            // Who has another link address says so unasked (RFC 4861, section 7.2.5); who is not known is not learned that way.
            Ok(Repr::NeighbourAdvertisement { target, target_mac: Some(mac), replace, .. })
                if self.interfaces[iface.index()].asks_for(target.into())
                    || replace && self.mac_of(iface, target).is_some() =>
            {
                self.is_at(w, at, iface, target.into(), mac);
            }
            _ => {}
        }
        self.settle(w, at);
    }

    fn answer_solicitation<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        iface: IfaceId,
        asker: Ipv6Addr,
        target: Ipv6Addr,
        source_mac: Option<Mac>,
    ) {
        if asker.is_unspecified() {
            // Somebody wants the address and asks whether it is taken (RFC 4862, section 5.4).
            let frame = self.advertisement_to_all(w, at, iface, target);
            return self.go_on(w, at, frame);
        }
        if let Some(mac) = source_mac {
            self.is_at(w, at, iface, asker.into(), mac);
        }
        let Some(receiver) = source_mac.or_else(|| self.mac_of(iface, asker)) else { return };
        let to = (asker.into(), receiver);
        let answer = self.advertisement(iface, target, true);
        let frame = self.discovery_frame(w, at, answer, iface, (target, asker), to);
        self.go_on(w, at, frame);
    }

    /// An advertisement that nobody in particular asked for.
    pub(crate) fn advertisement_to_all<W: World>(
        &self,
        w: &mut W,
        at: Time,
        iface: IfaceId,
        target: Ipv6Addr,
    ) -> Frame {
        let ends = (target, ipv6::ALL_NODES);
        let to = (Addr::BROADCAST, ipv6::group_mac(ipv6::ALL_NODES));
        self.discovery_frame(w, at, self.advertisement(iface, target, false), iface, ends, to)
    }

    fn advertisement(&self, iface: IfaceId, target: Ipv6Addr, solicited: bool) -> Repr<'static> {
        let target_mac = Some(self.mac(iface));
        Repr::NeighbourAdvertisement { target, router: true, solicited, replace: true, target_mac }
    }
}
