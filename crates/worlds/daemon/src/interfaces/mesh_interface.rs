//! The node's interfaces on this host.

use socket2::Socket;
use wayhop_core::IfaceId;
use wayhop_linux::Table;
use wayhop_linux::interface::InterfaceFacts;
use wayhop_linux::netlink::NeighbourNews;
use wayhop_linux::packet_socket::PacketSockets;

use crate::config::plan::Addresses;
use crate::config::signal::SignalSource;
use crate::interfaces::macfilter::MacFilter;
use crate::interfaces::programs::InterfacePrograms;
use crate::interfaces::signals::Signals;
use crate::node::host::Port;

/// All of them, and who is heard by them.
pub(crate) struct MeshInterfaces {
    /// As the configuration names them.
    pub(crate) names: Vec<String>,
    pub(crate) addresses: Addresses,
    /// Where the kernel forwards to gateways: its table of the ways there.
    pub(crate) outside: Option<Table>,
    /// In the order of their numbers in the node.
    pub(crate) all: Vec<MeshInterface>,
    /// Where the kernel forwards: neighbours that it does not find.
    pub(crate) missing: Option<NeighbourNews>,
    /// Whom the node ignores.
    pub(crate) macfilter: MacFilter,
    /// Who is to tell with which power neighbours are received, until it does.
    pub(crate) signal_sources: Vec<SignalSource>,
    pub(crate) signals: Vec<Signals>,
}

pub(crate) struct MeshInterface {
    /// Its name in the kernel now: somebody may rename it.
    pub(crate) name: String,
    pub(crate) facts: InterfaceFacts,
    pub(crate) sockets: PacketSockets,
    pub(crate) programs: InterfacePrograms,
    /// Held for what the kernel does not do while they are open.
    pub(crate) silence: Vec<Socket>,
    /// Whether it is up.
    pub(crate) is_up: bool,
    /// Whether there is none any more. Then the node waits for one of the configured name.
    pub(crate) is_gone: bool,
    /// Why the one that is there again was not taken over.
    pub(crate) trouble: Option<String>,
}

impl MeshInterfaces {
    /// With their numbers in the node.
    pub(crate) fn numbered(&mut self) -> impl Iterator<Item = (IfaceId, &mut MeshInterface)> {
        (0..).map(IfaceId).zip(&mut self.all)
    }

    pub(crate) fn present(&self) -> impl Iterator<Item = &MeshInterface> {
        self.all.iter().filter(|a| !a.is_gone)
    }

    /// Whether the interface of this number is one of them.
    pub(crate) fn has(&self, ifindex: u32) -> bool {
        self.present().any(|a| a.facts.index == ifindex)
    }

    /// The longest packets that all of them carry.
    pub(crate) fn shortest_mtu(&self) -> Option<usize> {
        self.present().map(|a| a.facts.mtu).min()
    }
}

/// What the node knows of an interface, with the metric that the configuration gives it. Without one, an interface that is no
/// radio is better.
pub(crate) fn port(name: &str, facts: &InterfaceFacts, metric: Option<u8>) -> Port {
    let metric = metric.unwrap_or(u8::from(facts.wireless));
    Port { name: name.to_owned(), mac: facts.mac, mtu: facts.mtu, metric }
}
