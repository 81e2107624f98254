//! The node's interfaces on this host.

use socket2::Socket;
use wayhop_core::IfaceId;
use wayhop_linux::ebpf::{ClosedInterface, ForwardingPrograms, IgnoringProgram};
use wayhop_linux::interface::InterfaceFacts;
use wayhop_linux::packet_socket::PacketSockets;

use crate::node::host::Port;

/// One of them.
pub(crate) struct Attached {
    /// Its name in the kernel now: somebody may rename it.
    pub(crate) name: String,
    pub(crate) facts: InterfaceFacts,
    pub(crate) sockets: PacketSockets,
    /// Keeps from a kernel that forwards what ignored transmitters send.
    pub(crate) ignoring: Option<IgnoringProgram>,
    /// Keeps the mesh's packets within the mesh, and tells which routes of the kernel are used.
    pub(crate) ebpf: Option<ForwardingPrograms>,
    /// Where the kernel does not forward: keeps what comes by the interface from its IP.
    pub(crate) closed: Option<ClosedInterface>,
    /// Held for what the kernel does not do while they are open.
    pub(crate) silence: Vec<Socket>,
    /// Whether it is up.
    pub(crate) is_up: bool,
    /// Whether there is none any more. Then the node waits for one of the configured name.
    pub(crate) is_gone: bool,
    /// Why the one that is there again was not taken over.
    pub(crate) trouble: Option<String>,
}

/// The interfaces with their numbers in the node.
pub(crate) fn numbered(all: &mut [Attached]) -> impl Iterator<Item = (IfaceId, &mut Attached)> {
    (0..).map(IfaceId).zip(all)
}

/// What the node knows of an interface, with the metric that the configuration gives it. Without one, an interface that is no
/// radio is better.
pub(crate) fn port(name: &str, facts: &InterfaceFacts, metric: Option<u8>) -> Port {
    let metric = metric.unwrap_or(u8::from(facts.wireless));
    Port { name: name.to_owned(), mac: facts.mac, mtu: facts.mtu, metric }
}
