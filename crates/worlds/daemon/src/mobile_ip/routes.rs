//! What of the kernel's addresses and routes follows an engine.

use std::io;
use std::net::Ipv4Addr;

use wayhop_linux::netlink::Netlink;
use wayhop_linux::{Prefix, Table, Way};
use wayhop_mobile_ip::{Attachment, LinkId};

/// The kernel's routes.
pub(super) struct Routes {
    netlink: Netlink,
    /// The kernel's number of the tunnels' interface.
    tun: Option<u32>,
    mobile: Option<Mobile>,
}

/// What a mobile node knows of its routes.
pub(super) struct Mobile {
    pub(super) home: Ipv4Addr,
    pub(super) net: Prefix,
    pub(super) router: Ipv4Addr,
    /// Links where the home address may be: their numbers, and the kernel's while their interfaces are there.
    pub(super) links: Vec<(LinkId, Option<u32>)>,
}

impl Routes {
    pub(super) const fn new(netlink: Netlink, tun: Option<u32>, mobile: Option<Mobile>) -> Self {
        Self { netlink, tun, mobile }
    }

    pub(super) const fn netlink(&mut self) -> &mut Netlink {
        &mut self.netlink
    }

    /// Removes what would not go with the tunnels' interface.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.mobile.as_ref().map_or(Ok(()), |m| self.netlink.forget_source(m.home))
    }

    /// The interface of a link has this number now, or is not there. What went took its routes and addresses with it.
    pub(super) fn follow(&mut self, link: LinkId, index: Option<u32>) {
        let links = self.mobile.iter_mut().flat_map(|m| &mut m.links);
        links.filter(|(l, _)| *l == link).for_each(|(_, i)| *i = index);
    }

    /// Leads packets for an address into the tunnels' interface, or no more.
    pub(super) fn intercept(&mut self, home: Ipv4Addr, is_away: bool) -> io::Result<()> {
        let Some(tun) = self.tun else { return Ok(()) };
        let host = Prefix::around(home, 32);
        if is_away {
            self.netlink.lead(Table::Main, host, Way { router: None, ifindex: tun, source: None })
        } else {
            self.netlink.lead_no_more(Table::Main, host, tun)
        }
    }

    /// The mobile node's packets go there.
    pub(super) fn attach(&mut self, to: Attachment) -> io::Result<()> {
        let (Some(m), Some(tun)) = (&self.mobile, self.tun) else { return Ok(()) };
        let place =
            to.link().and_then(|link| m.links.iter().find(|(l, _)| *l == link)).and_then(|(_, index)| *index);
        let at_home = place.filter(|_| matches!(to, Attachment::Home { .. }));
        let source = Some(m.home);
        let (router, ifindex) = at_home.map_or((None, tun), |index| (Some(m.router), index));
        let (way, own) = (Way { router, ifindex, source }, Table::Own(tun));
        if let Some(index) = place {
            self.netlink.add_address(m.home, index)?;
        }
        if let Some(ifindex) = at_home {
            let neighbours = Way { router: None, ifindex, source };
            [Table::Main, own].into_iter().try_for_each(|t| self.netlink.lead(t, m.net, neighbours))?;
        }
        // Two halves of all addresses: more specific than any default route, which stays as it is.
        halves().into_iter().try_for_each(|half| self.netlink.lead(Table::Main, half, way))?;
        // What programs send from the home address goes the same way, also where a more specific route leads: a mesh knows the host by
        // another address, and drops what has this one.
        self.netlink.lead(own, Prefix::around(Ipv4Addr::UNSPECIFIED, 0), way)?;
        self.netlink.follow_source(m.home, own)?;
        for index in m.links.iter().filter_map(|(_, index)| index.as_ref()) {
            if at_home != Some(*index) {
                [Table::Main, own]
                    .into_iter()
                    .try_for_each(|t| self.netlink.lead_no_more(t, m.net, *index))?;
            }
            if place != Some(*index) {
                remove_address(&mut self.netlink, m.home, *index)?;
            }
        }
        Ok(())
    }
}

fn halves() -> [Prefix; 2] {
    [Ipv4Addr::UNSPECIFIED, Ipv4Addr::new(128, 0, 0, 0)].map(|addr| Prefix::around(addr, 1))
}

/// One that is not there need not be removed.
fn remove_address(netlink: &mut Netlink, addr: Ipv4Addr, index: u32) -> io::Result<()> {
    use nix::libc::{EADDRNOTAVAIL, ENODEV};
    match netlink.remove_address(addr, index) {
        Err(e) if !matches!(e.raw_os_error(), Some(EADDRNOTAVAIL | ENODEV)) => Err(e),
        _ => Ok(()),
    }
}
