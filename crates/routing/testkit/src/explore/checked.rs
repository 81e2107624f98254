//! A protocol's interface for the search.

use std::hash::Hasher;
use std::net::Ipv4Addr;

use wayhop_core::{Protocol, TimerKey};
use wayhop_wire::{ipv4, udp};

use super::names::Names;

/// A protocol that can be explored.
pub trait Explorable: Protocol + Clone + Send + Sync + 'static {
    /// Whether the protocol does something when a transmission succeeds.
    const HEARS_SUCCESS: bool;
    /// Whether a node can be exchanged for another that feeds the same while what it sent is in flight: whether nothing in flight refers
    /// to what is not fed, such as numbers of transmissions. Then, of calls that are alike, the search makes one.
    const IS_EXCHANGEABLE: bool;

    /// Feeds everything that the node's future depends on. Two nodes that feed the same must behave the same; what makes no
    /// difference (counters that only name packets, the order of sets) should not be fed, or states multiply.
    fn digest(&self, to: &mut dyn Hasher);
    /// Feeds what matters of a packet.
    fn digest_packet(bytes: &[u8], to: &mut dyn Hasher);
    /// What tells a packet of the network layer from all others on its whole way, if its transmissions shall be counted
    /// ([`super::World::transmissions`]). The counts are part of the state.
    fn name(bytes: &[u8]) -> Option<u64> {
        let _ = bytes;
        None
    }
    /// What is wrong about a node's coming from one state to a later one of the same life, if anything: for what no single state shows.
    fn wrong_step(before: &Self, after: &Self) -> Option<&'static str> {
        let _ = (before, after);
        None
    }
    /// What the node knows of its way to others, for the story: (destination, text).
    fn knowledge(&self, names: Names) -> Vec<(Ipv4Addr, String)>;
    /// A message in words.
    fn describe(bytes: &[u8], names: Names) -> String;
    /// What a timer is for.
    fn timer(key: TimerKey, names: Names) -> String;
}

/// The payload of a datagram to this port.
pub fn datagram(packet: &[u8], port: u16) -> Option<&[u8]> {
    let datagram = udp::Packet::new_checked(ipv4::Packet::new_checked(packet).ok()?.payload()).ok()?;
    (datagram.dst_port() == port).then(|| datagram.payload())
}

/// Feeds a packet but for its IP identification and the checksum over it, for protocols that read neither.
pub fn digest_unnumbered(packet: &[u8], to: &mut dyn Hasher) {
    to.write(&packet[..4]);
    to.write(&packet[6..10]);
    to.write(&packet[12..]);
}
