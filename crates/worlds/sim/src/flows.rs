//! The run's traffic: what each flow has sent and received, and the way between a packet and its flow. Its source is an application
//! (`applications`).

use std::net::SocketAddr;

use wayhop_core::{
    Addr, AddrMap, Application, EchoReply, FlowTag, NodeId, Packet, PacketId, Pool, Purpose, Time, stream,
};
use wayhop_trace::{FlowSummary, LatencyMs, PacketClass};
use wayhop_transport::{
    Arrival, Departures, FlowConfig, FlowError, FlowKind, GROUP, Histogram, Latency, Sink, Source, Stamp,
    Summary, TcpClient, TcpServer, echo_reply, next_ip_id,
};
use wayhop_wire::ipv6::next_header;
use wayhop_wire::{icmp, icmpv6, ip, ipv4, tcp};

use crate::conversations::{ProgramFlows, latency_ms};
use crate::flow_tcp::FlowTcp;
use crate::hosted_applications::Hosted;
use crate::hosted_streams::{HostStreams, TcpUser};
use crate::ledger::FlowEnds;

/// All flows of a run.
pub(crate) struct Flows {
    /// The scenario's.
    list: Vec<Flow>,
    /// Those of programs, numbered behind them.
    pub(crate) of_programs: ProgramFlows,
    /// Each node's IP identification, counted over all of its flows.
    ip_ids: Vec<u16>,
}

struct Flow {
    config: FlowConfig,
    /// The address of its source.
    from: Addr,
    /// The number of the application that sends it; a server has the next one.
    source: u32,
    departures: Departures,
    sink: Sink,
    class: PacketClass,
    tcp: Option<Box<FlowTcp>>,
}

/// What a delivered packet led to.
pub(crate) enum Delivery {
    /// The sink counted it.
    Counted,
    /// It had arrived before.
    Again,
    /// An answer goes back.
    Answer(Packet),
}

impl Flows {
    /// The flows, and the applications at their ends. `ends` gives the address of a node that a flow has there.
    pub(crate) fn new(
        configs: &[FlowConfig],
        nodes: usize,
        ends: impl Fn(&FlowConfig, NodeId) -> Addr,
        seed: u64,
    ) -> Result<(Self, Vec<Hosted>), FlowError> {
        let mut sources = Vec::new();
        let flow = |(i, c): (usize, &FlowConfig)| {
            c.check()?;
            let source = sources.len() as u32;
            let mut host = |node: NodeId, engine: Box<dyn Application>| {
                let rng = stream(seed, Purpose::Traffic, i as u64);
                sources.push(Hosted { flow: Some(i as u32), ..Hosted::new(node.0, engine, rng) });
            };
            let to = if c.is_to_all() { GROUP.into() } else { ends(c, c.dst).ip() };
            if let FlowKind::Tcp(tcp) = c.kind {
                let to = SocketAddr::new(to, c.dst_port);
                host(c.src, Box::new(TcpClient::new(c, tcp.app, to)));
                host(c.dst, Box::new(TcpServer::new(c, tcp.app)));
            } else {
                host(c.src, Box::new(Source::new(c.clone(), to)));
            }
            Ok(Flow {
                class: PacketClass::of_flow(c.kind.name()),
                config: c.clone(),
                from: ends(c, c.src),
                source,
                departures: Departures::default(),
                sink: Sink::new(if c.is_to_all() { nodes - 1 } else { 1 }),
                tcp: FlowTcp::new(i as u32, c, seed).map(Box::new),
            })
        };
        let list = configs.iter().enumerate().map(flow).collect::<Result<_, _>>()?;
        let of_programs = ProgramFlows::new(configs.len(), nodes);
        Ok((Self { list, of_programs, ip_ids: vec![0; nodes] }, sources))
    }

