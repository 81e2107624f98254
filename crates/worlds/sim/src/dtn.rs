//! Bundle agents in the simulator: between each agent's state machine, the event queue and the network.
//!
//! An agent's datagrams are packets as a program's are: of no flow, routed and lost like any other. Beacons go to the neighbours
//! only. An agent's store survives what its node survives: a reboot loses what was not committed, and nothing else.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use wayhop_bundle_node::{Act, ContactRow, Layer, Node, Record, flow_of, flow_service};
use wayhop_core::{NodeId, Packet, Time};
use wayhop_dtn::{Eid, Request, Row};
use wayhop_trace::{BundleEvent, BundleEventKind, BundleSummary, ContactEvent};
use wayhop_wire::{ipv4, udp};

use crate::common::Common;
use crate::dtn_agents::{Agent, State, eid, node_of};
use crate::event::Event;
use crate::outgoing::Outgoing;

/// Time to live of datagrams; that of a beacon is 1.
const TTL: u8 = 64;

impl Common {
    /// Begins with the agents and their flows; none in a network of real nodes, which have programs for that.
    pub(crate) fn dtn_begin(&mut self) {
        let Some(dtn) = &self.dtn else { return };
        let nodes: Vec<u32> = dtn.plan.nodes.iter().map(|n| n.0).collect();
        let departures: Vec<_> = dtn.plan.flows.iter().map(|f| (f.src.0, f.departure(0))).collect();
        for node in nodes {
            self.dtn_open(Time::ZERO, node);
        }
        for (flow, (node, at)) in departures.into_iter().enumerate() {
            if let Some(at) = at {
                self.queue.push(at, node, Event::Bundle(flow as u32));
            }
        }
    }

    /// A node's agent opens over what its store has.
    fn dtn_open(&mut self, at: Time, node: u32) {
        let Some(dtn) = &mut self.dtn else { return };
        let Some(agent) = &mut dtn.all[node as usize] else { return };
        let State::Down(store) = std::mem::replace(&mut agent.state, State::Changing) else { return };
        agent.settings.life += 1;
        // A store of this crate's own that was committed can be read, and the routes were checked.
        match Node::open(agent.settings.clone(), *store, at) {
            Ok(opened) => agent.state = State::Up(Box::new(opened)),
            Err(why) => {
                debug_assert!(false, "an agent of the simulator opens: {why}");
                return;
            }
        }
        agent.queued = None;
        let own = dtn.plan.flows.iter().enumerate().filter(|(_, f)| f.dst.0 == node);
        let got: Vec<(Eid, u64)> =
            own.map(|(k, _)| (eid(NodeId(node)).service(&flow_service(k as u32)), dtn.got[k])).collect();
        for (endpoint, got) in got {
            if let Some(agent) = dtn.up(node) {
                agent.register(at, endpoint, got);
            }
        }
        self.dtn_settle(at, node);
    }

    /// Lets an agent do what it has to do.
    fn dtn_settle(&mut self, at: Time, node: u32) {
        while let Some(agent) = self.dtn.as_mut().and_then(|d| d.up(node)) {
            let settled = agent.settle(at);
            debug_assert!(settled.is_ok(), "a store in memory does not fail");
            let acts: Vec<Act> = std::iter::from_fn(|| agent.act()).collect();
            if acts.is_empty() {
                break;
            }
            for act in acts {
                self.dtn_act(at, node, act);
            }
        }
        if let Some(due) = self.dtn.as_mut().and_then(|d| d.next_event(node, at)) {
            self.queue.push(due, node, Event::Dtn);
        }
    }

    fn dtn_act(&mut self, at: Time, node: u32, act: Act) {
        match act {
            Act::Beacon(octets) => self.dtn_beacon(at, node, Ipv4Addr::BROADCAST, 1, &octets),
            Act::BeaconTo(to, octets) => {
                if let IpAddr::V4(to) = to.ip() {
                    self.dtn_beacon(at, node, to, TTL, &octets);
                }
            }
            Act::Datagram(layer, to, octets) => {
                let ports = wayhop_bundle_node::Ports::default();
                let port = if layer == Layer::Ltp { ports.ltp } else { ports.udpcl };
                if let IpAddr::V4(ip) = to.ip() {
                    self.dtn_send(at, node, (ip, to.port()), (port, TTL), &octets);
                }
            }
            Act::Record(Record::Bundle(row)) => self.dtn_record(node, &row),
            Act::Record(Record::Contact(row)) => self.dtn_contact(node, &row),
            Act::Deliver { endpoint, number, .. } => {
                let Some(dtn) = &mut self.dtn else { return };
                if let Some(flow) = flow_of(&endpoint).filter(|f| (*f as usize) < dtn.got.len()) {
                    dtn.got[flow as usize] = number;
                }
                if let Some(agent) = dtn.up(node) {
                    agent.confirm(at, endpoint, number);
                }
            }
            // The rows tell; and there are no connections here.
            Act::Sent { .. } | Act::Rejected { .. } | Act::Remark(_) => {}
            Act::Connect(..) | Act::Write(..) | Act::Close(..) => {
                debug_assert!(false, "an agent of the simulator opens no connection");
            }
        }
    }

