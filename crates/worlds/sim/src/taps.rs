//! The TAPs by which the kernels of a run's hosts send and receive frames, and the packets that those kernels are to forward.

use std::collections::VecDeque;
use std::hash::Hasher as _;

use rustc_hash::{FxHashMap, FxHasher};
use wayhop_core::{Addr, Mac, Packet, Span, Time};
use wayhop_wire::ip;

/// A kernel waits as long for a neighbour's link address, three seconds, and some more: what it has not forwarded by then, it
/// has dropped.
pub(crate) const LONGEST_STAY: Span = Span::from_secs(5);
/// Packets with a kernel that are remembered for each node.
const MAX_STAYING: usize = 4096;
/// Addresses of hosts, beside those of the scenario, that are remembered: a program may send from any number.
const MAX_ADDRESSES: usize = 4096;
/// Octets of a packet by which it is recognised.
const RECOGNISED_BY: usize = 128;

/// The TAPs of a run.
pub(crate) struct Taps {
    /// The nodes by their link addresses.
    pub(crate) stations: FxHashMap<Mac, u32>,
    /// By node: the packets that its kernel is to forward, in the order in which it got them.
    staying: Vec<VecDeque<Guest>>,
    /// Addresses of hosts that the scenario does not have.
    addresses: usize,
}

/// A packet that a kernel is to forward.
struct Guest {
    fingerprint: u64,
    since: Time,
    packet: Packet,
}

/// What tells a packet from others, on all of its way: the octets that no router changes. Those are all but IPv4's Type of
/// Service, Time to Live and checksum, and IPv6's Traffic Class and Hop Limit.
fn fingerprint(packet: &[u8]) -> u64 {
    let shown = &packet[..packet.len().min(RECOGNISED_BY)];
    let changes = |at: usize| match packet.first().map(|b| b >> 4) {
        Some(4) => matches!(at, 1 | 8 | 10 | 11),
        _ => matches!(at, 0 | 1 | 7),
    };
    let mut hasher = FxHasher::default();
    for (at, octet) in shown.iter().enumerate() {
        hasher.write_u8(if changes(at) { 0 } else { *octet });
    }
    hasher.finish()
}

impl Taps {
    pub(crate) fn new(stations: impl Iterator<Item = Mac>) -> Self {
        let stations: FxHashMap<Mac, u32> = stations.zip(0..).collect();
        let staying = (0..stations.len()).map(|_| VecDeque::new()).collect();
        Self { stations, staying, addresses: 0 }
    }

    /// The packets that are with a kernel.
    pub(crate) fn staying(&self) -> impl Iterator<Item = &Packet> {
        self.staying.iter().flatten().map(|guest| &guest.packet)
    }

    /// A node's kernel got a packet that it is to forward.
    pub(crate) fn keep(&mut self, now: Time, node: u32, packet: Packet) {
        let fingerprint = fingerprint(packet.bytes());
        self.staying[node as usize].push_back(Guest { fingerprint, since: now, packet });
    }

    /// The packet of these octets, if a node's kernel has it.
    pub(crate) fn take(&mut self, node: u32, packet: &[u8]) -> Option<Packet> {
        let fingerprint = fingerprint(packet);
        let here = &mut self.staying[node as usize];
        let at = here.iter().position(|guest| guest.fingerprint == fingerprint)?;
        here.remove(at).map(|guest| guest.packet)
    }

    /// Counts another address of a host; false if there are too many.
    pub(crate) fn learns_address(&mut self) -> bool {
        let is_room = self.addresses < MAX_ADDRESSES;
        self.addresses += usize::from(is_room);
        is_room
    }

    /// The next packet for an address that a node's kernel has.
    pub(crate) fn take_for(&mut self, node: u32, address: Addr) -> Option<Packet> {
        let here = &mut self.staying[node as usize];
        let is_for = |p: &Packet| ip::Packet::new_checked(p.bytes()).is_ok_and(|ip| ip.dst == address);
        let at = here.iter().position(|guest| is_for(&guest.packet))?;
        here.remove(at).map(|guest| guest.packet)
    }

    /// The next packet that a node's kernel will not forward any more.
    pub(crate) fn expired(&mut self, now: Time, node: u32) -> Option<Packet> {
        let here = &mut self.staying[node as usize];
        let first = here.front()?;
        let is_over = first.since + LONGEST_STAY < now || here.len() > MAX_STAYING;
        if is_over { here.pop_front().map(|guest| guest.packet) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_recognised_behind_a_router() {
        let mut v4 = [0; 28];
        v4[0] = 0x45;
        let mut later = v4;
        later[1..2].fill(3);
        later[8..9].fill(63);
        later[10..12].fill(9);
        assert_eq!(fingerprint(&v4), fingerprint(&later));
        later[5] = 1;
        assert_ne!(fingerprint(&v4), fingerprint(&later));
        let mut v6 = [0; 48];
        v6[0] = 0x60;
        let mut later = v6;
        later[7] = 63;
        assert_eq!(fingerprint(&v6), fingerprint(&later));
        later[40] = 1;
        assert_ne!(fingerprint(&v6), fingerprint(&later));
    }
}
