//! Packets that wait for a route: the Send Buffer of RFC 4728 (section 4.2), which RFC 3561 (section 6.3) asks for, too.

use core::net::Ipv4Addr;
use std::collections::VecDeque;

use crate::{Packet, Span, Time};

/// A packet that waits.
#[derive(Clone)]
pub struct WaitingPacket<S = ()> {
    /// The packet.
    pub packet: Packet,
    /// Where it goes.
    pub destination: Ipv4Addr,
    /// Since when it waits.
    pub since: Time,
    /// What its protocol knows of it.
    pub state: S,
}

/// A queue of bounded length and bounded waiting time, for all destinations together, first in, first out.
#[derive(Clone)]
pub struct SendBuffer<S = ()> {
    queue: VecDeque<WaitingPacket<S>>,
    capacity: usize,
    timeout: Span,
}

impl<S> SendBuffer<S> {
    /// One for this many packets, each of which may wait this long.
    pub const fn new(capacity: usize, timeout: Span) -> Self {
        Self { queue: VecDeque::new(), capacity, timeout }
    }
    /// Changes the bounds, for waiting packets as well: take what exceeds them now.
    pub fn bound(&mut self, capacity: usize, timeout: Span) {
        (self.capacity, self.timeout) = (capacity, timeout);
    }

    /// Appends a packet. Take what is too much then.
    pub fn push(&mut self, p: WaitingPacket<S>) {
        self.queue.push_back(p);
    }
    /// Takes the oldest packet if there are more than there is room for.
    pub fn take_excess(&mut self) -> Option<Packet> {
        (self.queue.len() > self.capacity).then(|| self.queue.pop_front()).flatten().map(|w| w.packet)
    }
    /// Takes the oldest packet for this destination if there are more than `limit` for it.
    pub fn take_excess_for(&mut self, destination: Ipv4Addr, limit: usize) -> Option<Packet> {
        let waiting = self.queue.iter().filter(|w| w.destination == destination).count();
        if waiting > limit { self.take(destination) } else { None }
    }
    /// Takes the oldest packet for a destination.
    pub fn take(&mut self, destination: Ipv4Addr) -> Option<Packet> {
        let at = self.queue.iter().position(|w| w.destination == destination)?;
        self.take_at(at).map(|w| w.packet)
    }
    /// Takes the packet at this place of the queue.
    pub fn take_at(&mut self, place: usize) -> Option<WaitingPacket<S>> {
        self.queue.remove(place)
    }
    /// Takes the oldest packet if its time is up: a packet that has waited for the whole timeout leaves, at that instant and not
    /// after it (the SendBufferTimeout of RFC 4728, section 4.2).
    pub fn take_expired(&mut self, now: Time) -> Option<Packet> {
        // Packets wait in the order in which they came, and all for as long.
        let is_expired = self.queue.front().is_some_and(|w| now.since(w.since) >= self.timeout);
        if is_expired { self.queue.pop_front().map(|w| w.packet) } else { None }
    }
    /// When the oldest packet's time is up.
    pub fn next_expiry(&self) -> Option<Time> {
        self.queue.front().map(|w| w.since + self.timeout)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
    /// Whether anything waits for this destination.
    pub fn waits_for(&self, destination: Ipv4Addr) -> bool {
        self.queue.iter().any(|w| w.destination == destination)
    }
    /// The destinations, each once, in the order of their oldest packets.
    pub fn destinations(&self) -> Vec<Ipv4Addr> {
        let mut all = Vec::new();
        for w in &self.queue {
            if !all.contains(&w.destination) {
                all.push(w.destination);
            }
        }
        all
    }
    /// The packet at this place of the queue, the oldest at 0.
    pub fn get(&self, place: usize) -> Option<&WaitingPacket<S>> {
        self.queue.get(place)
    }
    /// What waits, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &WaitingPacket<S>> {
        self.queue.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PacketMeta, Pool};

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    /// One with packets for these destinations, each with the second of its arrival as its only octet.
    fn buffer(capacity: usize, destinations: &[Ipv4Addr]) -> SendBuffer {
        let mut pool = Pool::new();
        let mut b = SendBuffer::new(capacity, Span::from_secs(30));
        for (i, &destination) in destinations.iter().enumerate() {
            let packet = pool.packet(&[i as u8], PacketMeta::default());
            b.push(WaitingPacket {
                packet,
                destination,
                since: Time::ZERO + Span::from_secs(i as u64),
                state: (),
            });
        }
        b
    }

    fn octet(p: Option<Packet>) -> Option<u8> {
        p.map(|p| p.bytes()[0])
    }

    #[test]
    fn a_packet_leaves_at_the_instant_at_which_its_time_is_up() {
        let mut b = buffer(9, &[A, B]);
        let due = b.next_expiry().unwrap();
        assert_eq!(due, Time::ZERO + Span::from_secs(30));
        assert!(b.take_expired(Time::from_nanos(due.as_nanos() - 1)).is_none());
        assert_eq!(octet(b.take_expired(due)), Some(0));
        assert!(b.take_expired(due).is_none());
    }

    #[test]
    fn the_oldest_packets_are_too_many() {
        let mut b = buffer(2, &[A, A, B]);
        assert_eq!((octet(b.take_excess()), octet(b.take_excess())), (Some(0), None));
        b.bound(1, Span::MAX);
        assert_eq!((octet(b.take_excess()), octet(b.take_excess())), (Some(1), None));
        assert!(b.take_expired(Time::ZERO + Span::from_secs(1 << 30)).is_none());
        let mut b = buffer(9, &[B, A, A]);
        assert_eq!((octet(b.take_excess_for(A, 1)), octet(b.take_excess_for(A, 1))), (Some(1), None));
        assert_eq!(b.destinations(), [B, A]);
        assert_eq!((octet(b.take(A)), octet(b.take(A)), b.waits_for(B)), (Some(2), None, true));
    }
}
