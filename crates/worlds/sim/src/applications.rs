//! The scenario's applications and those at the ends of its flows: between each one's state machine, the event queue and its node's network
//! layer.
//!
//! The packets of a source are in its flow. Those of another application are in a flow of programs, as in worlds where applications are real
//! programs (`conversations`).

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use wayhop_core::{
    Addr, ApplicationCx, ApplicationDatagram, ApplicationEffect, ApplicationInput, Ending, Fix, FlowTag,
    NodeId, Packet, PacketMeta, Pool, Time, TimerKey,
};
use wayhop_trace::NoteEvent;
use wayhop_transport::{datagram, echo_request};
use wayhop_wire::{ip, ipv4, udp};

use crate::bundles;
use crate::common::Common;
use crate::event::Event;
use crate::hosted_applications::Applications;
use crate::net::Net;
use crate::outgoing::Outgoing;

impl Common {
    /// Calls an application, and does what it asks for.
    pub(crate) fn application(&mut self, at: Time, number: u32, input: ApplicationInput<'_>) {
        let Some(applications) = &mut self.applications else { return };
        let Applications { all, effects, spare, .. } = &mut **applications;
        let mut effects = std::mem::take(effects);
        let hosted = &mut all[number as usize];
        let (node, user) = (hosted.node, (hosted.node, hosted.flow));
        if let (Some(logs), Some(number)) = (&mut self.inputs, hosted.log) {
            logs.application_input(at, number, &hosted.rng, &input);
        }
        let addr = self.addrs[node as usize].into();
        let mut cx = ApplicationCx::new(at, addr, &mut hosted.rng, &mut effects).reusing(spare);
        hosted.engine.on_input(&mut cx, input);
        if let Some(logs) = &mut self.inputs {
            logs.effects(&effects);
        }
        for effect in effects.drain(..) {
            self.application_effect(at, number, node, effect);
        }
        if let Some(applications) = &mut self.applications {
            applications.effects = effects;
        }
        self.serve_streams(at, user, None);
    }

    fn application_effect(&mut self, at: Time, number: u32, node: u32, effect: ApplicationEffect) {
        let Some(hosted) = self.applications.as_mut().map(|a| &mut a.all[number as usize]) else { return };
        let user = (node, hosted.flow);
        match effect {
            ApplicationEffect::Listen(port) if hosted.ports.contains(&port) => {}
            ApplicationEffect::Listen(port) => hosted.ports.push(port),
            ApplicationEffect::SetTimer(key, due) => {
                let due = due.max(at);
                hosted.timers.retain(|(k, _)| *k != key);
                hosted.timers.push((key, due));
                // At the end of a flow of TCP, one event is for both.
                if self.flows.at_end(user).is_none() {
                    self.queue.push(due, node, Event::Application(number, key));
                }
            }
            ApplicationEffect::ClearTimer(key) => hosted.timers.retain(|(k, _)| *k != key),
            ApplicationEffect::Note(note) => {
                self.note(NoteEvent { time: at, node: NodeId(node), note });
            }
            ApplicationEffect::Send(d) => {
                if let Some(flow) = hosted.flow {
                    self.flow_sends(at, node, flow, |from, id, meta, pool| {
                        datagram(&d, from, id, meta, pool)
                    });
                } else {
                    let is_listed = hosted.listed.is_some();
                    self.application_send(at, node, &d, is_listed);
                }
                self.reuse(d.data);
            }
            ApplicationEffect::EchoRequest(request) => {
                // Only the pings among the flows have somebody who answers.
                if let Some(flow) = hosted.flow {
                    self.flow_sends(at, node, flow, |from, id, meta, pool| {
                        echo_request(&request, from, id, meta, pool)
                    });
                }
                self.reuse(request.data);
            }
            ApplicationEffect::Row(row) => {
                if let (Some(record), Some(books)) = (row.downcast(), &mut self.bundles) {
                    bundles::record(books, &mut self.recorder, NodeId(node), record);
                }
            }
            ApplicationEffect::Fail(_) => {
                hosted.ports.clear();
                hosted.timers.clear();
                self.stream_release(user, number);
            }
            ApplicationEffect::Network(effect) => self.network_effect(at, number, node, effect),
            ApplicationEffect::Stream(effect) => self.stream_effect(at, number, user, effect),
            // There are no programs, and nobody who watches.
            ApplicationEffect::Program(_) | ApplicationEffect::Remark(_) => {}
        }
    }

