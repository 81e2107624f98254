//! One network interface of a node.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use wayhop_core::{Addr, BROADCAST, Frame, IfaceId, Mac, Priority, Span, Time};
use wayhop_wire::ipv6;

use crate::config::{IfaceConfig, Resolution};
use crate::neighbours::Neighbours;
use crate::queue::InterfaceQueue;
use crate::rates::Counted;
use crate::resolver::{Lookup, Resolver};

/// Its configuration, its queue, and what it knows of its neighbours.
#[derive(Clone, Debug)]
pub(crate) struct Iface {
    pub(crate) config: Arc<IfaceConfig>,
    pub(crate) mac: Mac,
    pub(crate) queue: InterfaceQueue,
    /// `None` while nobody was heard.
    neighbours: Option<Box<Neighbours>>,
    /// `None` while nothing waited for a link address.
    resolver: Option<Box<Resolver>>,
    /// Packets refused by a full class.
    pub(crate) refused: u64,
    pub(crate) is_up: bool,
    /// An address that only this interface has, besides the node's.
    pub(crate) addr: Option<Ipv4Addr>,
}

impl Iface {
    pub(crate) fn new(mac: Mac, config: Arc<IfaceConfig>) -> Self {
        Self {
            config,
            mac,
            queue: InterfaceQueue::default(),
            neighbours: None,
            resolver: None,
            refused: 0,
            is_up: true,
            addr: None,
        }
    }

    fn resolver(&mut self) -> &mut Resolver {
        self.resolver.get_or_insert_default()
    }
    fn neighbours(&mut self) -> &mut Neighbours {
        self.neighbours.get_or_insert_with(|| Box::new(Neighbours::new(self.config.segment)))
    }

    /// How late a neighbour's request is answered, or `None` while its first answer is on its way. `is_new`: its address was not
    /// known.
    pub(crate) fn lateness(&mut self, at: Time, neighbour: Addr, is_new: bool) -> Option<Span> {
        match self.config.first_answer {
            Span::ZERO => Some(Span::ZERO),
            delay => self.resolver().lateness(at, neighbour, is_new, delay),
        }
    }

    /// Finds a frame's receiver.
    pub(crate) fn look_up(&mut self, now: Time, mut frame: Frame) -> Lookup {
        if frame.next_hop == BROADCAST {
            frame.receiver = receivers(&frame);
            return Lookup::Known(frame);
        }
        let receiver = match self.config.resolution {
            Resolution::Derived => frame.next_hop.v4().map(|a| Mac::at_medium(a, self.config.segment)),
            Resolution::Bsd | Resolution::Host => self.mac_of(frame.next_hop),
        };
        match (receiver, self.config.resolution) {
            (Some(mac), _) => {
                frame.receiver = mac;
                Lookup::Known(frame)
            }
            (None, Resolution::Derived) => Lookup::Failed(VecDeque::new(), frame),
            (None, Resolution::Bsd) => self.resolver().look_up_bsd(frame),
            (None, Resolution::Host) => self.resolver().look_up_host(now, frame),
        }
    }

    /// Whether routing packets of neighbours are limited.
    #[inline]
    pub(crate) fn limits_routing(&self) -> bool {
        self.config.limits.routing_per_neighbour > 0 || self.config.limits.routing_total > 0
    }
    /// Counts a packet of a neighbour, and says whether it is within the limits.
    pub(crate) fn admits(&mut self, at: Time, from: Addr, what: Counted) -> bool {
        let limits = self.config.limits;
        self.neighbours().admits(limits, at, from, what)
    }

    /// Puts a frame into the queue, or gives it back.
    pub(crate) fn push(&mut self, mut frame: Frame) -> Result<(), Frame> {
        if !self.config.queue_classes {
            frame.priority = Priority::Data;
        }
        self.queue.push(frame, self.config.queue_packets).inspect_err(|_| self.refused += 1)
    }

