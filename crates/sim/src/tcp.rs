//! The run's TCP connections: between a connection's state machine, the event queue and the network.

use wayhop_core::{Addr, FlowTag, NodeId, Packet, Pool, Purpose, Rng, Time, stream};
use wayhop_trace::{Recorder, TcpEvent, TcpSummary};
use wayhop_transport::tcp::{App, Connection, End, Io, Note, TcpConfig, stream as octets};
use wayhop_transport::{FlowConfig, FlowKind};
use wayhop_wire::ipv6::next_header;
use wayhop_wire::{ip, ipv4, tcp, unreachable_for, unreachable6_for};

use crate::common::Common;
use crate::event::Event;

/// One flow's connection, and what the host keeps for it.
pub(crate) struct TcpFlow {
    connection: Connection,
    config: TcpConfig,
    start: Time,
    /// The node of each end.
    nodes: [u32; 2],
    /// When the event of each end's deadline comes up; later ones put themselves off.
    queued: [Option<Time>; 2],
    /// Packets that each end has made.
    made: [u64; 2],
    acks_received: u64,
    /// Octets delivered to each end that were not those of the stream: a defect.
    wrong: u64,
    completed: Option<Time>,
}

/// Lists for reuse.
#[derive(Default)]
pub(crate) struct Spare {
    packets: Vec<Vec<Packet>>,
    notes: Vec<Note>,
}

impl TcpFlow {
    pub(crate) fn new(
        flow: u32,
        c: &FlowConfig,
        ends: impl Fn(&FlowConfig, NodeId) -> Addr,
        seed: u64,
    ) -> Option<Self> {
        let FlowKind::Tcp(config) = c.kind else { return None };
        // A stream of its own, so that the flow's other draws stay what they are.
        let mut rng = stream(seed, Purpose::Traffic, u64::from(flow) | 1 << 40);
        let ends = (ends(c, c.src), ends(c, c.dst));
        Some(Self {
            connection: Connection::new(flow, c, config, ends, &mut rng),
            config,
            start: c.start,
            nodes: [c.src.0, c.dst.0],
            queued: [None; 2],
            made: [0; 2],
            acks_received: 0,
            wrong: 0,
            completed: None,
        })
    }

    /// The end that a node is.
    pub(crate) fn end_at(&self, node: u32) -> Option<End> {
        End::BOTH.into_iter().find(|e| self.nodes[*e as usize] == node)
    }
    /// Segments with data that the source has sent.
    pub(crate) fn sent(&self) -> u64 {
        self.connection.end(End::Client).counts().segments
    }
    /// Octets that arrived in order where the flow's data goes: at the server, and for requests their answers too.
    pub(crate) fn delivered(&self) -> u64 {
        match self.config.app {
            App::Requests { .. } => End::BOTH.iter().map(|e| self.connection.end(*e).delivered()).sum(),
            _ => self.connection.end(End::Server).delivered(),
        }
    }
    /// When everything had arrived, if it has.
    pub(crate) fn completed(&self) -> Option<Time> {
        self.completed
    }

    pub(crate) fn summary(&self) -> TcpSummary {
        let [client, server] = End::BOTH.map(|e| self.connection.end(e));
        let (c, s) = (client.counts(), server.counts());
        debug_assert_eq!(self.wrong, 0, "a connection delivers the octets that were sent");
        TcpSummary {
            variant: self.config.variant.name().to_owned(),
            delivered_bytes: self.delivered(),
            retransmissions: c.retransmissions + s.retransmissions,
            timeouts: c.timeouts + s.timeouts,
            fast_retransmits: c.fast_retransmits + s.fast_retransmits,
            acks_sent: self.made[1] - s.segments,
            acks_received: self.acks_received,
            notices: c.notices + s.notices,
            probes: c.probes + s.probes,
            completed_s: self.completed.map(|t| t.since(self.start).as_secs_f64()),
            answers: matches!(self.config.app, App::Requests { .. }).then(|| client.messages()),
        }
    }

