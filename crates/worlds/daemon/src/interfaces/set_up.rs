//! Setting up the interfaces.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use wayhop_core::{DataPlane, IfaceId};
use wayhop_linux::ebpf::ForwardingPrograms;
use wayhop_linux::interface::{self, InterfaceFacts};
use wayhop_linux::netlink::{NeighbourNews, Netlink};
use wayhop_linux::{Error, Table};

use crate::config::plan::{InterfacesPlan, WayOut};
use crate::config::signal::SignalSource;
use crate::gateway::router::uplink_index;
use crate::interfaces::macfilter::MacFilter;
use crate::interfaces::mesh_interface::{MeshInterface, MeshInterfaces};
use crate::interfaces::programs::InterfacePrograms;
use crate::interfaces::settings::{LOOSE, WAY_BACK, interface_settings};
use crate::interfaces::signals::Signals;
use crate::interfaces::sockets::{open_sockets, silence, watch_tx_status};
use crate::kernel::addresses::has_address;
use crate::log::Log;
use crate::node::host::Host;
use crate::undo::{Undo, UndoChange};

/// The interfaces while they become the node's.
pub(crate) struct InterfaceSetup {
    plan: InterfacesPlan,
    /// With their names.
    pub(crate) facts: Vec<(String, InterfaceFacts)>,
    /// One for each, once they are open.
    programs: Vec<InterfacePrograms>,
    /// Where the kernel forwards to gateways: its table of the ways there.
    pub(crate) outside: Option<Table>,
}

/// The interfaces of these names.
pub(crate) fn look_at(names: &[String]) -> Result<Vec<(String, InterfaceFacts)>, Error> {
    let one = |name: &String| {
        let facts = interface::facts(name).map_err(|e| {
            let text = format!("interface {name}: {e}; `ip link` lists the interfaces of this host");
            // One that is not there is a wrong name.
            if e.raw_os_error() == Some(nix::libc::ENODEV) {
                Error::Config(text)
            } else {
                Error::System(text)
            }
        })?;
        Ok((name.clone(), facts))
    };
    names.iter().map(one).collect()
}

impl InterfaceSetup {
    pub(crate) fn find(plan: InterfacesPlan) -> Result<Self, Error> {
        Ok(Self { facts: look_at(&plan.names)?, plan, programs: Vec::new(), outside: None })
    }

    /// The longest packets that all of them carry.
    pub(crate) fn shortest_mtu(&self) -> usize {
        self.facts.iter().map(|(_, facts)| facts.mtu).min().unwrap_or(0)
    }