    fn dtn_beacon(&mut self, at: Time, node: u32, to: Ipv4Addr, ttl: u8, octets: &[u8]) {
        let port = wayhop_bundle_node::Ports::default().beacon;
        self.dtn_send(at, node, (to, port), (port, ttl), octets);
    }

    /// A datagram of an agent enters its node's network layer.
    fn dtn_send(&mut self, at: Time, node: u32, to: (Ipv4Addr, u16), from: (u16, u8), octets: &[u8]) {
        let ((dst, dst_port), (src_port, ttl)) = (to, from);
        let src = self.addrs[node as usize];
        let datagram = udp::Repr { src_port, dst_port, payload_len: octets.len() as u16 };
        let mut header = ipv4::Repr::new(src, dst, ipv4::protocol::UDP, datagram.buffer_len() as u16);
        header.ttl = ttl;
        header.id = self.flows.next_ip_id(node);
        let meta = self.work.new_meta(at);
        let mut p = self.work.pool.zeroed(ipv4::HEADER_LEN + datagram.buffer_len(), meta);
        let (head, body) = p.bytes_mut().split_at_mut(ipv4::HEADER_LEN);
        body[udp::HEADER_LEN..].copy_from_slice(octets);
        datagram.emit(body, src, dst);
        header.emit(head);
        self.answers.push_back((node, Outgoing::Originate(p)));
    }

    /// Whether a packet that was delivered to a node is for its agent.
    pub(crate) fn dtn_listens(&self, node: u32, packet: &[u8]) -> bool {
        let Some(dtn) = &self.dtn else { return false };
        matches!(dtn.all[node as usize], Some(Agent { state: State::Up(_), .. }))
            && agent_port(packet).is_some()
    }

    /// A packet of no flow was delivered to a node: true if its agent took it.
    pub(crate) fn dtn_deliver(&mut self, at: Time, node: u32, p: &Packet) -> bool {
        let Some((from, port, octets)) = agent_port(p.bytes()) else { return false };
        let Some(agent) = self.dtn.as_mut().and_then(|d| d.up(node)) else { return false };
        let ports = agent.settings().ports;
        if port == ports.beacon {
            agent.beacon(at, from.ip(), octets);
        } else {
            let layer = if port == ports.ltp { Layer::Ltp } else { Layer::Udpcl };
            agent.datagram(at, layer, from, octets);
        }
        self.dtn_settle(at, node);
        true
    }

    /// The event of an agent's timer came up.
    pub(crate) fn dtn_timer(&mut self, at: Time, node: u32) {
        let Some(agent) = self.dtn.as_mut().and_then(|d| d.all[node as usize].as_mut()) else { return };
        // Another one, for an earlier time, has taken its place.
        if agent.queued != Some(at) {
            return;
        }
        agent.queued = None;
        let State::Up(agent) = &mut agent.state else { return };
        agent.timer(at);
        self.dtn_settle(at, node);
    }

    /// A flow's application makes a bundle, unless its node is down.
    pub(crate) fn dtn_depart(&mut self, at: Time, node: u32, flow: u32, is_up: bool) {
        let Some(dtn) = &mut self.dtn else { return };
        let Some(f) = dtn.plan.flows.get(flow as usize).cloned() else { return };
        let number = dtn.made[flow as usize];
        dtn.made[flow as usize] += 1;
        if let Some(next) = f.departure(number + 1) {
            self.queue.push(next.max(at), node, Event::Bundle(flow));
        }
        let Some(agent) = dtn.up(node).filter(|_| is_up) else { return };
        let service = flow_service(flow);
        // Of octets that anybody can tell: the flow's number, over and over.
        let payload = vec![flow as u8; f.size_bytes as usize];
        agent.request(
            at,
            Request {
                number,
                source: eid(f.src).service(&service),
                destination: eid(f.dst).service(&service),
                report_to: Eid::None,
                lifetime: f.lifetime,
                flags: 0,
                custody: f.custody,
                payload,
            },
        );
        self.dtn_settle(at, node);
    }

