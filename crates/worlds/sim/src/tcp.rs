//! The run's TCP connections: between a connection's state machine, the event queue and the network.

use wayhop_core::{FlowTag, NodeId, Packet, Time};
use wayhop_trace::{Recorder, TcpEvent};
use wayhop_transport::tcp::{Connection, End, Io, Note};
use wayhop_wire::ipv6::next_header;
use wayhop_wire::{ip, ipv4, unreachable_for, unreachable6_for};

use crate::common::Common;
use crate::event::Event;
use crate::outgoing::Outgoing;
use crate::tcp_flow::TcpFlow;

impl Common {
    /// Calls a flow's connection at one of its ends, and does what it asks.
    fn tcp<R>(
        &mut self,
        at: Time,
        flow: u32,
        end: End,
        f: impl FnOnce(&mut Connection, &mut Io<'_>) -> R,
    ) -> Option<R> {
        let mut out = self.tcp_spare.packets.pop().unwrap_or_default();
        let mut notes = std::mem::take(&mut self.tcp_spare.notes);
        let (t, ip_ids, rng) = self.flows.tcp(flow)?;
        let node = t.nodes[end as usize];
        let ip_id = &mut ip_ids[node as usize];
        let (pool, next_id) = (&mut self.work.pool, &mut self.work.next_id);
        let answer = t.call(at, end, pool, next_id, ip_id, rng, &mut out, &mut notes, f);
        if let Some(due) = t.next_event(end, at) {
            self.queue.push(due, node, Event::Tcp(flow, end));
        }
        record(&mut self.recorder, flow, NodeId(node), &mut notes);
        self.tcp_spare.notes = notes;
        for p in out.drain(..) {
            self.originated(&p, end == End::Client && TcpFlow::carries_data(p.bytes()) == Some(true));
            self.answers.push_back((node, Outgoing::Originate(p)));
        }
        self.tcp_spare.packets.push(out);
        Some(answer)
    }

    /// A flow's time to begin has come.
    pub(crate) fn tcp_start(&mut self, at: Time, flow: u32) {
        self.tcp(at, flow, End::Client, Connection::start);
    }

    /// The event of an end's deadline came up.
    pub(crate) fn tcp_timer(&mut self, at: Time, flow: u32, end: End) {
        let Some((t, ..)) = self.flows.tcp(flow) else { return };
        if t.is_due(end, at) {
            self.tcp(at, flow, end, |c, io| c.on_timer(end, io));
        } else if let Some(due) = t.next_event(end, at) {
            let node = t.nodes[end as usize];
            self.queue.push(due, node, Event::Tcp(flow, end));
        }
    }

    /// A node lost all that it knew of its connections.
    pub(crate) fn tcp_lose(&mut self, node: u32) {
        for flow in 0..self.flows.len() as u32 {
            if let Some((t, ..)) = self.flows.tcp(flow)
                && let Some(end) = t.end_at(node)
            {
                t.lose(end);
            }
        }
    }

    /// A node is up again: deadlines that passed meanwhile are due now.
    pub(crate) fn tcp_resume(&mut self, at: Time, node: u32) {
        for flow in 0..self.flows.len() as u32 {
            if let Some((t, ..)) = self.flows.tcp(flow)
                && let Some(end) = t.end_at(node)
                && let Some(due) = t.next_event_from(end, at)
            {
                self.queue.push(due, node, Event::Tcp(flow, end));
            }
        }
    }

    /// An ICMP message reached a node: true if it was about a segment of a flow or a stream, whose sender was told.
    pub(crate) fn tcp_notice(&mut self, at: Time, node: u32, packet: &[u8]) -> bool {
        let Ok(ip) = ip::Packet::new_checked(packet) else { return false };
        let of_icmp = if ip.src.is_v4() { ipv4::protocol::ICMP } else { next_header::ICMPV6 };
        if ip.protocol != of_icmp {
            return false;
        }
        let told = |c: &mut Connection, end, io: &mut Io<'_>| match ip.src.v6() {
            Some(from) => c.on_icmp6(end, io, ip.payload, from),
            None => c.on_icmp(end, io, ip.payload),
        };
        let flows = if self.flows.any_tcp() { self.flows.len() as u32 } else { 0 };
        let is_of_flow = (0..flows).any(|flow| {
            let end = self.flows.tcp(flow).and_then(|(t, ..)| t.end_at(node));
            end.and_then(|end| self.tcp(at, flow, end, |c, io| told(c, end, io))) == Some(true)
        });
        is_of_flow || self.stream_notice(at, node, &ip)
    }

    /// A node found no route for a segment of its own: its stack tells the sender.
    pub(crate) fn tcp_refused(&mut self, at: Time, node: u32, p: &Packet) {
        if (p.meta.flow.is_some_and(|t| self.flows.is_tcp(t.flow)) || self.is_of_stream(p))
            && let Some(answer) = unreachable_for(p.bytes(), self.addrs[node as usize])
                .or_else(|| unreachable6_for(p.bytes(), self.addrs6.get(node as usize).copied()?))
        {
            self.tcp_notice(at, node, &answer);
        }
    }

    /// A packet of a connection was delivered to a node.
    pub(crate) fn tcp_deliver(&mut self, at: Time, node: u32, tag: FlowTag, p: Packet) {
        let Some((t, ..)) = self.flows.tcp(tag.flow) else { return self.work.pool.recycle(p) };
        let (Some(end), Some(data)) = (t.end_at(node), TcpFlow::carries_data(p.bytes())) else {
            return self.work.pool.recycle(p);
        };
        t.acks_received += u64::from(end == End::Client && !data);
        if data && end == End::Server {
            self.flows.count_arrival(at, tag, &p);
        }
        if self.tcp(at, tag.flow, end, |c, io| c.on_packet(end, io, p.bytes())) == Some(true) {
            self.ledger.delivered(tag, false);
        }
        self.work.pool.recycle(p);
    }
}

fn record(recorder: &mut Recorder, flow: u32, node: NodeId, notes: &mut Vec<Note>) {
    for n in notes.drain(..) {
        recorder.tcp(&TcpEvent {
            time: n.time,
            flow,
            node,
            event: n.kind.name(),
            octet: n.from,
            bytes: n.len,
            acked: n.una,
            in_flight: n.in_flight,
            window: n.window,
            threshold: n.threshold,
            srtt: n.srtt,
            rto: n.rto,
        });
    }
}