    /// Has programs stand at them, where the kernel forwards.
    pub(crate) fn open_programs(&mut self, host: &Host, tun: u32, log: &Log) -> Result<(), Error> {
        let indices = self.facts.iter().map(|(_, facts)| facts.index);
        let has_table = host.plane == DataPlane::Forwarding && matches!(self.plan.way_out, WayOut::Mesh);
        self.outside = has_table.then_some(Table::Outside(tun));
        let ways = match &self.plan.way_out {
            WayOut::None => Vec::new(),
            WayOut::Mesh => indices.chain([tun]).collect(),
            WayOut::Uplink(name) => vec![uplink_index(name)?],
        };
        let open = |(name, facts): &(String, InterfaceFacts)| {
            InterfacePrograms::open(&self.plan, host, (name, facts.index), &ways, log)
        };
        self.programs = self.facts.iter().map(open).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// What keeps the programs that watch in their places.
    pub(crate) fn program_places(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.programs.iter().filter_map(|p| p.forwarding.as_ref()).map(ForwardingPrograms::place)
    }

    /// Gives them the node's address and the settings of a mesh, free of what an earlier node left.
    pub(crate) fn take(
        &self,
        plane: DataPlane,
        netlink: &mut Netlink,
        undo: &mut Undo,
        log: &Log,
    ) -> Result<(), Error> {
        for ((name, facts), programs) in self.facts.iter().zip(&self.programs) {
            // What an earlier life left, if even its undoing was killed.
            let old =
                netlink.remove_all(facts.index).map_err(Error::system("remove an earlier node's routes"))?;
            if old > 0 {
                log.warning(format_args!("removed {old} routes left by an earlier node"));
            }
            netlink.free(name).map_err(Error::system("remove an earlier node's rules"))?;
            undo.note(name, UndoChange::Routes)?;
            if programs.need_rules(plane, self.outside) {
                undo.note(name, UndoChange::Rules)?;
                netlink
                    .confine(name, self.plan.addresses.mesh, self.outside)
                    .map_err(Error::system("confine packets from the interface to the mesh"))?;
            }
            self.address(name, facts.index, netlink, undo)?;
            // The host may become strict later.
            undo.remember(name, WAY_BACK, LOOSE)?;
            for (key, value) in interface_settings(name, plane) {
                undo.set(name, key, value)?;
            }
            if self.plan.addresses.own6.is_some() {
                // It would answer neighbour discovery, and forward, beside the node.
                undo.disable_ipv6(name)?;
            }
        }
        Ok(())
    }

    /// Gives one the node's address. That which somebody else gave it stays at the end.
    fn address(&self, name: &str, ifindex: u32, netlink: &mut Netlink, undo: &mut Undo) -> Result<(), Error> {
        let own = self.plan.addresses.own;
        if has_address(name, own)? {
            return Ok(());
        }
        undo.note(name, UndoChange::Address(own))?;
        netlink.add_address(own, ifindex).map_err(Error::system(format!("give {name} the node's address")))
    }

    /// Opens the sockets at all of them.
    pub(crate) fn attach(self, host: &mut Host, log: &Log) -> Result<MeshInterfaces, Error> {
        let Self { plan, facts, programs, outside } = self;
        let mut all = Vec::with_capacity(facts.len());
        for (iface, ((name, facts), mut programs)) in (0..).map(IfaceId).zip(facts.into_iter().zip(programs))
        {
            let silence = silence(host, &name)?;
            let sockets = open_sockets(host, &facts, programs.forwarding.as_ref())?;
            if host.plane == DataPlane::PerPacket {
                programs.close(&name, facts.index, log);
            }
            watch_tx_status(host, iface, &sockets, facts.index, log);
            let (is_up, is_gone, trouble) = (true, false, None);
            all.push(MeshInterface { name, facts, sockets, programs, silence, is_up, is_gone, trouble });
        }
        let missing = (host.plane == DataPlane::Forwarding)
            .then(NeighbourNews::open)
            .transpose()
            .map_err(Error::system("subscribe to unreachable neighbours"))?;
        let InterfacesPlan { names, addresses, macfilter, signals: signal_sources, .. } = plan;
        let (macfilter, signals) = (MacFilter::new(macfilter), Vec::new());
        Ok(MeshInterfaces { names, addresses, outside, all, missing, macfilter, signal_sources, signals })
    }
}

impl MeshInterfaces {
    /// Has threads tell with which power neighbours are received: by the driver's table of stations of each interface that has one,
    /// or by one monitor interface.
    pub(crate) fn begin_signals(&mut self, host: &mut Host, log: &Log) -> Result<(), Error> {
        for (a, source) in self.all.iter().zip(std::mem::take(&mut self.signal_sources)) {
            // Without wireless hardware there is no table of stations.
            let is_of_use = match &source {
                SignalSource::Stations(_) => a.facts.wireless,
                SignalSource::Monitor(_) => self.signals.is_empty(),
            };
            if is_of_use {
                let begun =
                    Signals::begin(source, log).map_err(Error::system("start a thread for signals"))?;
                self.signals.push(begun);
            }
        }
        host.signals = self.signals.iter().map(|_| Arc::default()).collect();
        Ok(())
    }
}
