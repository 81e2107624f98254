//! Sending the flows' packets when they are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{SockAddr, Socket};
use wayhop_core::{Addr, FlowTag, Pool, Rng, Time};
use wayhop_netns::{Lateness, priority};
use wayhop_trace::{HopEvent, HopKind, Messages, PacketClass};
use wayhop_transport::Source;
use wayhop_wire::{ip, udp};

use crate::record::Records;
use crate::stamped::packet_id;

/// Where a flow's packets leave.
pub(super) struct Outlet {
    /// The flow's index in the scenario.
    pub(super) flow: u32,
    pub(super) source: Source,
    pub(super) rng: Rng,
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
    let mut due: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::new();
    for (i, o) in sent.outlets.iter_mut().enumerate() {
        due.extend(o.source.first_departure(&mut o.rng).map(|at| Reverse((at, i))));
    }
    let mut pool = Pool::new();
    // Like the emulation's loop: it is on time although the nodes are busy.
    priority::raise();
    let now = || Time::from_nanos(begun.elapsed().as_nanos() as u64);
    while let Some(Reverse((at, i))) = due.pop() {
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
        if o.is_down(at) {
            due.extend(o.source.next_departure(at, &mut o.rng).map(|next| Reverse((next, i))));
            continue;
        }
        lateness.record(now().since(at));
        let seq = o.source.sent() as u32;
        let flow = o.flow;
        let p = o.source.build(at, packet_id(flow, seq), 0, &mut pool);
        // The kernel writes the headers; a ping's ICMP header is ours.
        let headers = if o.class == PacketClass::Ping { 0 } else { udp::HEADER_LEN };
        let payload = &p.bytes()[ip::Repr::header_len(o.to_addr) + headers..];
        // An earlier packet's "host unreachable" comes back here, once: it says nothing of this one.
        if o.socket.send_to(payload, &o.to).is_err() {
            let _ = o.socket.send_to(payload, &o.to);
        }
        let config = o.source.config();
        if let Ok(ip) = ip::Packet::new_checked(p.bytes()) {
            records.hop(HopEvent {
                iface: wayhop_core::IfaceId::ANY,
                time: at,
                packet: p.meta.id,
                flow: Some(FlowTag { flow, seq }),
                node: config.src,
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
        due.extend(o.source.next_departure(at, &mut o.rng).map(|next| Reverse((next, i))));
    }
    sent
}
