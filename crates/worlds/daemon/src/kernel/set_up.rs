//! The mesh's part of this host's kernel: the TUN for programs, the node's addresses, and routes.

use std::fs;

use wayhop_linux::netlink::Netlink;
use wayhop_linux::{Error, Table, Tun, interface};

use crate::config::plan::KernelPlan;
use crate::interfaces::settings::{tun_settings, write_settings};
use crate::ipv6::tun6;
use crate::kernel::addresses;
use crate::kernel::routes::{self, KernelRoutes};
use crate::undo::{DISABLE_IPV6, Undo, UndoChange};

/// What the node has of the kernel.
pub(crate) struct Kernel {
    pub(crate) plan: KernelPlan,
    pub(crate) tun: Tun,
    /// Its name now: somebody may rename it.
    pub(crate) tun_name: String,
    pub(crate) netlink: Netlink,
    pub(crate) routes: KernelRoutes,
    /// Where the kernel forwards to gateways: its table of the ways there.
    pub(crate) outside: Option<Table>,
    /// How long packets may be, as the protocol knows it, bytes.
    pub(crate) protocol_mtu: usize,
}

impl Kernel {
    /// Makes the TUN, if nothing stands against the mesh. The interfaces carry packets of the length `shortest`.
    pub(crate) fn open(plan: KernelPlan, shortest: usize) -> Result<Self, Error> {
        addresses::check(&plan, false)?;
        Ok(Self {
            netlink: Netlink::open().map_err(Error::system("open a netlink socket"))?,
            tun: Tun::make(&plan.tun, plan.mtu.of_tun(shortest))?,
            tun_name: plan.tun.clone(),
            routes: KernelRoutes::default(),
            outside: None,
            protocol_mtu: shortest,
            plan,
        })
    }

    /// Makes the TUN the interface by which programs of this host reach the mesh, and what is outside of it by gateways. It gets the node's
    /// address after the mesh's interfaces: of interfaces with one address the kernel finds the last, and a program that joins a group by
    /// the node's address means the TUN.
    pub(crate) fn prepare(&mut self, outside: Option<Table>, undo: &mut Undo) -> Result<(), Error> {
        undo.set("all", "send_redirects", "0")?;
        self.outside = outside;
        let Self { plan, tun, netlink, .. } = self;
        let (name, own) = (&plan.tun, &plan.addresses);
        netlink
            .add_network_address(own.own, own.mesh.len(), tun.index())
            .map_err(Error::system(format!("give {name} the node's address")))?;
        write_settings(name, tun_settings(plan.forwards))?;
        if own.own6.is_some() {
            let mtu = usize::from(plan.mtu.of_tun(self.protocol_mtu));
            tun6::prepare(tun, name, own, mtu, netlink)?;
        } else {
            // The mesh carries IPv4; a kernel without IPv6 has no such file.
            let _ = fs::write(interface::ipv6_setting(name, DISABLE_IPV6), "1");
        }
        for p in &plan.by_gateways {
            for table in [Some(Table::Main), outside].into_iter().flatten() {
                routes::lead(table, *p, own.own, tun.index(), netlink)
                    .map_err(Error::system(format!("add a route to {p} by {name}")))?;
            }
        }
        if outside.is_some() {
            undo.note("", UndoChange::OwnOutside(tun.index()))?;
            netlink
                .lead_own_outside(tun.index())
                .map_err(Error::system("add rules for packets from this host to the outside"))?;
        }
        Ok(())
    }
}