    /// A node goes down; if it loses what it knows, its store keeps what was committed.
    pub(crate) fn dtn_power_off(&mut self, at: Time, node: u32, lost: bool) {
        if !lost {
            return;
        }
        let Some(agent) = self.dtn.as_mut().and_then(|d| d.up(node)) else { return };
        agent.end(at);
        let acts: Vec<Act> = std::iter::from_fn(|| agent.act()).collect();
        for act in acts {
            if let Act::Record(Record::Contact(row)) = act {
                self.dtn_contact(node, &row);
            }
        }
        let Some(agent) = self.dtn.as_mut().and_then(|d| d.all[node as usize].as_mut()) else { return };
        if let State::Up(up) = std::mem::replace(&mut agent.state, State::Changing) {
            let mut store = up.into_store();
            store.crash();
            agent.state = State::Down(Box::new(store));
        }
    }

    /// A node is up again.
    pub(crate) fn dtn_power_on(&mut self, at: Time, node: u32, lost: bool) {
        if lost {
            self.dtn_open(at, node);
        } else if let Some(agent) = self.dtn.as_mut().and_then(|d| d.up(node)) {
            // What was due meanwhile is due now.
            agent.timer(at);
            if let Some(agent) = self.dtn.as_mut().and_then(|d| d.all[node as usize].as_mut()) {
                agent.queued = None;
            }
            self.dtn_settle(at, node);
        }
    }

    fn dtn_record(&mut self, node: u32, row: &Row) {
        let Some(dtn) = &mut self.dtn else { return };
        let Some(event) = event(node, row) else { return };
        dtn.books.add(&event);
        self.recorder.bundle(&event);
    }

    fn dtn_contact(&mut self, node: u32, row: &ContactRow) {
        let Some(dtn) = &mut self.dtn else { return };
        let Some(peer) = node_of(&row.peer) else { return };
        let event = ContactEvent {
            time: row.until,
            from: row.from,
            node: NodeId(node),
            peer,
            sent: row.sent,
            sent_bytes: row.sent_bytes,
            received: row.received,
            received_bytes: row.received_bytes,
        };
        dtn.books.add_contact(&event);
        self.recorder.contact(&event);
    }

    /// The run ends: contacts that go on end with it. What bundles came to.
    pub(crate) fn dtn_finish(&mut self, at: Time) -> Option<BundleSummary> {
        let nodes = self.dtn.as_ref()?.all.len() as u32;
        for node in 0..nodes {
            let Some(agent) = self.dtn.as_mut().and_then(|d| d.up(node)) else { continue };
            agent.end(at);
            let acts: Vec<Act> = std::iter::from_fn(|| agent.act()).collect();
            for act in acts {
                if let Act::Record(Record::Contact(row)) = act {
                    self.dtn_contact(node, &row);
                }
            }
        }
        self.dtn.take().map(|dtn| dtn.books.close())
    }
}

/// The row of a table.
fn event(node: u32, row: &Row) -> Option<BundleEvent> {
    let wayhop_bundle_node::Line::Bundle { event, bundle, offset, reason, .. } =
        wayhop_bundle_node::Line::of(&Record::Bundle(row.clone()))
    else {
        return None;
    };
    let kind = BundleEventKind::named(&event)?;
    let flow = if kind == BundleEventKind::Originate { flow_of(&row.id.source) } else { None };
    Some(BundleEvent {
        time: row.at,
        node: NodeId(node),
        kind,
        bundle: Arc::from(bundle),
        offset,
        flow,
        bytes: row.octets,
        peer: node_of(&row.peer),
        reason: reason.map(Arc::from),
    })
}

/// A datagram to one of an agent's ports: from where, to which, and its data.
fn agent_port(packet: &[u8]) -> Option<(SocketAddr, u16, &[u8])> {
    let ip = ipv4::Packet::new_checked(packet).ok().filter(|ip| ip.protocol() == ipv4::protocol::UDP)?;
    let datagram = udp::Packet::new_checked(ip.payload()).ok()?;
    let ports = wayhop_bundle_node::Ports::default();
    let port = datagram.dst_port();
    let is_known = [ports.beacon, ports.udpcl, ports.ltp].contains(&port);
    let from = SocketAddr::from((ip.src(), datagram.src_port()));
    is_known.then(|| (from, port, datagram.payload()))
}