    /// How many the scenario has.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
    /// Whether a flow is the scenario's, and not one of programs.
    pub(crate) fn is_own(&self, flow: u32) -> bool {
        (flow as usize) < self.list.len()
    }
    /// What a packet of this flow is; without a flow it is somebody's data.
    pub(crate) fn class(&self, tag: Option<FlowTag>) -> PacketClass {
        tag.map_or(PacketClass::Data, |t| {
            self.list.get(t.flow as usize).map_or_else(|| self.of_programs.class(t.flow), |f| f.class)
        })
    }
    /// Whether a flow goes to all nodes.
    pub(crate) fn is_to_all(&self, flow: u32) -> bool {
        let own = self.list.get(flow as usize);
        own.map_or_else(|| self.of_programs.is_to_all(flow), |f| f.config.is_to_all())
    }
    /// Whether a flow is a TCP connection.
    pub(crate) fn is_tcp(&self, flow: u32) -> bool {
        self.list.get(flow as usize).is_some_and(|f| f.tcp.is_some())
    }
    /// The number of the application at the end of a flow of TCP.
    pub(crate) fn at_end(&self, (node, flow): TcpUser) -> Option<u32> {
        let f = self.list.get(flow? as usize).filter(|f| f.tcp.is_some())?;
        Some(f.source + f.end(node)? as u32)
    }
    /// The TCP of the end of a flow, and the node's IP identification.
    pub(crate) fn tcp(&mut self, (node, flow): TcpUser) -> (Option<&mut HostStreams>, &mut u16) {
        let f = flow.and_then(|flow| self.list.get_mut(flow as usize));
        let host = f.and_then(|f| {
            let end = f.end(node)?;
            Some(&mut f.tcp.as_mut()?.hosts[end])
        });
        (host, &mut self.ip_ids[node as usize])
    }
    /// An end of a flow of TCP was called.
    pub(crate) fn called(&mut self, now: Time, flow: u32) {
        if let Some(tcp) = &mut self.list[flow as usize].tcp {
            tcp.called(now);
        }
    }
    /// The end of a flow of TCP sends a packet: what it is called, and whether the flow counts it.
    pub(crate) fn segment_departs(&mut self, (node, flow): TcpUser, p: &Packet) -> Option<(FlowTag, bool)> {
        let f = self.list.get_mut(flow? as usize)?;
        let end = f.end(node)?;
        let seq = f.tcp.as_mut()?.number(end);
        Some((FlowTag { flow: flow?, seq }, end == 0 && carries_data(p.bytes()) == Some(true)))
    }
    /// A packet of a flow of TCP arrives at a node. Whether it is a segment at an end of the flow.
    pub(crate) fn segment_arrives(&mut self, now: Time, node: u32, tag: FlowTag, p: &Packet) -> bool {
        let f = &mut self.list[tag.flow as usize];
        let (Some(end), Some(has_data)) = (f.end(node), carries_data(p.bytes())) else { return false };
        if let Some(tcp) = f.tcp.as_mut().filter(|_| end == 0 && !has_data) {
            tcp.acks_received += 1;
        } else if end == 1 && has_data {
            f.sink.receive(now, p);
        }
        true
    }
    /// The address of a flow's source.
    pub(crate) fn source_address(&self, flow: u32) -> Addr {
        self.list[flow as usize].from
    }
    /// The IP identification of a node's next packet that is of no flow.
    pub(crate) fn next_ip_id(&mut self, node: u32) -> u16 {
        next_ip_id(&mut self.ip_ids[node as usize])
    }
    /// Counts a flow's packet that leaves now. Returns the address from which it leaves, and what it is called.
    pub(crate) fn departs(&mut self, now: Time, flow: u32) -> (Addr, FlowTag) {
        let f = &mut self.list[flow as usize];
        (f.from, FlowTag { flow, seq: f.departures.count(now) })
    }

