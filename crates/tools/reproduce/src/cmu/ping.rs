//! The ping test of section 8: the packets of E1, from the captures of all nodes.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use wayhop_core::{Mac, NodeId};
use wayhop_trace::{Direction, FrameEvent, HopEvent, HopKind, Observer, SendEvent};

use super::packet::{Echo, OverheardPacket};

/// Transmissions of one packet to one neighbour, after which it gives up (section 6.2).
const ATTEMPTS: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roles {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) cars: Vec<Ipv4Addr>,
    /// All addresses, in the order of the nodes.
    pub(crate) addresses: Vec<Ipv4Addr>,
}

impl Roles {
    fn address(&self, node: NodeId) -> Ipv4Addr {
        self.addresses[node.index()]
    }
}

/// One transmission of an echo request by E1.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transmission {
    pub(crate) seq: u16,
    /// The first node of its route; E2 itself over the direct link.
    pub(crate) first_hop: Ipv4Addr,
    /// The first of this request to this node; what follows it to the same node is a retransmission.
    pub(crate) first: bool,
    /// The request was taken back and sent again, after this many transmissions to a node that gave no answer.
    pub(crate) recycled: bool,
    pub(crate) received: bool,
    /// E1 heard the node pass it on, before E1 sent it again.
    pub(crate) passive_ack: bool,
}

/// An explicit acknowledgement of an echo request, transmitted by its first hop.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExplicitAck {
    pub(crate) from: Ipv4Addr,
    id: u16,
    pub(crate) received: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Ping {
    roles: Roles,
    pub(crate) originated: usize,
    /// By time.
    pub(crate) transmissions: Vec<Transmission>,
    /// By time.
    pub(crate) acks: Vec<ExplicitAck>,
    /// When the first reply to each request reached E1, seconds, and how many hops its route had.
    pub(crate) replies: BTreeMap<u16, (f64, usize)>,
    /// How many hops the route of a request had that reached E2, the first copy.
    pub(crate) request_hops: BTreeMap<u16, usize>,
    pub(crate) timers_ms: Vec<f64>,
    /// The last transmission of each request.
    last: BTreeMap<u16, usize>,
    /// Which requests ask the first hop for an acknowledgement of this identifier.
    asked: BTreeMap<(Ipv4Addr, u16), u16>,
}

impl Ping {
    pub(crate) fn new(roles: Roles) -> Self {
        Self {
            roles,
            originated: 0,
            transmissions: Vec::new(),
            acks: Vec::new(),
            replies: BTreeMap::new(),
            request_hops: BTreeMap::new(),
            timers_ms: Vec::new(),
            last: BTreeMap::new(),
            asked: BTreeMap::new(),
        }
    }

    pub(crate) fn target(&self) -> Ipv4Addr {
        self.roles.address(self.roles.to)
    }

    pub(crate) fn cars(&self) -> &[Ipv4Addr] {
        &self.roles.cars
    }

    fn ours(&self) -> Ipv4Addr {
        self.roles.address(self.roles.from)
    }

    fn transmit(&mut self, seq: u16, h: &OverheardPacket) {
        let before = self.last.get(&seq).map(|i| self.transmissions[*i]);
        let same = |t: &&Transmission| t.seq == seq && t.first_hop == h.next_hop;
        // A request's transmissions lie close together.
        let recent = &self.transmissions[self.transmissions.len().saturating_sub(2_000)..];
        let first = !recent.iter().any(|t| same(&t));
        let mut attempts = 0;
        for t in recent.iter().rev().filter(|t| t.seq == seq) {
            if t.first_hop != h.next_hop {
                break;
            }
            attempts += 1;
            if t.recycled {
                break;
            }
        }
        let given_up = attempts >= ATTEMPTS;
        let recycled = before.is_some_and(|b| b.first_hop != h.next_hop) || given_up;
        if let Some(id) = h.ack_request {
            self.asked.insert((h.next_hop, id), seq);
        }
        self.last.insert(seq, self.transmissions.len());
        self.transmissions.push(Transmission {
            seq,
            first_hop: h.next_hop,
            first,
            recycled,
            received: false,
            passive_ack: false,
        });
    }

    fn at_source(&mut self, direction: Direction, at_s: f64, h: &OverheardPacket) {
        match (direction, h.echo) {
            (Direction::Tx, Echo::Request(seq)) if h.source == self.ours() => self.transmit(seq, h),
            (Direction::Rx, Echo::Request(seq)) if h.source == self.ours() => {
                // Somebody passes our request on: a passive acknowledgement if it is the one that we sent it to.
                if let Some(t) = self.last.get(&seq).map(|i| &mut self.transmissions[*i])
                    && h.transmitter == Mac::from_addr(t.first_hop)
                {
                    t.passive_ack = true;
                }
            }
            (Direction::Rx, Echo::Reply(seq))
                if h.destination == self.ours() && h.next_hop == self.ours() =>
            {
                self.replies.entry(seq).or_insert((at_s, h.hops));
            }
            _ => {}
        }
        if direction == Direction::Rx {
            for (id, from, to) in &h.acks {
                if *to == self.ours()
                    && let Some(a) =
                        self.acks.iter_mut().rev().take(200).find(|a| (a.id, a.from) == (*id, *from))
                {
                    a.received = true;
                }
            }
        }
    }

    fn elsewhere(&mut self, direction: Direction, node: NodeId, h: &OverheardPacket) {
        let here = self.roles.address(node);
        if direction == Direction::Tx {
            for (id, from, to) in &h.acks {
                if *from == here && *to == self.ours() && self.asked.contains_key(&(here, *id)) {
                    self.acks.push(ExplicitAck { from: here, id: *id, received: false });
                }
            }
            return;
        }
        let Echo::Request(seq) = h.echo else { return };
        if h.source != self.ours() || h.next_hop != here {
            return;
        }
        if h.transmitter == Mac::from_addr(self.ours())
            && let Some(t) = self.last.get(&seq).map(|i| &mut self.transmissions[*i])
            && t.first_hop == here
        {
            t.received = true;
        }
        if node == self.roles.to {
            self.request_hops.entry(seq).or_insert(h.hops);
        }
    }
}

impl Observer for Ping {
    fn wants_frames(&self) -> bool {
        true
    }
    fn frame(&mut self, e: &FrameEvent<'_>) {
        let Some(h) = OverheardPacket::read(e.bytes) else { return };
        if e.node == self.roles.from {
            self.at_source(e.direction, e.time.as_secs_f64(), &h);
        } else {
            self.elsewhere(e.direction, e.node, &h);
        }
    }
    fn hop(&mut self, e: &HopEvent) {
        self.originated +=
            usize::from(e.kind == HopKind::Originate && e.node == self.roles.from && e.flow.is_some());
    }
    fn sent(&mut self, e: &SendEvent) {
        let timer_ms = e.state.timer.as_secs_f64() * 1e3;
        if timer_ms > 0.0 {
            self.timers_ms.push(timer_ms);
        }
    }
}
