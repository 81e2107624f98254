//! Packets exchanged with external programs, in a network on a real clock.
//!
//! The scenario's own flows take the same way as a program's packets: at its departure a packet
//! leaves ([`Exit::Send`]), the host hands it to its node's network stack, and it comes back by
//! [`crate::Simulation::enter`]. It is recognised by its IP identification or, over IPv6, its
//! checksum, and an echo reply by the flow's identifier, so that flows are counted as in
//! simulation. Programs' packets are in separate flows after those (`conversations`).

use wayhop_core::{Packet, PacketMeta, Span, Time};
use wayhop_protocols::classify;
use wayhop_wire::ip;

use crate::common::Common;
use crate::event::Event;
use crate::external::{Egress, Entering, External, mark};
use crate::hosted_applications::Applications;
use crate::net::Net;
use crate::simulation::Simulation;

impl Common {
    /// A packet of a program outside enters at its node; false if it is nothing that this network carries.
    fn enter(&mut self, at: Time, node: u32, bytes: &[u8]) -> bool {
        let Ok(ip) = ip::Packet::new_checked(bytes) else { return false };
        let own6 = self.addrs6.get(node as usize);
        let is_own = ip.src == self.addrs[node as usize] || self.is_home_address(node, ip.src);
        if !is_own && own6.is_none_or(|own| ip.src.v6() != Some(*own)) {
            return false;
        }
        let Some(external) = &mut self.external else { return false };
        let known = external.recognise(node, mark(bytes, &ip), ip.dst).or_else(|| {
            let tag = self.flows.answered(node, &ip, &self.stations)?;
            Some((tag, at))
        });
        // A routing daemon's packets are no traffic of the network, but its overhead.
        let is_programs = known.is_none() && classify(bytes).0.is_none();
        let (flow, born) = match known {
            Some((tag, born)) => (Some(tag), born),
            None if is_programs => {
                (self.flows.of_programs.sent(at, node, bytes, self.stations.get(ip.dst)), at)
            }
            None => (None, at),
        };
        let meta = PacketMeta { flow, born, ..self.work.new_meta(at) };
        let p = self.work.pool.packet(&bytes[..ip.total_len], meta);
        external.programs.sent += u64::from(is_programs);
        external.programs.without_flow += u64::from(is_programs && flow.is_none());
        let handle = external.ingress.put(Entering { packet: p, by_tap: None });
        self.queue.push(at, node, Event::Ingress(handle));
        true
    }
}

impl Net {
    /// The event of such a packet came up.
    pub(crate) fn ingress(&mut self, at: Time, node: u32, handle: u32) {
        if let Some(external) = &mut self.common.external {
            let Entering { packet, by_tap } = external.ingress.take(handle);
            match by_tap {
                None => self.start(at, node, packet),
                Some((header, kind)) => self.send_from_tap(at, node, packet, header, kind),
            }
        }
    }
}

impl Simulation {
    /// Opens the network to programs outside, before its first event, and to those who watch.
    pub fn open(&mut self) {
        self.attend();
        // Real nodes have these as programs, but for the sources of flows and those that are a part of the network layer: the hosts' is
        // the simulator's.
        self.net.common.bundles = None;
        self.net.common.applications =
            self.net.common.applications.take().and_then(Applications::without_programs);
        self.net.nodes.create_all(&self.net.common.addrs);
        self.net.common.external = Some(External::new(self.net.nodes.len()));
    }

    /// A packet of a node's program enters at `at`, or now if that is past. One that is not IP, or not from this node, is
    /// ignored; the answer says so.
    pub fn enter(&mut self, at: Time, node: u32, bytes: &[u8]) -> bool {
        self.net.common.enter(at.max(self.now), node, bytes)
    }

    /// The next packet that leaves, in their order.
    pub fn leave(&mut self) -> Option<Egress> {
        self.net.common.external.as_mut()?.egress.pop_front()
    }
    /// Gives the buffer of a packet that left back.
    pub fn recycle(&mut self, p: Packet) {
        self.net.common.work.pool.recycle(p);
    }

    /// When the next event is due; `None` when nothing will ever happen.
    pub fn next_event(&self) -> Option<Time> {
        self.net.common.queue.next_time()
    }

    /// Runs at most `limit` events that are due by a clock, and tells how late each was. False when nothing more is due.
    pub fn run_due(&mut self, limit: u32, clock: impl Fn() -> Time, mut late: impl FnMut(Span)) -> bool {
        self.begin_once();
        for _ in 0..limit {
            let now = clock();
            let Some((at, node, event)) = self.net.common.queue.pop_until(now.min(self.end)) else {
                return false;
            };
            late(now.since(at));
            self.advance(at, node, event);
        }
        true
    }
}
