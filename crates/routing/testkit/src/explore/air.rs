//! What is in flight between the nodes of an explored world.

use std::hash::{DefaultHasher, Hasher};
use std::net::Ipv4Addr;
use std::sync::Arc;

use wayhop_core::{BROADCAST, Frame, IfaceId, Mac, Packet, Payload, Pool, Priority, Reporting, Time};

use super::checked::Explorable;
use super::topology::Topology;
use crate::packets::addr;

/// A frame on its way over one link.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The node that sent it.
    pub from: usize,
    /// The neighbour that it flies to; of a broadcast, each neighbour's copy flies alone.
    pub to: usize,
    /// Whether it was sent to all.
    pub broadcast: bool,
    /// What flies.
    pub packet: Arc<Packet>,
    pub(crate) reporting: Reporting,
    pub(crate) is_data: bool,
    pub(crate) sent: Time,
    /// Of the packet.
    pub(crate) digest: u64,
}

/// How often a packet was transmitted, by all nodes, as long as a copy of it exists.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transmissions {
    /// As [`Explorable::name`] says.
    pub name: u64,
    /// Transmissions, to one neighbour or to all of them.
    pub times: u16,
    /// How many of them were reported as failed, or given back before they were made.
    pub failed: u16,
    /// Whether the last was to all.
    pub to_all: bool,
}

/// All flights, and the links that are up.
#[derive(Clone, Debug)]
pub(crate) struct Air {
    /// Link by link; on each in the order of sending.
    pub(crate) flights: Vec<Flight>,
    pub(crate) up: Topology,
    pub(crate) now: Time,
    /// By name.
    pub(crate) counts: Vec<Transmissions>,
}

impl Flight {
    pub(crate) fn copy(&self) -> Packet {
        Pool::new().copy(&self.packet)
    }
}

impl Air {
    /// The counts of the packet of this name, if its transmissions are counted.
    pub(crate) fn count(&mut self, name: Option<u64>) -> Option<&mut Transmissions> {
        let name = name?;
        let at = match self.counts.binary_search_by_key(&name, |c| c.name) {
            Ok(at) => at,
            Err(at) => {
                self.counts.insert(at, Transmissions { name, times: 0, failed: 0, to_all: false });
                at
            }
        };
        Some(&mut self.counts[at])
    }

    /// Sends; gives back a unicast that failed at once.
    pub(crate) fn send<P: Explorable>(&mut self, from: usize, frame: Frame) -> Option<Frame> {
        let mut h = DefaultHasher::new();
        P::digest_packet(frame.packet.bytes(), &mut h);
        let broadcast = frame.next_hop == BROADCAST;
        let name = P::name(frame.packet.bytes());
        if let Some(c) = self.count(name) {
            (c.times, c.to_all) = (c.times + 1, broadcast);
        }
        let flight = Flight {
            from,
            to: 0,
            broadcast,
            packet: Arc::new(frame.packet.clone()),
            reporting: if broadcast { Reporting::Nobody } else { frame.reporting },
            is_data: frame.priority != Priority::Control,
            sent: self.now,
            digest: h.finish(),
        };
        let mut taken = false;
        for to in 0..self.up.nodes() {
            if (broadcast || addr(to) == frame.next_hop) && self.up.has(from, to) {
                self.insert(Flight { to, ..flight.clone() });
                taken = true;
            }
        }
        if taken || broadcast {
            return None;
        }
        if let Some(c) = self.count(name) {
            c.failed += 1;
        }
        Some(frame)
    }

    /// Adds a flight behind those of its link.
    pub(crate) fn insert(&mut self, flight: Flight) {
        let at = self.flights.partition_point(|f| (f.from, f.to) <= (flight.from, flight.to));
        self.flights.insert(at, flight);
    }

    /// The data packets that a node gives up for a neighbour. Its control messages may have left already, and are left where they
    /// are.
    pub(crate) fn recall<P: Explorable>(&mut self, from: usize, next_hop: Ipv4Addr) -> Vec<Frame> {
        let waits = |f: &mut Flight| f.from == from && addr(f.to) == next_hop && f.is_data && !f.broadcast;
        let taken: Vec<Flight> = self.flights.extract_if(.., waits).collect();
        for f in &taken {
            if let Some(c) = self.count(P::name(f.packet.bytes())) {
                c.failed += 1;
            }
        }
        taken.iter().filter(|f| f.is_reported()).map(Flight::frame).collect()
    }

    /// Whether an earlier frame flies on the same link.
    pub(crate) fn is_behind(&self, i: usize) -> bool {
        let f = &self.flights[i];
        i > 0 && (self.flights[i - 1].from, self.flights[i - 1].to) == (f.from, f.to)
    }
}

impl Flight {
    /// Whether its sender's protocol hears how it ends.
    pub(crate) fn is_reported(&self) -> bool {
        self.reporting != Reporting::Nobody
    }

    /// The frame as its sender sent it.
    pub(crate) fn frame(&self) -> Frame {
        let next_hop = addr(self.to);
        Frame {
            packet: self.copy(),
            payload: Payload::Ip,
            iface: IfaceId(0),
            next_hop: next_hop.into(),
            receiver: Mac::from_addr(next_hop),
            priority: if self.is_data { Priority::Data } else { Priority::Control },
            reporting: self.reporting,
            life: 0,
        }
    }
}