    /// Calls the connection with what it needs.
    #[allow(clippy::too_many_arguments, reason = "the parts of a host that a connection uses")]
    pub(crate) fn call<R>(
        &mut self,
        now: Time,
        end: End,
        pool: &mut Pool,
        next_id: &mut u64,
        ip_id: &mut u16,
        rng: &mut Rng,
        out: &mut Vec<Packet>,
        notes: &mut Vec<Note>,
        f: impl FnOnce(&mut Connection, &mut Io<'_>) -> R,
    ) -> R {
        let mut at = self.connection.end(end).delivered();
        let wrong = &mut self.wrong;
        let mut check = |got: &[u8]| {
            if cfg!(debug_assertions) {
                let differ = got.iter().enumerate().filter(|(i, o)| **o != octets::octet_at(at + *i as u64));
                *wrong += differ.count() as u64;
            }
            at += got.len() as u64;
        };
        let mut io = Io { now, pool, next_id, ip_id, rng, out, notes, deliver: &mut check };
        let before = io.out.len();
        let answer = f(&mut self.connection, &mut io);
        self.made[end as usize] += (out.len() - before) as u64;
        if let App::Bulk { bytes: Some(n) } = self.config.app
            && self.completed.is_none()
            && self.connection.end(End::Server).delivered() == n
        {
            self.completed = Some(now);
        }
        answer
    }

    /// The time for which an event of this end is to be queued, if it needs a new one.
    fn next_event(&mut self, end: End) -> Option<Time> {
        let due = self.connection.deadline(end)?;
        let queued = &mut self.queued[end as usize];
        if queued.is_some_and(|q| q <= due) {
            return None;
        }
        *queued = Some(due);
        Some(due)
    }

    /// The same for an end that stood still until `now`.
    fn next_event_from(&mut self, end: End, now: Time) -> Option<Time> {
        let due = self.next_event(end)?.max(now);
        self.queued[end as usize] = Some(due);
        Some(due)
    }

    /// An event of this end came up at `now`: whether its deadline has come.
    fn is_due(&mut self, end: End, now: Time) -> bool {
        let queued = &mut self.queued[end as usize];
        if *queued != Some(now) {
            // The deadline was moved forward and has another event.
            return false;
        }
        *queued = None;
        self.connection.deadline(end).is_some_and(|due| due <= now)
    }

    /// Whether the packet carries data or the end of the stream; `None` if it is no segment.
    fn carries_data(packet: &[u8]) -> Option<bool> {
        let ip = ip::Packet::new_checked(packet).ok()?;
        let segment = tcp::Packet::new_checked(ip.payload).ok()?;
        Some(!segment.payload().is_empty() || segment.flags().contains(tcp::Flags::FIN))
    }
}

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
        if let Some(due) = t.next_event(end) {
            self.queue.push(due.max(at), node, Event::Tcp(flow, end));
        }
        record(&mut self.recorder, flow, NodeId(node), &mut notes);
        self.tcp_spare.notes = notes;
        for p in out.drain(..) {
            self.originated(&p, end == End::Client && TcpFlow::carries_data(p.bytes()) == Some(true));
            self.answers.push_back((node, p));
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
        } else if let Some(due) = t.next_event(end) {
            let node = t.nodes[end as usize];
            self.queue.push(due.max(at), node, Event::Tcp(flow, end));
        }
    }

    /// A node lost all that it knew of its connections.
    pub(crate) fn tcp_lose(&mut self, node: u32) {
        for flow in 0..self.flows.len() as u32 {
            if let Some((t, ..)) = self.flows.tcp(flow)
                && let Some(end) = t.end_at(node)
            {
                t.connection.lose(end);
            }
        }
    }

    /// A node is up again: deadlines that passed meanwhile are due now.
    pub(crate) fn tcp_resume(&mut self, at: Time, node: u32) {
        for flow in 0..self.flows.len() as u32 {
            if let Some((t, ..)) = self.flows.tcp(flow)
                && let Some(end) = t.end_at(node)
            {
                t.queued[end as usize] = None;
                if let Some(due) = t.next_event_from(end, at) {
                    self.queue.push(due, node, Event::Tcp(flow, end));
                }
            }
        }
    }

    /// An ICMP message reached a node: true if it was about a flow's segment, whose sender was told.
    pub(crate) fn tcp_notice(&mut self, at: Time, node: u32, packet: &[u8]) -> bool {
        let Ok(ip) = ip::Packet::new_checked(packet) else { return false };
        let of_icmp = if ip.src.is_v4() { ipv4::protocol::ICMP } else { next_header::ICMPV6 };
        if ip.protocol != of_icmp || !self.flows.any_tcp() {
            return false;
        }
        let told = |c: &mut Connection, end, io: &mut Io<'_>| match ip.src.v6() {
            Some(from) => c.on_icmp6(end, io, ip.payload, from),
            None => c.on_icmp(end, io, ip.payload),
        };
        (0..self.flows.len() as u32).any(|flow| {
            let end = self.flows.tcp(flow).and_then(|(t, ..)| t.end_at(node));
            end.and_then(|end| self.tcp(at, flow, end, |c, io| told(c, end, io))) == Some(true)
        })
    }

    /// A node found no route for a segment of its own: its stack tells the sender.
    pub(crate) fn tcp_refused(&mut self, at: Time, node: u32, p: &Packet) {
        if p.meta.flow.is_some_and(|t| self.flows.is_tcp(t.flow))
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