    /// A datagram of an application enters its node's network layer, in a flow of programs or in none.
    fn application_send(&mut self, at: Time, node: u32, d: &ApplicationDatagram, in_flow: bool) {
        let to = Addr::from(d.to.ip());
        let from: Addr = match d.to.ip() {
            IpAddr::V4(_) => self.host_source(node, to),
            IpAddr::V6(_) => self.addr6(node),
        };
        // Longer ones than a kernel takes, and what the node has no address for, are lost where they are made.
        if d.data.len() > usize::from(u16::MAX) - 64 || from.is_v4() != to.is_v4() {
            return;
        }
        let (meta, id) = (self.work.new_meta(at), self.flows.next_ip_id(node));
        let mut p = datagram(d, from, id, meta, &mut self.work.pool);
        if in_flow {
            p.meta.flow = self.flows.of_programs.sent(at, node, p.bytes(), self.stations.get(to));
            self.originated(&p, true);
        }
        self.answers.push_back((node, Outgoing::Originate(p)));
    }

    /// A packet of a flow is made. On a real clock it goes through its node's network stack.
    fn flow_sends(
        &mut self,
        at: Time,
        node: u32,
        flow: u32,
        make: impl FnOnce(Addr, u16, PacketMeta, &mut Pool) -> Packet,
    ) {
        let (from, tag) = self.flows.departs(at, flow);
        let meta = PacketMeta { flow: Some(tag), ..self.work.new_meta(at) };
        let p = make(from, self.flows.next_ip_id(node), meta, &mut self.work.pool);
        if let Some(external) = &mut self.external {
            return external.send(at, node, p);
        }
        self.originated(&p, true);
        self.answers.push_back((node, Outgoing::Originate(p)));
    }

    fn reuse(&mut self, data: Vec<u8>) {
        if let Some(applications) = &mut self.applications {
            applications.spare = data;
        }
    }

    /// A flow's packet was delivered to a node: the reply to a ping is for its source.
    pub(crate) fn source_deliver(&mut self, at: Time, node: u32, tag: FlowTag, p: &Packet) {
        if let Some((number, reply)) = self.flows.reply(node, tag, p) {
            self.application(at, number, ApplicationInput::EchoReply(reply));
        }
    }

    /// A packet was delivered to a node: it goes to the application that listens, if there is one.
    pub(crate) fn application_deliver(&mut self, at: Time, node: u32, p: &Packet) {
        let Some(applications) = &self.applications else { return };
        let Some((from, port, data)) = received(p.bytes()) else { return };
        if let Some(number) = applications.at_port(node, port) {
            let datagram = ApplicationInput::Datagram { port, from, data: Cow::Borrowed(data) };
            self.application(at, number, datagram);
        }
    }

    /// Whether an application of this node listens where a packet goes to.
    pub(crate) fn application_listens(&self, node: u32, packet: &[u8]) -> bool {
        let listens = |a: &Applications| a.at_port(node, received(packet)?.1);
        self.applications.as_ref().and_then(|a| listens(a)).is_some()
    }

    /// Calls all applications of a node.
    fn each_application(&mut self, at: Time, node: u32, input: &ApplicationInput<'_>) {
        let own = self.applications.as_ref().map_or_else(Vec::new, |a| a.of_node(node).to_vec());
        for number in own {
            self.application(at, number, input.clone());
        }
    }

    /// A node goes down and loses its memory.
    pub(crate) fn lose_applications(&mut self, at: Time, node: u32) {
        self.streams_lose(at, node);
        self.each_application(at, node, &ApplicationInput::End(Ending::AtOnce));
        self.each_application(at, node, &ApplicationInput::Restart);
        let Some(applications) = &mut self.applications else { return };
        for (_, hosted) in applications.at_node(node) {
            hosted.timers.clear();
            hosted.ports.clear();
            if let Some(network) = &mut hosted.network {
                network.intercepted.clear();
                network.home = None;
            }
        }
    }

