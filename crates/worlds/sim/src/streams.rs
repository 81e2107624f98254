//! TCP as a service of hosts: between connections, the applications above them, the event queue and the network.

use wayhop_core::{ApplicationInput, FlowTag, NodeId, Packet, StreamEffect, Time, TimerKey};
use wayhop_trace::{Recorder, TcpEvent};
use wayhop_transport::tcp::{HostIo, HostTcp, Note, stream};
use wayhop_wire::ipv6::next_header;
use wayhop_wire::{ip, ipv4, unreachable_for, unreachable6_for};

use crate::common::Common;
use crate::event::Event;
use crate::hosted_streams::{HostStreams, TcpUser};
use crate::outgoing::Outgoing;

impl Common {
    /// Calls the TCP of programs or of a flow's end.
    fn host_tcp<R>(
        &mut self,
        at: Time,
        user: TcpUser,
        f: impl FnOnce(&mut HostTcp, &mut HostIo<'_>) -> R,
    ) -> R {
        let mut notes = std::mem::take(&mut self.streams.notes);
        let (host, ip_id) = self.flows.tcp(user);
        let host = host.unwrap_or_else(|| self.streams.of(user.0));
        let io = &mut HostIo {
            now: at,
            pool: &mut self.work.pool,
            next_id: &mut self.work.next_id,
            ip_id,
            notes: &mut notes,
            deliver: &mut |from, octets| {
                debug_assert!(stream::matches(from, octets), "octets arrive that were not sent");
            },
        };
        let answer = f(&mut host.tcp, io);
        self.streams.notes = notes;
        answer
    }

    /// The TCP of programs, if they ever used it, or of a flow's end.
    fn host(&mut self, user: TcpUser) -> Option<&mut HostStreams> {
        if user.1.is_some() { self.flows.tcp(user).0 } else { self.streams.by_node.get_mut(&user.0) }
    }

    /// The users of TCP at a node: ends of flows, in the order of flows, then programs.
    fn tcp_users(&mut self, node: u32) -> Vec<TcpUser> {
        let all = (0..self.flows.len() as u32).map(Some).chain([None]).map(|flow| (node, flow));
        all.filter(|user| self.host(*user).is_some()).collect()
    }

    /// Does what an application asks for: of the TCP of programs, or of the end of a flow whose application it is.
    pub(crate) fn stream_effect(&mut self, at: Time, number: u32, user: TcpUser, effect: StreamEffect) {
        let from = match (&effect, user) {
            (_, (_, Some(flow))) => self.flows.source_address(flow),
            (StreamEffect::Connect { to, .. }, (node, _)) if to.is_ipv4() => {
                self.host_source(node, to.ip().into())
            }
            (_, (node, _)) => self.addr6(node),
        };
        self.host_tcp(at, user, |tcp, io| tcp.apply(io, number, from, effect));
    }

    /// An application failed: its ports and streams are closed.
    pub(crate) fn stream_release(&mut self, user: TcpUser, number: u32) {
        if let Some(host) = self.host(user) {
            host.tcp.release(number);
        }
    }

    /// Whether packets of this kind are for a host's TCP: segments of no flow of the scenario.
    pub(crate) fn is_of_stream(&self, p: &Packet) -> bool {
        self.applications.is_some()
            && self.external.is_none()
            && p.meta.flow.is_none_or(|tag| !self.flows.is_own(tag.flow))
            && ip::Packet::new_checked(p.bytes()).is_ok_and(|ip| ip.protocol == ipv4::protocol::TCP)
    }

    /// A segment of no flow of the scenario was delivered to a node.
    pub(crate) fn stream_deliver(&mut self, at: Time, node: u32, p: &Packet) {
        if self.is_of_stream(p) {
            self.host_tcp(at, (node, None), |tcp, io| tcp.on_packet(io, p.bytes()));
            self.serve_streams(at, (node, None), p.meta.flow);
        }
    }

    /// A packet of a flow of TCP was delivered to a node.
    pub(crate) fn segment_deliver(&mut self, at: Time, node: u32, tag: FlowTag, p: Packet) {
        let user = (node, Some(tag.flow));
        if self.flows.segment_arrives(at, node, tag, &p) {
            if self.host_tcp(at, user, |tcp, io| tcp.on_packet(io, p.bytes())) {
                self.ledger.delivered(tag, false);
            }
            self.serve_streams(at, user, None);
        }
        self.work.pool.recycle(p);
    }

    /// An ICMP message reached a node: true if it was an error about a segment of a flow or a stream.
    pub(crate) fn stream_notice(&mut self, at: Time, node: u32, packet: &[u8]) -> bool {
        let Ok(ip) = ip::Packet::new_checked(packet) else { return false };
        let of_icmp = if ip.src.is_v4() { ipv4::protocol::ICMP } else { next_header::ICMPV6 };
        if ip.protocol != of_icmp {
            return false;
        }
        let is_about = |common: &mut Self, user: &TcpUser| {
            common.host_tcp(at, *user, |tcp, io| tcp.on_icmp(io, ip.payload, ip.src.v6()))
        };
        let sender = self.tcp_users(node).into_iter().find(|user| is_about(self, user));
        sender.map(|user| self.serve_streams(at, user, None)).is_some()
    }

    /// A node found no route for a segment of its own: its stack informs the sender.
    pub(crate) fn stream_refused(&mut self, at: Time, node: u32, p: &Packet) {
        if (p.meta.flow.is_some_and(|t| self.flows.is_tcp(t.flow)) || self.is_of_stream(p))
            && let Some(answer) = unreachable_for(p.bytes(), self.addrs[node as usize])
                .or_else(|| unreachable6_for(p.bytes(), self.addrs6.get(node as usize).copied()?))
        {
            self.stream_notice(at, node, &answer);
        }
    }

    /// Delivers pending stream events to applications and sends what they write, until nothing is
    /// pending. `heard` is the flow of the packet that is answered, if it had one.
    pub(crate) fn serve_streams(&mut self, at: Time, user: TcpUser, heard: Option<FlowTag>) {
        if self.streams.serving || self.host(user).is_none() {
            return;
        }
        self.streams.serving = true;
        let mut is_done = false;
        while !is_done {
            while let Some((number, input)) = self.host_tcp(at, user, HostTcp::event) {
                self.application(at, number, ApplicationInput::Stream(input));
            }
            while let Some(host) = self.host(user) {
                let Some((owner, p)) = host.tcp.packet() else {
                    is_done = !host.tcp.has_events();
                    break;
                };
                self.stream_send(at, user, owner, heard, p);
            }
        }
        self.streams.serving = false;
        if let (node, Some(flow)) = user {
            self.flows.called(at, flow);
            self.streams.notes.iter().for_each(|n| record(&mut self.recorder, flow, NodeId(node), n));
        }
        self.streams.notes.clear();
        self.expect_streams(at, user);
    }

    /// A segment enters the node's network layer, in its flow, in a flow of programs or, like an agent's datagrams, in none.
    fn stream_send(
        &mut self,
        at: Time,
        user: TcpUser,
        owner: Option<u32>,
        heard: Option<FlowTag>,
        mut p: Packet,
    ) {
        let is_listed =
            |number: u32| self.applications.as_ref().is_some_and(|a| a.all[number as usize].listed.is_some());
        let node = user.0;
        if let Some((tag, is_counted)) = self.flows.segment_departs(user, &p) {
            p.meta.flow = Some(tag);
            self.originated(&p, is_counted);
        } else if owner.map_or(heard.is_some(), is_listed)
            && let Ok(ip) = ip::Packet::new_checked(p.bytes())
        {
            let to = self.stations.get(ip.dst);
            p.meta.flow = self.flows.of_programs.sent(at, node, p.bytes(), to);
            self.originated(&p, true);
        }
        self.answers.push_back((node, Outgoing::Originate(p)));
    }

    /// The timers of the application at the end of a flow.
    fn flow_timers(&self, user: TcpUser) -> &[(TimerKey, Time)] {
        let number = self.flows.at_end(user);
        let hosted = number.and_then(|n| self.applications.as_ref()?.all.get(n as usize));
        hosted.map_or(&[], |hosted| &hosted.timers)
    }

    /// Queues an event for the deadline of a TCP, or of the application of a flow above it.
    fn expect_streams(&mut self, at: Time, user: TcpUser) {
        let timer = self.flow_timers(user).iter().map(|(_, due)| *due).min();
        let Some(host) = self.host(user) else { return };
        host.deadline = host.tcp.deadline();
        let due = host.deadline.into_iter().chain(timer).min().map(|due| due.max(at));
        if let Some(due) = due.filter(|due| host.queued.is_none_or(|queued| *due < queued)) {
            host.queued = Some(due);
            self.queue.push(due, user.0, Event::Streams(user.1));
        }
    }

    /// A deadline's event is due.
    pub(crate) fn streams_timer(&mut self, at: Time, user: TcpUser) {
        // If the deadline was moved forward, another event is queued for it.
        let Some(host) = self.host(user).filter(|host| host.queued == Some(at)) else { return };
        host.queued = None;
        if host.deadline.is_some_and(|due| due <= at) {
            self.host_tcp(at, user, HostTcp::on_timer);
        }
        let mut is_served = false;
        if let Some(number) = self.flows.at_end(user) {
            // What is sent again and what a flow's application writes at the same time leave together.
            while let Some(key) = self.take_due(at, number) {
                self.application(at, number, ApplicationInput::Timer(key));
                is_served = true;
            }
        }
        if !is_served {
            self.serve_streams(at, user, None);
        }
    }

    /// A node loses its memory, and with it its connections.
    pub(crate) fn streams_lose(&mut self, at: Time, node: u32) {
        for user in self.tcp_users(node) {
            self.host_tcp(at, user, |tcp, _| tcp.lose());
            self.serve_streams(at, user, None);
        }
    }

    /// The run is over: nothing more is sent.
    pub(crate) fn streams_end(&mut self) {
        self.streams.by_node.clear();
    }

    /// A node is up again: deadlines that passed meanwhile are due now, also those of applications of flows.
    pub(crate) fn streams_resume(&mut self, at: Time, node: u32) {
        for user in self.tcp_users(node) {
            let Some(host) = self.host(user) else { continue };
            // An opening that was put off has its event.
            if host.queued != Some(at) || host.tcp.endpoints().next().is_some() {
                host.queued = None;
                self.expect_streams(at, user);
            }
        }
    }

    /// The time to open a flow's connection came while its node is down: it opens it when the node is back.
    pub(crate) fn put_off(&mut self, until: Time, user: TcpUser) {
        if let Some(host) = self.flows.tcp(user).0.filter(|host| host.tcp.endpoints().next().is_none()) {
            host.queued = Some(until);
            self.queue.push(until, user.0, Event::Streams(user.1));
        }
    }
}

/// Writes a row of the table `tcp`.
fn record(recorder: &mut Recorder, flow: u32, node: NodeId, n: &Note) {
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