    /// What the source of a ping gets to know of a packet that arrives at `node`: the application's number, and the reply.
    pub(crate) fn reply<'a>(&self, node: u32, tag: FlowTag, p: &'a Packet) -> Option<(u32, EchoReply<'a>)> {
        let f = &self.list[tag.flow as usize];
        if f.class != PacketClass::Ping || f.config.src.0 != node {
            return None;
        }
        let ip = ip::Packet::new_checked(p.bytes()).ok()?;
        let (identifier, seq, data) = echo_reply_in(&ip)?;
        Some((f.source, EchoReply { from: ip.src.ip(), identifier, number: seq, data: data.into() }))
    }

    /// The ping flow that an echo reply of `node`'s own network stack answers.
    pub(crate) fn answered(
        &self,
        node: u32,
        ip: &ip::Packet<'_>,
        stations: &AddrMap<u32>,
    ) -> Option<FlowTag> {
        let (ident, seq, data) = echo_reply_in(ip)?;
        let to = stations.get(ip.dst)?;
        let asks = |f: &Flow| {
            let c = &f.config;
            let ends = (c.src.0, c.dst.0, c.src_port) == (to, node, ident);
            ends && matches!(c.kind, FlowKind::Ping { .. })
        };
        let flow = self.list.iter().position(asks)?;
        let seq = Stamp::parse(data).map_or(u32::from(seq), |s| s.seq);
        (u64::from(seq) < self.list[flow].departures.packets()).then_some(FlowTag { flow: flow as u32, seq })
    }

    /// A packet arrived at `node`.
    pub(crate) fn deliver(
        &mut self,
        now: Time,
        node: u32,
        tag: FlowTag,
        p: &Packet,
        pool: &mut Pool,
        next_id: &mut u64,
    ) -> Delivery {
        let f = &mut self.list[tag.flow as usize];
        let c = &f.config;
        if matches!(c.kind, FlowKind::Ping { .. }) && node == c.dst.0 {
            let ip_id = next_ip_id(&mut self.ip_ids[node as usize]);
            return match echo_reply(p, now, new_id(next_id), ip_id, pool) {
                Some(answer) => Delivery::Answer(answer),
                None => Delivery::Again,
            };
        }
        if c.is_to_all() && node == c.src.0 {
            return Delivery::Again;
        }
        // The source is no receiver of its own packets: the nodes behind it move up.
        let receiver = if c.is_to_all() { node - u32::from(node > c.src.0) } else { 0 };
        match f.sink.receive_by(receiver as usize, now, p) {
            Arrival::First => Delivery::Counted,
            Arrival::Duplicate | Arrival::Foreign => Delivery::Again,
        }
    }

    /// Latency of the packets of all flows but pings; programs' echoes count each way for itself, as other packets.
    pub(crate) fn latency(&self) -> Option<LatencyMs> {
        self.times(|class| class != PacketClass::Ping)
    }
    /// Round-trip times of all pings.
    pub(crate) fn round_trip(&self) -> Option<LatencyMs> {
        self.times(|class| class == PacketClass::Ping)
    }
    fn times(&self, of: impl Fn(PacketClass) -> bool) -> Option<LatencyMs> {
        let mut all = Histogram::default();
        self.list.iter().filter(|f| of(f.class)).for_each(|f| all.merge(f.sink.delay()));
        if of(PacketClass::Data) {
            self.of_programs.delays().for_each(|delay| all.merge(delay));
        }
        Latency::of(&all).map(latency_ms)
    }

    /// What a flow's own ends counted: sent, and received.
    pub(crate) fn counts(&self, flow: u32) -> (u64, u64) {
        let f = &self.list[flow as usize];
        let sent = f.tcp.as_ref().map_or_else(|| f.departures.packets() * f.sink.receivers(), |t| t.sent());
        (sent, f.sink.received())
    }

    /// The receivers that each of a flow's packets is for.
    pub(crate) fn receivers(&self, flow: u32) -> u64 {
        let to_all = if self.is_to_all(flow) { self.ip_ids.len() as u64 - 1 } else { 1 };
        self.list.get(flow as usize).map_or(to_all, |f| f.sink.receivers())
    }

    /// The figures of every flow in a run that ended at `end`; `ends` says how its packets did, by flow.
    pub(crate) fn summaries(&self, end: Time, ends: &[FlowEnds]) -> Vec<FlowSummary> {
        let summary = |(i, f): (usize, &Flow)| {
            let c = &f.config;
            let mut s = Summary::new(c, &f.departures, &f.sink, end);
            if let Some(tcp) = &f.tcp {
                let until = tcp.completed.unwrap_or(end).min(c.stop.unwrap_or(end));
                s.count_stream(tcp.sent(), tcp.delivered(), until.since(c.start));
            }
            FlowSummary {
                id: i as u32,
                kind: f.class.name().to_owned(),
                src: c.src.0,
                dst: c.dst.0,
                sent: Some(s.sent),
                received: Some(s.received),
                dropped: Some(ends[i].dropped),
                // What the host did not give back yet, on a real clock, is in the host.
                held: Some(s.sent.saturating_sub(ends[i].sent) + ends[i].held),
                delivery_ratio: s.delivery_ratio,
                received_bytes: Some(
                    f.tcp.as_ref().map_or_else(|| f.sink.payload_bytes(), |t| t.delivered()),
                ),
                goodput_bps: s.goodput_bps,
                latency_ms: s.latency.map(latency_ms),
                hops_mean: s.hops_mean,
                tcp: f.tcp.as_ref().map(|t| t.summary()),
                ..FlowSummary::default()
            }
        };
        let programs = self.of_programs.summaries(ends);
        self.list.iter().enumerate().map(summary).chain(programs).collect()
    }
}

impl Flow {
    /// Which end of a connection a node is: 0 for the client, 1 for the server.
    fn end(&self, node: u32) -> Option<usize> {
        [self.config.src.0, self.config.dst.0].iter().position(|end| *end == node)
    }
}

/// Whether a packet carries data or the end of a stream; `None` if it is no segment.
fn carries_data(packet: &[u8]) -> Option<bool> {
    let ip = ip::Packet::new_checked(packet).ok()?;
    let segment = tcp::Packet::new_checked(ip.payload).ok()?;
    Some(!segment.payload().is_empty() || segment.flags().contains(tcp::Flags::FIN))
}

/// Identifier, number and data of an echo reply.
fn echo_reply_in<'a>(ip: &ip::Packet<'a>) -> Option<(u16, u16, &'a [u8])> {
    match (ip.src.v6(), ip.dst.v6()) {
        (Some(src), Some(dst)) if ip.protocol == next_header::ICMPV6 => {
            match icmpv6::Repr::parse(ip.payload, src, dst) {
                Ok(icmpv6::Repr::EchoReply { ident, seq, data }) => Some((ident, seq, data)),
                _ => None,
            }
        }
        _ if ip.protocol == ipv4::protocol::ICMP => match icmp::Repr::parse(ip.payload) {
            Ok(icmp::Repr::EchoReply { ident, seq, data }) => Some((ident, seq, data)),
            _ => None,
        },
        _ => None,
    }
}

fn new_id(next_id: &mut u64) -> PacketId {
    *next_id += 1;
    PacketId(*next_id - 1)
}
