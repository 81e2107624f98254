//! Routes of networks by an interface, which follow a host that moves.

use std::io;
use std::net::Ipv4Addr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteFlags, RouteScope};

use crate::netlink::{Netlink, route_to};
use crate::prefix::Prefix;
use crate::routing_table::Table;

/// How packets leave.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TunnelRoute {
    /// The router that they go to; without one, straight to their destinations.
    pub router: Option<Ipv4Addr>,
    /// The interface's number.
    pub ifindex: u32,
    /// The source of those that have none yet.
    pub source: Option<Ipv4Addr>,
}

impl Netlink {
    /// Leads a network by an interface. A route of the same network in the table is replaced, so that no packet finds none
    /// meanwhile.
    pub fn lead(&mut self, table: Table, net: Prefix, way: TunnelRoute) -> io::Result<()> {
        let mut m = table.of(route_to(net.network(), net.len(), way.ifindex));
        match way.router {
            Some(router) => {
                m.header.flags = RouteFlags::Onlink;
                m.attributes.push(RouteAttribute::Gateway(RouteAddress::Inet(router)));
            }
            None => m.header.scope = RouteScope::Link,
        }
        m.attributes.extend(way.source.map(|s| RouteAttribute::PrefSource(RouteAddress::Inet(s))));
        self.order(RouteNetlinkMessage::NewRoute(m), NLM_F_CREATE | NLM_F_REPLACE)
    }

    /// Removes the route of a network by an interface that this program made, if there is one.
    pub fn lead_no_more(&mut self, table: Table, net: Prefix, ifindex: u32) -> io::Result<()> {
        let mut m = table.of(route_to(net.network(), net.len(), ifindex));
        // Any scope.
        m.header.scope = RouteScope::NoWhere;
        match self.order(RouteNetlinkMessage::DelRoute(m), 0) {
            Err(e) if !matches!(e.raw_os_error(), Some(libc::ESRCH | libc::ENODEV)) => Err(e),
            _ => Ok(()),
        }
    }
}
