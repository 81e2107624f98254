//! Checks that the kernel still has the node's TUN, addresses and routes.

use std::collections::HashSet;
use std::net::IpAddr;

use wayhop_core::Route;
use wayhop_linux::listing::{Address, KernelRoute, LinkInfo};
use wayhop_linux::{Error, Table, interface};

use crate::interfaces::mesh_interface::MeshInterfaces;
use crate::interfaces::settings::tun_settings;
use crate::ipv6::tun6;
use crate::kernel::addresses;
use crate::kernel::repairs::HostRepairs;
use crate::kernel::routes;
use crate::kernel::set_up::Kernel;
use crate::log::Log;
use crate::node::host::Host;
use crate::undo::DISABLE_IPV6;

impl Kernel {
    /// Settings of all interfaces, and of the TUN.
    pub(crate) fn check_settings(&self, repairs: &mut HostRepairs, host: &mut Host) -> Result<(), Error> {
        let all = ("send_redirects", "all");
        repairs.keep(host, &interface::ipv4_setting(all.1, all.0), all, "0")?;
        let name = &self.tun_name;
        for (key, value) in tun_settings(self.plan.forwards) {
            repairs.keep(host, &interface::ipv4_setting(name, key), (key, name), value)?;
        }
        let has_ipv6 = self.plan.addresses.own6.is_some();
        let (key, value) = if has_ipv6 { ("accept_ra", "0") } else { (DISABLE_IPV6, "1") };
        repairs.keep(host, &interface::ipv6_setting(name, key), (key, name), value)
    }

    /// The rules for what this host sends to the outside.
    pub(crate) fn check_rules(&mut self, repairs: &mut HostRepairs, host: &mut Host) -> Result<(), Error> {
        let index = self.tun.index();
        if self.outside.is_none()
            || self.netlink.leads_own_outside(index).map_err(Error::system("list the rules of this host"))?
        {
            return Ok(());
        }
        let outcome = self.netlink.lead_own_outside(index);
        repairs.tried(host, "the rules for packets from this host", "restored", outcome)
    }

    /// The TUN itself. One that is removed ends the node elsewhere. Returns whether its routes may be gone.
    pub(crate) fn check_tun(
        &mut self,
        links: &[LinkInfo],
        shortest: Option<usize>,
        repairs: &mut HostRepairs,
        host: &mut Host,
        log: &Log,
    ) -> Result<bool, Error> {
        let Some(link) = links.iter().find(|l| l.index == self.tun.index()) else { return Ok(false) };
        if link.name != self.tun_name {
            let old = std::mem::replace(&mut self.tun_name, link.name.clone());
            let done = format!("programs use {}", link.name);
            repairs.repaired(host, &format!("the name of {old}"), &done)?;
        }
        if let Some(mtu) = self.resize_tun(shortest, link.mtu)? {
            let (name, was) = (&link.name, link.mtu);
            let done = format!("the MTU of {name} is now {mtu} (was {was})");
            log.info(&done);
        }
        if !host.node.is_up() || link.is_set_up {
            return Ok(false);
        }
        let what = format!("the state of {}", link.name);
        repairs.tried(host, &what, "set up again", self.tun.set_up(true))?;
        Ok(true)
    }

