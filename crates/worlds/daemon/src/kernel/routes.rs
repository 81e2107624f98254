//! The kernel's copy of the forwarding table, with the interface of each route.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

use rustc_hash::FxHashMap;
use wayhop_core::{IfaceId, Prefix, Route, Span, Time};
use wayhop_linux::Table;
use wayhop_linux::listing::KernelRoute;
use wayhop_linux::netlink::Netlink;

use crate::interfaces::mesh_interface::MeshInterface;
use crate::log::Log;
use crate::node::host::Host;

/// How often to look by which interfaces neighbours are reached, where there are several.
const CHOICE_EVERY: Span = Span::from_secs(1);

/// A route as the kernel was told it.
#[derive(Copy, Clone)]
struct HostRoute {
    /// The kernel's number of the interface.
    ifindex: u32,
    /// Whether it took the route.
    is_taken: bool,
}

/// What the kernel was told.
#[derive(Default)]
pub(crate) struct KernelRoutes {
    /// By destination.
    by: FxHashMap<Ipv4Addr, HostRoute>,
    next_choice: Time,
}

impl KernelRoutes {
    /// When to look whether neighbours are reached by other interfaces than the routes say.
    pub(crate) fn next(&self, host: &Host) -> Option<Time> {
        let is_needed = host.node.is_up() && host.lines.len() > 1 && !host.around.routes.is_empty();
        is_needed.then_some(self.next_choice)
    }

    /// Has the kernel have what changed in the forwarding table.
    pub(crate) fn change(
        &mut self,
        host: &mut Host,
        (netlink, outside): (&mut Netlink, Option<Table>),
        attached: &[MeshInterface],
        log: &Log,
    ) {
        let changes = std::mem::take(&mut host.around.route_changes);
        for change in changes {
            let (outcome, by) = match change {
                // It gets them all when the node comes back.
                Ok(_) if !host.node.is_up() => continue,
                Ok(r) => {
                    let by = chosen(host, attached, &r);
                    log.debug(format_args!("route to {} by {}", r.destination, r.next_hop));
                    let (Some(to), Some(via)) = (r.destination.addr.v4(), r.next_hop.v4()) else { continue };
                    let ifindex = by.facts.index;
                    let outcome =
                        netlink.install((place(host, outside, to), to), via, ifindex, host.around.addr);
                    self.by.insert(to, HostRoute { ifindex, is_taken: outcome.is_ok() });
                    (outcome, by)
                }
                Err(destination) => {
                    log.debug(format_args!("route to {destination} removed"));
                    let Some(to) = destination.addr.v4() else { continue };
                    let index = self.by.remove(&to).map(|told| told.ifindex);
                    let by = attached.iter().find(|a| Some(a.facts.index) == index).unwrap_or(&attached[0]);
                    (netlink.remove((place(host, outside, to), to), by.facts.index), by)
                }
            };
            if let Err(e) = outcome
                && by.is_up
                && e.raw_os_error() != Some(nix::libc::ESRCH)
            {
                log.warning(format_args!("the kernel rejected a change of routes: {e}"));
            }
        }
    }

    /// Whether the kernel is to have a route to the destination of this one.
    pub(crate) fn has(&self, route: &KernelRoute) -> bool {
        matches!(route.to, IpAddr::V4(to) if route.prefix_len == 32 && self.by.contains_key(&to))
    }

    /// Routes by an interface that the kernel took, and that are not among those that it has.
    pub(crate) fn missing<'a>(
        &'a self,
        host: &'a Host,
        outside: Option<Table>,
        ifindex: u32,
        present: &'a HashSet<KernelRoute>,
    ) -> impl Iterator<Item = Route> + 'a {
        host.around.routes.values().copied().filter(move |r| {
            let Some(to) = r.destination.addr.v4() else { return false };
            let is_told = self.by.get(&to).is_some_and(|t| t.is_taken && t.ifindex == ifindex);
            let table = place(host, outside, to);
            let (to, via) = (IpAddr::V4(to), Some(r.next_hop.ip()));
            is_told
                && !present.contains(&KernelRoute { table, to, prefix_len: 32, via, ifindex, is_ours: true })
        })
    }

    /// Neighbours may be reached by other interfaces than the kernel's routes say: replaces these routes.
    pub(crate) fn choose_again(&mut self, host: &mut Host, attached: &[MeshInterface]) {
        self.next_choice = host.now() + CHOICE_EVERY;
        let told = |to: Prefix| self.by.get(&to.addr.v4()?);
        let is_other = |r: &&Route| {
            told(r.destination).is_some_and(|t| t.ifindex != chosen(host, attached, r).facts.index)
        };
        let other: Vec<Route> = host.around.routes.values().filter(is_other).copied().collect();
        host.around.route_changes.extend(other.into_iter().map(Ok));
    }
}

/// Has programs of this host reach by the mesh a network that is outside of it. The route goes with the TUN.
pub(crate) fn lead(
    table: Table,
    to: Prefix,
    own: Ipv4Addr,
    tun: u32,
    netlink: &mut Netlink,
) -> io::Result<()> {
    let network =
        Ipv4Addr::try_from(to.addr).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
    netlink.outside(table, wayhop_linux::Prefix::around(network, to.len), tun, own)
}

/// The table for routes to an address. This host's own routes to what is outside of the mesh have nothing to do with the mesh's.
fn place(host: &Host, outside: Option<Table>, to: Ipv4Addr) -> Table {
    outside.filter(|_| !host.around.is_in_mesh(to)).unwrap_or(Table::Main)
}

/// The interface by which a route goes.
fn chosen<'a>(host: &Host, attached: &'a [MeshInterface], route: &Route) -> &'a MeshInterface {
    let iface =
        if route.iface == IfaceId::ANY { host.node.interface_to(route.next_hop) } else { route.iface };
    attached.get(iface.index()).unwrap_or(&attached[0])
}
