//! The scenario's applications: between each one's state machine, the event queue and its node's network layer.
//!
//! What an application sends is in a flow of programs, as it is where applications are real programs (`conversations`).

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use wayhop_core::{
    Addr, ApplicationCx, ApplicationDatagram, ApplicationEffect, ApplicationInput, Ending, Fix, NodeId,
    Packet, PacketMeta, Time, TimerKey,
};
use wayhop_trace::NoteEvent;
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
        let Applications { all, effects, .. } = &mut **applications;
        let mut effects = std::mem::take(effects);
        let hosted = &mut all[number as usize];
        let node = hosted.node;
        if let Some(logs) = &mut self.inputs {
            logs.application_input(at, hosted.number, &hosted.rng, &input);
        }
        let mut cx = ApplicationCx::new(at, self.addrs[node as usize].into(), &mut hosted.rng, &mut effects);
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
        self.serve_streams(at, node, None);
    }

    fn application_effect(&mut self, at: Time, number: u32, node: u32, effect: ApplicationEffect) {
        let Some(hosted) = self.applications.as_mut().map(|a| &mut a.all[number as usize]) else { return };
        match effect {
            ApplicationEffect::Listen(port) if hosted.ports.contains(&port) => {}
            ApplicationEffect::Listen(port) => hosted.ports.push(port),
            ApplicationEffect::SetTimer(key, due) => {
                let due = due.max(at);
                hosted.timers.retain(|(k, _)| *k != key);
                hosted.timers.push((key, due));
                self.queue.push(due, node, Event::Application(number, key));
            }
            ApplicationEffect::ClearTimer(key) => hosted.timers.retain(|(k, _)| *k != key),
            ApplicationEffect::Note(note) => {
                self.recorder.note(&NoteEvent { time: at, node: NodeId(node), note });
            }
            ApplicationEffect::Send(datagram) => {
                let is_listed = hosted.listed.is_some();
                self.application_send(at, node, &datagram, is_listed);
            }
            ApplicationEffect::Row(row) => {
                if let (Some(record), Some(books)) = (row.downcast(), &mut self.bundles) {
                    bundles::record(books, &mut self.recorder, NodeId(node), record);
                }
            }
            ApplicationEffect::Fail(_) => {
                hosted.ports.clear();
                hosted.timers.clear();
                self.stream_release(node, number);
            }
            ApplicationEffect::Network(effect) => self.network_effect(at, number, node, effect),
            ApplicationEffect::Stream(effect) => self.stream_effect(at, number, node, effect),
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
        let head = ip::Repr::header_len(to);
        let datagram =
            udp::Repr { src_port: d.port, dst_port: d.to.port(), payload_len: d.data.len() as u16 };
        let mut p = self.work.pool.zeroed(head + datagram.buffer_len(), PacketMeta::default());
        let (header, body) = p.bytes_mut().split_at_mut(head);
        body[udp::HEADER_LEN..].copy_from_slice(&d.data);
        datagram.emit(body, from, to);
        let (payload_len, id) = (body.len() as u16, self.flows.next_ip_id(node));
        ip::Repr { src: from, dst: to, protocol: ipv4::protocol::UDP, ttl: d.ttl, tos: 0, id, payload_len }
            .emit(header);
        p.meta = self.work.new_meta(at);
        if in_flow {
            p.meta.flow = self.flows.of_programs.sent(at, node, p.bytes(), self.stations.get(&to).copied());
            self.originated(&p, true);
        }
        self.answers.push_back((node, Outgoing::Originate(p)));
    }

    /// A packet was delivered to a node: it goes to the application that listens, if there is one.
    pub(crate) fn application_deliver(&mut self, at: Time, node: u32, p: &Packet) {
        let Some(applications) = &self.applications else { return };
        let Some((from, port, data)) = datagram(p.bytes()) else { return };
        if let Some(number) = applications.at_port(node, port) {
            self.application(
                at,
                number,
                ApplicationInput::Datagram { port, from, data: Cow::Borrowed(data) },
            );
        }
    }

    /// Whether an application of this node listens where a packet goes to.
    pub(crate) fn application_listens(&self, node: u32, packet: &[u8]) -> bool {
        let listens = |a: &Applications| a.at_port(node, datagram(packet)?.1);
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
        self.streams_lose(node);
        self.each_application(at, node, &ApplicationInput::End(Ending::AtOnce));
        self.each_application(at, node, &ApplicationInput::Restart);
        let Some(applications) = &mut self.applications else { return };
        for hosted in applications.all.iter_mut().filter(|h| h.node == node) {
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
        for (number, hosted) in (0..).zip(&mut applications.all).filter(|(_, h)| h.node == node) {
            for (key, due) in hosted.timers.iter_mut().filter(|(_, due)| *due <= at) {
                *due = at;
                self.queue.push(at, node, Event::Application(number, *key));
            }
        }
    }

    /// The run ends.
    pub(crate) fn end_applications(&mut self, at: Time) {
        self.streams_end();
        let all = self.applications.as_ref().map_or(0, |a| a.all.len() as u32);
        (0..all).for_each(|number| self.application(at, number, ApplicationInput::End(Ending::AtOnce)));
    }
}

impl Net {
    /// All applications begin.
    pub(crate) fn begin_applications(&mut self) {
        let all = self.common.applications.as_ref().map_or(0, |a| a.all.len());
        for number in 0..all as u32 {
            self.common.application(Time::ZERO, number, ApplicationInput::Start);
            self.begin_network(Time::ZERO, number);
        }
    }

    /// The event of an application's timer came up, unless the timer was moved or cleared.
    pub(crate) fn application_timer(&mut self, at: Time, number: u32, key: TimerKey) {
        let hosted = self.common.applications.as_mut().map(|a| &mut a.all[number as usize]);
        let due = hosted
            .and_then(|h| h.timers.iter().position(|t| *t == (key, at)).map(|i| h.timers.swap_remove(i)));
        if due.is_some() {
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
fn datagram(packet: &[u8]) -> Option<(SocketAddr, u16, &[u8])> {
    let ip = ip::Packet::new_checked(packet).ok().filter(|ip| ip.protocol == ipv4::protocol::UDP)?;
    let datagram = udp::Packet::new_checked(ip.payload).ok()?;
    let from = SocketAddr::new(ip.src.ip(), datagram.src_port());
    Some((from, datagram.dst_port(), datagram.payload()))
}
