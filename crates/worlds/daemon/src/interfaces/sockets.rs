//! The sockets of an interface, and the traffic that they receive or keep from the kernel.

use socket2::{SockFilter, Socket};
use wayhop_core::{IfaceId, Socket as ProtocolSocket};
use wayhop_linux::ebpf::ForwardingPrograms;
use wayhop_linux::interface::InterfaceFacts;
use wayhop_linux::packet_socket::{ETHERTYPE_IPV6, PacketSockets, Silence};
use wayhop_linux::{Error, filter, wifi};

use crate::log::Log;
use crate::node::host::Host;

/// Which frames a node takes from the interface: the protocol's, and all of IPv6 if it has an address of it.
fn frames_of(host: &Host) -> Vec<SockFilter> {
    let of_ipv6 = host.node.addr6().map(|_| filter::ethertype(ETHERTYPE_IPV6));
    filter::any_of(of_ipv6.into_iter().chain(host.sockets().filter_map(|socket| match socket {
        ProtocolSocket::Udp(port) => Some(filter::udp_port(port)),
        ProtocolSocket::Ip(number) => Some(filter::ip_protocol(number)),
        // It says where packets are sent, and not what they are.
        ProtocolSocket::Group(_) => None,
    })))
}

/// Opens the sockets at an interface; the programs there let pass what they send.
pub(crate) fn open_sockets(
    host: &Host,
    facts: &InterfaceFacts,
    programs: Option<&ForwardingPrograms>,
) -> Result<PacketSockets, Error> {
    let (overhear, mark) = (host.interests.overhear, programs.map(ForwardingPrograms::mark));
    let sockets = PacketSockets::open(facts.index, facts.mtu, frames_of(host), overhear, mark)?;
    if host.node.addr6().is_some() {
        sockets.hear_groups(facts.index)?;
    }
    Ok(sockets)
}

/// Keeps the kernel from answering packets of the protocol with errors.
pub(crate) fn silence(host: &Host, interface: &str) -> Result<Vec<Socket>, Error> {
    let silences = host.sockets().filter_map(|socket| match socket {
        ProtocolSocket::Udp(port) => Some(Silence::Port(port)),
        ProtocolSocket::Ip(number) => Some(Silence::Protocol(number)),
        ProtocolSocket::Group(_) => None,
    });
    silences.map(|s| s.open(interface)).collect()
}

/// Has the driver of an interface tell what became of unicasts, if it says that it does.
pub(crate) fn watch_tx_status(
    host: &mut Host,
    iface: IfaceId,
    sockets: &PacketSockets,
    ifindex: u32,
    log: &Log,
) {
    match wifi::reports_transmit_status(ifindex) {
        Ok(Some(true)) => match sockets.enable_tx_status() {
            Ok(()) => host.line(iface).tx_statuses.watch(),
            Err(e) => {
                log.warning(format_args!("the kernel does not report transmit status: {e}"));
            }
        },
        Ok(Some(false)) => {
            log.info(
                "the driver does not report transmit status; the protocol uses its own acknowledgements",
            );
        }
        Ok(None) => {}
        Err(e) => log.warning(format_args!("nl80211 does not answer: {e}")),
    }
}
