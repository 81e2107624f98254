//! One node of an explored world.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use wayhop_core::{
    Addr, BROADCAST, Cx, DataPlane, Effect, Interface, Packet, PacketMeta, Pool, Purpose, Route, RouteUse,
    RxMeta, Time, TimerKey, TxId, TxSpec, TxStatus, stream,
};
use wayhop_wire::ipv4;

use super::air::Air;
use super::{Checked, Tally};
use crate::packets::{TestPacket, addr, data_packet, read_ip};

/// A node: its protocol, timers and forwarding table.
#[derive(Clone, Debug)]
pub struct Host<P> {
    /// The protocol.
    pub protocol: P,
    /// The forwarding table.
    pub table: BTreeMap<Addr, Route>,
    /// How often it has rebooted.
    pub life: u8,
    pub(crate) timers: BTreeMap<TimerKey, Time>,
    /// Of all this.
    pub(crate) digest: u64,
}

/// A node with the calls that it is about to get.
pub(crate) struct Visit<'a, P> {
    pub(crate) host: &'a mut Host<P>,
    pub(crate) air: &'a mut Air,
    pub(crate) node: usize,
    pub(crate) now: Time,
    pub(crate) tally: &'a Tally,
}

/// More calls than this in one moment are a storm that feeds itself.
const MOST_CALLS: usize = 256;

/// A call that an effect provoked; made as soon as the effects before it are applied.
pub(crate) enum Call {
    Status(TxId, Addr, TxStatus, Packet),
    Miss(Packet),
}

/// The TTL of an application's packet.
pub const DATA_TTL: u8 = 16;

/// A data packet of an application.
pub(crate) fn data(from: usize, to: usize) -> Packet {
    let t = TestPacket { source: addr(from), destination: addr(to), ttl: DATA_TTL, ident: 0, port: 9_000 };
    Pool::new().packet(&data_packet(t, &[0; 4]), PacketMeta::default())
}

impl<P: Checked> Host<P> {
    pub(crate) fn new(protocol: P, life: u8) -> Self {
        Self { protocol, table: BTreeMap::new(), timers: BTreeMap::new(), life, digest: 0 }
    }
    /// The first timer that is due, by key, from `skip` on.
    pub(crate) fn due(&self, now: Time) -> impl Iterator<Item = TimerKey> {
        self.timers.iter().filter(move |&(_, &at)| at <= now).map(|(&key, _)| key)
    }
    pub(crate) fn next_timer(&self) -> Option<Time> {
        self.timers.values().copied().min().filter(|&t| t < Time::NEVER)
    }
    fn sum_up(&mut self) {
        let mut h = DefaultHasher::new();
        self.protocol.digest(&mut h);
        self.timers.hash(&mut h);
        for r in self.table.values() {
            (r.destination, r.next_hop, r.hops).hash(&mut h);
        }
        self.digest = h.finish();
    }
}

impl<P: Checked> Visit<'_, P> {
    /// Makes one call and those that follow from it.
    pub(crate) fn call(&mut self, f: impl FnOnce(&mut P, &mut Cx<'_>)) {
        let mut calls = VecDeque::new();
        self.once(&mut calls, f);
        self.rest(calls);
        self.host.sum_up();
    }

    /// An application's packet.
    pub(crate) fn originate(&mut self, to: usize) {
        let p = data(self.node, to);
        if self.host.protocol.data_plane() == DataPlane::PerPacket {
            return self.call(|protocol, cx| protocol.on_outbound(cx, p));
        }
        let mut calls = VecDeque::new();
        self.look_up(&mut calls, p, addr(self.node), addr(to), None);
        self.rest(calls);
        self.host.sum_up();
    }

    /// A frame from the air.
    pub(crate) fn receive(&mut self, mut p: Packet, rx: &RxMeta) {
        let own = addr(self.node);
        let port = self.host.protocol.interests().udp_port;
        let Some(head) = read_ip(p.bytes()) else { return };
        let for_us = head.destination == own || head.destination == BROADCAST;
        let per_packet = self.host.protocol.data_plane() == DataPlane::PerPacket;
        if per_packet || for_us && port.is_some() && head.udp_port == port {
            return self.call(|protocol, cx| protocol.on_frame(cx, p, rx));
        }
        if for_us {
            self.tally.arrived();
        } else if head.source != own && head.ttl > 1 && ipv4::decrement_ttl(p.bytes_mut()).is_ok() {
            let mut calls = VecDeque::new();
            self.look_up(&mut calls, p, head.source, head.destination, Some(rx.from));
            self.rest(calls);
            self.host.sum_up();
        }
    }

    /// The forwarding table.
    fn look_up(
        &mut self,
        calls: &mut VecDeque<Call>,
        p: Packet,
        source: Addr,
        destination: Addr,
        previous_hop: Option<Addr>,
    ) {
        let Some(&row) = self.host.table.get(&destination) else {
            calls.push_back(Call::Miss(p));
            return;
        };
        calls.extend(self.air.send::<P>(self.node, p, TxSpec::unicast(row.next_hop).reported(TxId(0))));
        if self.host.protocol.interests().route_used {
            let used = RouteUse { source, destination, next_hop: row.next_hop, previous_hop };
            self.once(calls, |protocol, cx| protocol.on_route_used(cx, &used));
        }
    }

    fn rest(&mut self, mut calls: VecDeque<Call>) {
        for _ in 0..MOST_CALLS {
            match calls.pop_front() {
                None => return,
                Some(Call::Miss(p)) => {
                    self.once(&mut calls, |protocol, cx| protocol.on_outbound(cx, p));
                }
                Some(Call::Status(id, to, status, p)) => {
                    self.once(&mut calls, |protocol, cx| {
                        protocol.on_tx_status(cx, id, to, status, Some(p));
                    });
                }
            }
        }
        panic!("node {} answers its own calls without end", self.node);
    }

    fn once(&mut self, calls: &mut VecDeque<Call>, f: impl FnOnce(&mut P, &mut Cx<'_>)) {
        let mut rng = stream(1 + u64::from(self.host.life), Purpose::Protocol, self.node as u64);
        let mut pool = Pool::new();
        let mut next_id = 0;
        let mut effects = Vec::new();
        let interface = Interface { queued: 0, acknowledges: true };
        let me = addr(self.node);
        let mut cx = Cx::new(self.now, me, interface, &mut rng, &mut pool, &mut next_id, &mut effects);
        f(&mut self.host.protocol, &mut cx);
        for e in effects {
            match e {
                Effect::Send(p, spec) => calls.extend(self.air.send::<P>(self.node, p, spec)),
                Effect::Recall(next_hop) => calls.extend(self.air.recall::<P>(self.node, next_hop)),
                Effect::Deliver(_) => self.tally.arrived(),
                Effect::SetTimer(key, at) => {
                    self.host.timers.insert(key, at);
                }
                Effect::ClearTimer(key) => {
                    self.host.timers.remove(&key);
                }
                Effect::Install(r) => {
                    self.host.table.insert(r.destination, r);
                }
                Effect::Uninstall(destination) => {
                    self.host.table.remove(&destination);
                }
                Effect::Drop(..) | Effect::Consume(_) | Effect::Note(_) | Effect::State(_) => {}
            }
        }
    }
}
