//! Hosts for the tests of a node.

use std::net::Ipv4Addr;

use wayhop_core::{Configured, IfaceId, Mac, Purpose, Time, stream};
use wayhop_document::Document;
use wayhop_linux::Prefix;
use wayhop_scenario::Protocol;
use wayhop_testkit::{TestPacket, data_packet};

use crate::node::host::{Host, Port};

pub(super) const IFACE: IfaceId = IfaceId(0);

pub(super) fn address(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, n)
}
pub(super) fn mac(n: u8) -> Mac {
    Mac([2, 0, 10, 0, 0, n])
}

/// A node with this protocol, which has not begun; and the protocol.
pub(super) fn host(protocol: &str, n: u8) -> (Host, Configured, Protocol) {
    let section = Protocol { name: protocol.into(), ..Protocol::default() };
    let configured = section.resolve(&Document::default()).expect("a protocol");
    let port = Port { name: "wlan0".to_owned(), mac: mac(n), mtu: 1500, metric: 1 };
    let rng = stream(1, Purpose::Protocol, n.into());
    let host = Host::new(configured.engine(), address(n), Prefix::around(address(1), 24), port, rng);
    (host, configured, section)
}

pub(super) fn at(h: &mut Host, ms: u64) {
    h.at(Time::from_nanos(ms * 1_000_000));
    h.run_due();
}

/// A program sends a packet of this number from the first node to the second.
pub(super) fn data(h: &mut Host, number: u8) {
    let packet =
        TestPacket { source: address(1), destination: address(2), ttl: 64, ident: number.into(), port: 9 };
    h.packet_in(&data_packet(packet, &[number]));
}