    /// Addresses of the interfaces and of the TUN, and those that stand in the way. Returns whether routes may be gone.
    pub(crate) fn check_addresses(
        &mut self,
        links: &[LinkInfo],
        interfaces: &MeshInterfaces,
        repairs: &mut HostRepairs,
        host: &mut Host,
    ) -> Result<bool, Error> {
        let Self { plan, tun, tun_name: name, netlink, .. } = self;
        let (own, len) = (plan.addresses.own, plan.addresses.mesh.len());
        let present = netlink.addresses().map_err(Error::system("list the addresses of this host"))?;
        let index = tun.index();
        for a in &present {
            let IpAddr::V4(addr) = a.addr else { continue };
            if let Some(link) = links.iter().find(|l| l.index == a.ifindex && l.index != index) {
                let is_in_mesh = interfaces.has(a.ifindex);
                addresses::check_overlap(&plan.addresses, &link.name, (addr, a.prefix_len), is_in_mesh)
                    .map_err(|e| Error::System(format!("the node exits: {e}")))?;
            }
        }
        let lacks = |ifindex, addr, prefix_len| !present.contains(&Address { ifindex, addr, prefix_len });
        let mut routes = false;
        for a in interfaces.present().filter(|a| lacks(a.facts.index, own.into(), 32)) {
            let what = format!("the address {own} of {}", a.name);
            repairs.tried(host, &what, "restored", netlink.add_address(own, a.facts.index))?;
            routes = true;
        }
        if lacks(index, own.into(), len) {
            let what = format!("the address {own}/{len} of {name}");
            let outcome = netlink.add_network_address(own, len, index);
            repairs.tried(host, &what, "restored", outcome)?;
            routes = true;
        }
        if let Some((own, len)) = plan.addresses.own6.filter(|(own, len)| lacks(index, (*own).into(), *len)) {
            let mtu = links.iter().find(|l| l.index == index).map_or(0, |l| l.mtu);
            tun6::prepare(tun, name, &plan.addresses, mtu, netlink)?;
            repairs.repaired(host, &format!("the address {own}/{len} of {name}"), "restored")?;
        }
        Ok(routes)
    }

    /// Routes: to the mesh by the TUN, and those that the protocol made.
    pub(crate) fn check_routes(
        &mut self,
        interfaces: &MeshInterfaces,
        repairs: &mut HostRepairs,
        host: &mut Host,
    ) -> Result<(), Error> {
        let Self { plan, tun, tun_name: name, netlink, outside, .. } = self;
        let index = tun.index();
        let present = netlink.routes(|r| r.is_ours || r.ifindex == index);
        let present: HashSet<KernelRoute> =
            present.map_err(Error::system("list the routes of this host"))?.into_iter().collect();
        let leads_in = |table, to: IpAddr, len| {
            present.iter().any(|r| (r.table, r.to, r.prefix_len, r.ifindex) == (table, to, len, index))
        };
        let leads = |to, len| leads_in(Table::Main, to, len);
        let (own, mesh) = (plan.addresses.own, plan.addresses.mesh);
        if !leads(mesh.network().into(), mesh.len()) {
            let what = format!("the route to the mesh by {name}");
            repairs.tried(host, &what, "restored", netlink.connected(mesh, index, own))?;
        }
        let tables = [Some((Table::Main, "this host's")), outside.map(|table| (table, "the mesh's"))];
        for (table, whose) in tables.into_iter().flatten() {
            for p in plan.by_gateways.iter().filter(|p| !leads_in(table, p.addr.ip(), p.len)) {
                let what = format!("{whose} route to {p} by {name}");
                let outcome = routes::lead(table, *p, own, index, netlink);
                repairs.tried(host, &what, "restored", outcome)?;
            }
        }
        if let Some((own, routed)) = plan.addresses.networks6() {
            for to in std::iter::once(own).chain(routed.filter(|to| to.addr.v6().is_some())) {
                if !leads(to.addr.ip(), to.len) {
                    tun6::lead(to, tun, name, netlink)?;
                    repairs.repaired(host, &format!("the route to {to} by {name}"), "restored")?;
                }
            }
        }
        for a in &interfaces.all {
            let missing: Vec<Route> =
                self.routes.missing(host, self.outside, a.facts.index, &present).collect();
            if a.is_up && !missing.is_empty() {
                let what = format!("the routes by {}", a.name);
                let done = format!("{} restored", missing.len());
                host.around.route_changes.extend(missing.into_iter().map(Ok));
                repairs.repaired(host, &what, &done)?;
            }
        }
        Ok(())
    }
}
