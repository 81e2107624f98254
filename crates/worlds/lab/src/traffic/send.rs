//! Sending the flows' packets when they are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{SockAddr, Socket};
use wayhop_core::{
    Addr, Application as _, ApplicationCx, ApplicationEffect, ApplicationInput, FlowTag, Packet, PacketMeta,
    Pool, Rng, Time, TimerKey,
};
use wayhop_netns::{Lateness, priority};
use wayhop_trace::{HopEvent, HopKind, Messages, PacketClass};
use wayhop_transport::{Departures, FlowConfig, Source, datagram, echo_request};
use wayhop_wire::{ip, udp};

use crate::record::Records;
use crate::stamped::packet_id;

/// Where a flow's packets leave.
pub(super) struct Outlet {
    /// The flow's index in the scenario.
    pub(super) flow: u32,
    pub(super) config: FlowConfig,
    pub(super) departures: Departures,
    pub(super) source: Source,
    pub(super) rng: Rng,
    pub(super) from: Addr,
    pub(super) class: PacketClass,
    pub(super) socket: Socket,
    pub(super) to: SockAddr,
    pub(super) to_addr: Addr,
    /// When its node is down: from, until.
    pub(super) down: Vec<(Time, Time)>,
}

impl Outlet {
    /// Whether its node is down at that time.
    fn is_down(&self, at: Time) -> bool {
        self.down.iter().any(|(from, until)| (*from..*until).contains(&at))
    }

    /// Calls the source. Returns the packet that it sends, and when it wants to be called again.
    fn call(
        &mut self,
        at: Time,
        input: ApplicationInput<'_>,
        pool: &mut Pool,
    ) -> (Option<Packet>, Option<(Time, TimerKey)>) {
        let (mut effects, mut packet, mut timer) = (Vec::new(), None, None);
        let mut cx = ApplicationCx::new(at, self.from.ip(), &mut self.rng, &mut effects);
        self.source.on_input(&mut cx, input);
        let seq = self.departures.packets() as u32;
        let tag = FlowTag { flow: self.flow, seq };
        let meta = PacketMeta { id: packet_id(self.flow, seq), flow: Some(tag), born: at };
        for effect in effects {
            match effect {
                ApplicationEffect::SetTimer(key, at) => timer = Some((at, key)),
                ApplicationEffect::Send(d) => packet = Some(datagram(&d, self.from, 0, meta, pool)),
                ApplicationEffect::EchoRequest(r) => {
                    packet = Some(echo_request(&r, self.from, 0, meta, pool));
                }
                // Its socket is open already.
                _ => {}
            }
        }
        if packet.is_some() {
            self.departures.count(at);
        }
        (packet, timer)
    }
}

/// What was sent.
#[derive(Default)]
pub(super) struct SendReport {
    /// One a flow, in order.
    pub(super) outlets: Vec<Outlet>,
    /// How long after they were due packets left.
    pub(super) lateness: Lateness,
}

/// Sends all flows' packets until the end, or until it is told to stop.
pub(super) fn send_all(
    outlets: Vec<Outlet>,
    begun: Instant,
    end: Time,
    stop: &AtomicBool,
    records: &Records,
) -> SendReport {
    let mut sent = SendReport { outlets, lateness: Lateness::default() };
    let mut due: BinaryHeap<Reverse<(Time, usize, TimerKey)>> = BinaryHeap::new();
    let mut pool = Pool::new();
    for (i, o) in sent.outlets.iter_mut().enumerate() {
        let (_, timer) = o.call(Time::ZERO, ApplicationInput::Start, &mut pool);
        due.extend(timer.map(|(at, key)| Reverse((at, i, key))));
    }
    // Like the emulation's loop: it is on time although the nodes are busy.
    priority::raise();
    let now = || Time::from_nanos(begun.elapsed().as_nanos() as u64);
    while let Some(Reverse((at, i, key))) = due.pop() {
        if at >= end {
            continue;
        }
        loop {
            if stop.load(Ordering::Relaxed) {
                return sent;
            }
            let wait = at.since(now());
            if wait.as_nanos() == 0 {
                break;
            }
            thread::sleep(Duration::from_nanos(wait.as_nanos()).min(Duration::from_millis(20)));
        }
        let SendReport { outlets, lateness } = &mut sent;
        let o = &mut outlets[i];
        let input = if o.is_down(at) { ApplicationInput::Resume } else { ApplicationInput::Timer(key) };
        let late = now().since(at);
        let (packet, timer) = o.call(at, input, &mut pool);
        due.extend(timer.map(|(at, key)| Reverse((at, i, key))));
        let Some(p) = packet else { continue };
        lateness.record(late);
        // The kernel writes the headers; a ping's ICMP header is ours.
        let headers = if o.class == PacketClass::Ping { 0 } else { udp::HEADER_LEN };
        let payload = &p.bytes()[ip::Repr::header_len(o.to_addr) + headers..];
        // An earlier packet's "host unreachable" comes back here, once: it says nothing of this one.
        if o.socket.send_to(payload, &o.to).is_err() {
            let _ = o.socket.send_to(payload, &o.to);
        }
        if let Ok(ip) = ip::Packet::new_checked(p.bytes()) {
            records.hop(HopEvent {
                iface: wayhop_core::IfaceId::ANY,
                time: at,
                packet: p.meta.id,
                flow: p.meta.flow,
                node: o.config.src,
                bytes: p.len() as u32,
                source: ip.src,
                destination: ip.dst,
                peer: Addr::UNSPECIFIED,
                signal_dbm: f32::NAN,
                kind: HopKind::Originate,
                class: o.class,
                messages: Messages::NONE,
                ttl: ip.ttl,
                reason: None,
            });
        }
        pool.recycle(p);
    }
    sent
}
