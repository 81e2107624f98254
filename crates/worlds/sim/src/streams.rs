//! TCP as a service of hosts: between the connections of a node, its applications, the event queue and the network.

use wayhop_core::{Addr, ApplicationInput, FlowTag, Packet, StreamEffect, Time};
use wayhop_transport::tcp::{HostIo, HostTcp};
use wayhop_wire::{ip, ipv4};

use crate::common::Common;
use crate::event::Event;
use crate::hosted_streams::HostStreams;
use crate::outgoing::Outgoing;

impl Common {
    /// Calls a host's TCP.
    fn host_tcp<R>(&mut self, at: Time, node: u32, f: impl FnOnce(&mut HostTcp, &mut HostIo<'_>) -> R) -> R {
        let HostStreams { tcp, rng, .. } = self.streams.of(node);
        let io = &mut HostIo {
            now: at,
            pool: &mut self.work.pool,
            next_id: &mut self.work.next_id,
            ip_id: self.flows.ip_id(node),
            rng,
        };
        f(tcp, io)
    }

    /// Does what an application of a node asks for.
    pub(crate) fn stream_effect(&mut self, at: Time, number: u32, node: u32, effect: StreamEffect) {
        match effect {
            StreamEffect::Listen(port) => self.streams.of(node).tcp.listen(number, port),
            StreamEffect::Connect { stream, to } => {
                let peer = Addr::from(to.ip());
                let from = if peer.is_v4() { self.host_source(node, peer) } else { self.addr6(node) };
                self.host_tcp(at, node, |tcp, io| tcp.connect(io, number, stream, from, to));
            }
            StreamEffect::Write { stream, data } => self.streams.of(node).tcp.write(number, stream, &data),
            StreamEffect::Close(stream) => self.streams.of(node).tcp.close(number, stream),
        }
    }

    /// An application failed: its ports and streams are closed.
    pub(crate) fn stream_release(&mut self, node: u32, number: u32) {
        if let Some(host) = self.streams.by_node.get_mut(&node) {
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
            self.host_tcp(at, node, |tcp, io| tcp.on_packet(io, p.bytes()));
            self.serve_streams(at, node, p.meta.flow);
        }
    }

    /// An ICMP error reached a node. True if it was about one of its streams.
    pub(crate) fn stream_notice(&mut self, at: Time, node: u32, ip: &ip::Packet<'_>) -> bool {
        let told = self.streams.by_node.contains_key(&node)
            && self.host_tcp(at, node, |tcp, io| tcp.on_icmp(io, ip.payload, ip.src.v6()));
        if told {
            self.serve_streams(at, node, None);
        }
        told
    }

    /// Delivers pending stream events to applications and sends what they write, until nothing is
    /// pending. `heard` is the flow of the packet that is answered, if it had one.
    pub(crate) fn serve_streams(&mut self, at: Time, node: u32, heard: Option<FlowTag>) {
        if self.streams.serving || !self.streams.by_node.contains_key(&node) {
            return;
        }
        self.streams.serving = true;
        loop {
            while let Some((number, input)) = self.streams.of(node).tcp.event() {
                self.application(at, number, ApplicationInput::Stream(input));
            }
            self.host_tcp(at, node, HostTcp::flush);
            let mut is_done = true;
            while let Some((owner, p)) = self.streams.of(node).tcp.packet() {
                self.stream_send(at, node, owner, heard, p);
                is_done = false;
            }
            if is_done {
                break;
            }
        }
        self.streams.serving = false;
        self.expect_streams(at, node);
    }

    /// A segment enters the node's network layer, in a flow of programs or, like an agent's datagrams, in none.
    fn stream_send(
        &mut self,
        at: Time,
        node: u32,
        owner: Option<u32>,
        heard: Option<FlowTag>,
        mut p: Packet,
    ) {
        let is_listed =
            |number: u32| self.applications.as_ref().is_some_and(|a| a.all[number as usize].listed.is_some());
        if owner.map_or(heard.is_some(), is_listed)
            && let Ok(ip) = ip::Packet::new_checked(p.bytes())
        {
            let to = self.stations.get(&ip.dst).copied();
            p.meta.flow = self.flows.of_programs.sent(at, node, p.bytes(), to);
            self.originated(&p, true);
        }
        self.answers.push_back((node, Outgoing::Originate(p)));
    }

    /// Queues an event for the deadline of a host's TCP.
    fn expect_streams(&mut self, at: Time, node: u32) {
        let Some(host) = self.streams.by_node.get_mut(&node) else { return };
        let Some(due) = host.tcp.deadline().map(|due| due.max(at)) else { return };
        if host.queued.is_none_or(|queued| due < queued) {
            host.queued = Some(due);
            self.queue.push(due, node, Event::Streams);
        }
    }

    /// A deadline's event is due.
    pub(crate) fn streams_timer(&mut self, at: Time, node: u32) {
        let Some(host) = self.streams.by_node.get_mut(&node) else { return };
        // If the deadline was moved forward, another event is queued for it.
        if host.queued != Some(at) {
            return;
        }
        host.queued = None;
        if host.tcp.deadline().is_some_and(|due| due <= at) {
            self.host_tcp(at, node, HostTcp::on_timer);
        }
        self.serve_streams(at, node, None);
    }

    /// A node loses its memory, and with it its connections.
    pub(crate) fn streams_lose(&mut self, node: u32) {
        if let Some(host) = self.streams.by_node.get_mut(&node) {
            host.tcp.lose();
        }
    }

    /// The run is over: nothing more is sent.
    pub(crate) fn streams_end(&mut self) {
        self.streams.by_node.clear();
    }

    /// A node is up again: deadlines that passed meanwhile are due now.
    pub(crate) fn streams_resume(&mut self, at: Time, node: u32) {
        if let Some(host) = self.streams.by_node.get_mut(&node) {
            host.queued = None;
            self.expect_streams(at, node);
        }
    }
}
