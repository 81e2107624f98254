//! Routes of networks by an interface, which follow a host that moves.

use std::io;
use std::net::Ipv4Addr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteFlags, RouteScope};

use crate::netlink::{Netlink, route_to};
use crate::prefix::Prefix;

impl Netlink {
    /// Leads a network by an interface: by a router there, or straight to its hosts. A route of the same network is replaced, so
    /// that no packet finds none meanwhile.
    pub fn lead(
        &mut self,
        net: Prefix,
        router: Option<Ipv4Addr>,
        ifindex: u32,
        source: Option<Ipv4Addr>,
    ) -> io::Result<()> {
        let mut m = route_to(net.network(), net.len(), ifindex);
        match router {
            Some(router) => {
                m.header.flags = RouteFlags::Onlink;
                m.attributes.push(RouteAttribute::Gateway(RouteAddress::Inet(router)));
            }
            None => m.header.scope = RouteScope::Link,
        }
        m.attributes.extend(source.map(|s| RouteAttribute::PrefSource(RouteAddress::Inet(s))));
        self.order(RouteNetlinkMessage::NewRoute(m), NLM_F_CREATE | NLM_F_REPLACE)
    }

    /// Removes the route of a network by an interface that this program made, if there is one.
    pub fn lead_no_more(&mut self, net: Prefix, ifindex: u32) -> io::Result<()> {
        let mut m = route_to(net.network(), net.len(), ifindex);
        // Any scope.
        m.header.scope = RouteScope::NoWhere;
        match self.order(RouteNetlinkMessage::DelRoute(m), 0) {
            Err(e) if !matches!(e.raw_os_error(), Some(libc::ESRCH | libc::ENODEV)) => Err(e),
            _ => Ok(()),
        }
    }
}
