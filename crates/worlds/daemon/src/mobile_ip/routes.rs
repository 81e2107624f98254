//! The kernel addresses and routes that follow an application.

use std::io;
use std::net::Ipv4Addr;

use wayhop_core::{HomeRoute, LinkId};
use wayhop_linux::netlink::Netlink;
use wayhop_linux::{Prefix, Table, TunnelRoute};

/// The kernel's routes.
pub(super) struct Routes {
    pub(super) netlink: Netlink,
    /// The kernel's number of the tunnels' interface.
    tun: Option<u32>,
    /// The home address, once it had routes.
    home: Option<Ipv4Addr>,
}

impl Routes {
    pub(super) const fn new(netlink: Netlink, tun: Option<u32>) -> Self {
        Self { netlink, tun, home: None }
    }

    /// Removes what would not go with the tunnels' interface.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.home.map_or(Ok(()), |home| self.netlink.forget_source(home))
    }

    /// Leads packets for an address into the tunnels' interface, or no more.
    pub(super) fn intercept(&mut self, home: Ipv4Addr, is_away: bool) -> io::Result<()> {
        let Some(tun) = self.tun else { return Ok(()) };
        let host = Prefix::around(home, 32);
        if is_away {
            self.netlink.lead(Table::Main, host, TunnelRoute { router: None, ifindex: tun, source: None })
        } else {
            self.netlink.lead_no_more(Table::Main, host, tun)
        }
    }

    /// The mobile node's packets go there. `links`: where its home address may be, by the kernel's number, if their interfaces are there. (What went
    /// took its routes and addresses with it.)
    pub(super) fn attach(&mut self, to: &HomeRoute, links: &[(LinkId, u32)]) -> io::Result<()> {
        let (Some(tun), Some(addr)) = (self.tun, to.network.addr.v4()) else { return Ok(()) };
        let (home, net) = (to.addr, Prefix::around(addr, to.network.len));
        self.home = Some(home);
        let place = links.iter().find(|(link, _)| to.link == Some(*link)).map(|(_, index)| *index);
        let at_home = place.filter(|_| to.is_home);
        let source = Some(home);
        let (router, ifindex) = at_home.map_or((None, tun), |index| (Some(to.router), index));
        let (way, own) = (TunnelRoute { router, ifindex, source }, Table::Own(tun));
        if let Some(index) = place {
            self.netlink.add_address(home, index)?;
        }
        if let Some(ifindex) = at_home {
            let neighbours = TunnelRoute { router: None, ifindex, source };
            [Table::Main, own].into_iter().try_for_each(|t| self.netlink.lead(t, net, neighbours))?;
        }
        // Two halves of all addresses: more specific than any default route, which stays as it is.
        halves().into_iter().try_for_each(|half| self.netlink.lead(Table::Main, half, way))?;
        // What programs send from the home address goes the same way, also where a more specific route leads: a mesh knows the host by
        // another address, and drops what has this one.
        self.netlink.lead(own, Prefix::around(Ipv4Addr::UNSPECIFIED, 0), way)?;
        self.netlink.follow_source(home, own)?;
        for (_, index) in links {
            if at_home != Some(*index) {
                [Table::Main, own].into_iter().try_for_each(|t| self.netlink.lead_no_more(t, net, *index))?;
            }
            if place != Some(*index) {
                self.netlink.forget_address(home, *index)?;
            }
        }
        Ok(())
    }
}

fn halves() -> [Prefix; 2] {
    [Ipv4Addr::UNSPECIFIED, Ipv4Addr::new(128, 0, 0, 0)].map(|addr| Prefix::around(addr, 1))
}