    /// A neighbour's link address was heard: the frames that waited for it, now with their receiver.
    pub(crate) fn learn(&mut self, addr: Addr, mac: Mac) -> VecDeque<Frame> {
        let is_awaited = self.resolver.as_ref().is_some_and(|r| r.asks_for(addr));
        if self.neighbours().learn(addr, mac, is_awaited)
            && is_awaited
            && let Some(resolver) = &mut self.resolver
        {
            return resolver.found(addr, mac);
        }
        VecDeque::new()
    }
    /// A verified neighbour's link address: nothing else that is heard changes it.
    pub(crate) fn pin(&mut self, addr: Addr, mac: Mac) {
        self.neighbours().pin(addr, mac);
    }
    pub(crate) fn pinned(&self, addr: Addr) -> Option<Mac> {
        self.neighbours.as_ref()?.pinned(addr)
    }
    pub(crate) fn resolution_due(&mut self, now: Time) -> Option<crate::resolver::Due> {
        self.resolver.as_mut()?.due(now)
    }

    /// Takes out what waits for this neighbour, in the queue and for its link address. What BSD's ARP holds stays there, as
    /// in ns-2.
    pub(crate) fn recall(&mut self, next_hop: Addr, mut taken: impl FnMut(Frame)) {
        self.queue.recall(next_hop, &mut taken);
        if self.config.resolution == Resolution::Host
            && let Some(r) = &mut self.resolver
        {
            r.recall(next_hop, taken);
        }
    }

    /// Takes out everything, and forgets link addresses.
    pub(crate) fn clear(&mut self) -> Vec<Frame> {
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.forget_links();
        }
        let mut all: Vec<Frame> = std::iter::from_fn(|| self.queue.pop()).collect();
        all.extend(self.resolver.take().map(|mut r| r.clear()).unwrap_or_default());
        all
    }

    /// The frames in it.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Frame> {
        self.queue.iter().chain(self.resolver.iter().flat_map(|r| r.held()))
    }
    /// Who has which link address.
    pub(crate) fn links(&self) -> impl Iterator<Item = (Addr, Mac)> + '_ {
        self.neighbours.iter().flat_map(|n| n.links())
    }
    /// Whether a neighbour's link address is known or asked for.
    pub(crate) fn asks_for(&self, addr: Addr) -> bool {
        self.has_link(addr) || self.resolver.as_ref().is_some_and(|r| r.asks_for(addr))
    }
    /// Reads what [`Iface::look_ahead`] begins with.
    #[inline]
    pub(crate) fn touch(&self) -> u8 {
        self.neighbours.as_ref().map_or(0, |n| n.touch())
    }
    /// Reads what a packet from a neighbour will need: see [`crate::Node::look_ahead`].
    #[inline]
    pub(crate) fn look_ahead(&self, from: Addr) -> u8 {
        self.neighbours.as_ref().map_or(0, |n| n.look_ahead(from))
    }
    pub(crate) fn mac_of(&self, addr: Addr) -> Option<Mac> {
        self.neighbours.as_ref()?.mac(addr)
    }
    /// Whether a neighbour's link address is known.
    #[inline]
    pub(crate) fn has_link(&self, addr: Addr) -> bool {
        self.neighbours.as_ref().is_some_and(|n| n.has_link(addr))
    }
}

/// The link address of all, or of those who are in the group that an IPv6 packet is for.
fn receivers(frame: &Frame) -> Mac {
    if !frame.payload.is_v6() {
        return Mac::BROADCAST;
    }
    let to = ipv6::Packet::new_checked(frame.packet.bytes()).ok().map(|ip| ip.dst());
    to.filter(Ipv6Addr::is_multicast).map_or(Mac::BROADCAST, ipv6::group_mac)
}

/// The interface of this number.
pub(crate) fn id(index: usize) -> IfaceId {
    IfaceId(index as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::frame;

    #[test]
    fn without_classes_the_queue_is_first_come_first_served() {
        for (queue_classes, order) in [(true, [2, 1]), (false, [1, 2])] {
            let config = IfaceConfig { queue_classes, ..IfaceConfig::default() };
            let mut iface = Iface::new(Mac::BROADCAST, Arc::new(config));
            for (id, priority) in [(1, Priority::Data), (2, Priority::Control)] {
                iface.push(frame(id, 1, priority)).unwrap();
            }
            let left = std::iter::from_fn(|| iface.queue.pop()).map(|f| f.packet.meta.id.0);
            assert_eq!(left.collect::<Vec<_>>(), order, "{queue_classes}");
        }
    }
}
