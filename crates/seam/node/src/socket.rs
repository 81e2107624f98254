//! Which engine a packet from the medium is for.

use wayhop_core::{IfaceId, Opened, Socket};
use wayhop_wire::ipv4::protocol;
use wayhop_wire::udp;

/// The open sockets of a node's engines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sockets {
    open: Vec<(u8, Opened)>,
}

impl Sockets {
    pub(crate) fn open(&mut self, engine: u8, opened: Opened) {
        if !self.open.contains(&(engine, opened)) {
            // Engines open one or two: a list that grows as it likes begins with room for four.
            self.open.reserve_exact(1);
            self.open.push((engine, opened));
        }
    }
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }
    /// Reads what a search begins with.
    #[inline]
    pub(crate) fn touch(&self) -> u8 {
        self.open.first().map_or(0, |(engine, _)| *engine)
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Opened> {
        self.open.iter().map(|(_, o)| o)
    }

    /// The engine, among those that want such packets, that listens to one of this protocol with this payload.
    #[inline]
    pub(crate) fn engine_for(
        &self,
        ip_protocol: u8,
        payload: &[u8],
        iface: IfaceId,
        wants_family: impl Fn(u8) -> bool,
    ) -> Option<u8> {
        let here = |o: &Opened| o.iface == IfaceId::ANY || o.iface == iface;
        let wants = |o: &Opened| match o.socket {
            Socket::Udp(port) => {
                ip_protocol == protocol::UDP
                    && udp::Packet::new_checked(payload).is_ok_and(|u| u.dst_port() == port)
            }
            Socket::Ip(number) => ip_protocol == number,
            Socket::Group(_) => false,
        };
        self.open.iter().find(|(e, o)| here(o) && wants(o) && wants_family(*e)).map(|(engine, _)| *engine)
    }

    /// Whether an engine joined this multicast group.
    pub(crate) fn has_joined(&self, group: wayhop_core::Addr, iface: IfaceId) -> bool {
        let here = |o: &Opened| o.iface == IfaceId::ANY || o.iface == iface;
        self.open.iter().any(|(_, o)| here(o) && o.socket == Socket::Group(group))
    }
}