    /// A node is up again: calls its applications, and has timers that were due fire now.
    fn resume_applications(&mut self, at: Time, node: u32, lost: bool) {
        if lost {
            return self.each_application(at, node, &ApplicationInput::Start);
        }
        self.each_application(at, node, &ApplicationInput::Resume);
        let Some(applications) = &mut self.applications else { return };
        for (number, hosted) in applications.at_node(node) {
            for (key, due) in hosted.timers.iter_mut().filter(|(_, due)| *due <= at) {
                *due = at;
                self.queue.push(at, node, Event::Application(number, *key));
            }
        }
    }

    /// The event of an application's timer came up while its node is down. Most timers fire when it is back; the schedule of a flow goes
    /// on, and its source leaves out the packet that is due.
    pub(crate) fn leave_out(&mut self, at: Time, number: u32, key: TimerKey) {
        let is_source = self.applications.as_ref().is_some_and(|a| number < a.sources);
        if is_source && self.take_timer(at, number, key) {
            self.application(at, number, ApplicationInput::Resume);
        }
    }

    /// Takes a timer of an application that is due.
    pub(crate) fn take_due(&mut self, at: Time, number: u32) -> Option<TimerKey> {
        let timers = &mut self.applications.as_mut()?.all[number as usize].timers;
        timers.iter().position(|(_, due)| *due <= at).map(|i| timers.remove(i).0)
    }

    /// Takes an application's timer if it is due now.
    fn take_timer(&mut self, at: Time, number: u32, key: TimerKey) -> bool {
        let Some(applications) = &mut self.applications else { return false };
        let hosted = &mut applications.all[number as usize];
        let due = hosted.timers.iter().position(|timer| *timer == (key, at));
        due.map(|i| hosted.timers.swap_remove(i)).is_some()
    }

    /// The run ends.
    pub(crate) fn end_applications(&mut self, at: Time) {
        self.streams_end();
        let all = self.applications.as_ref().map_or(0..0, |a| a.sources..a.all.len() as u32);
        all.for_each(|number| self.application(at, number, ApplicationInput::End(Ending::AtOnce)));
    }
}

impl Net {
    /// All applications begin but for sources of flows.
    pub(crate) fn begin_applications(&mut self) {
        let all = self.common.applications.as_ref().map_or(0..0, |a| a.sources..a.all.len() as u32);
        for number in all {
            self.common.application(Time::ZERO, number, ApplicationInput::Start);
            self.begin_network(Time::ZERO, number);
        }
    }

    /// All flows begin.
    pub(crate) fn begin_flows(&mut self) {
        let sources = self.common.applications.as_ref().map_or(0, |a| a.sources);
        (0..sources).for_each(|number| {
            self.common.application(Time::ZERO, number, ApplicationInput::Start);
        });
    }

    /// The event of an application's timer came up, unless the timer was moved or cleared.
    pub(crate) fn application_timer(&mut self, at: Time, number: u32, key: TimerKey) {
        if self.common.take_timer(at, number, key) {
            self.common.application(at, number, ApplicationInput::Timer(key));
            self.send_answers(at);
        }
    }

    /// A GPS receiver tells the node's applications where they are.
    pub(crate) fn applications_position(&mut self, at: Time, node: u32, fix: &Fix) {
        self.common.each_application(at, node, &ApplicationInput::Position(*fix));
        self.send_answers(at);
    }

    /// A node is up again, with its memory or without.
    pub(crate) fn resume_applications(&mut self, at: Time, node: u32, lost: bool) {
        self.common.resume_applications(at, node, lost);
        let own = self.common.applications.as_ref().map_or_else(Vec::new, |a| a.of_node(node).to_vec());
        for number in own {
            self.begin_network(at, number);
        }
    }
}

/// A UDP datagram: from where, to which port, and its data.
fn received(packet: &[u8]) -> Option<(SocketAddr, u16, &[u8])> {
    let ip = ip::Packet::new_checked(packet).ok().filter(|ip| ip.protocol == ipv4::protocol::UDP)?;
    let datagram = udp::Packet::new_checked(ip.payload).ok()?;
    let from = SocketAddr::new(ip.src.ip(), datagram.src_port());
    Some((from, datagram.dst_port(), datagram.payload()))
}
