//! The engine around a node's own.

use std::net::Ipv4Addr;

use wayhop_core::{
    Addr, Claim, Command, Cx, DataPlane, DropReason, Fix, Forged, Forger, IfaceId, Inspect, Interests,
    LinkChange, Packet, Priority, Protocol, Refused, Rng, RouteUse, RxMeta, Span, Time, TimerKey, TxReport,
    TxSpec,
};
use wayhop_wire::ipv4;

use crate::behaviour::{Behaviour, Drops};
use crate::recent::LastTimes;
use crate::replay::Tape;

/// Its timers: no protocol sets the highest bit.
const FLOOD: TimerKey = TimerKey(1 << 63);
const REPLAY: TimerKey = TimerKey(1 << 63 | 1);

/// A question is answered once in this time: two attackers that outbid each other do so at this pace.
const ANSWER_EVERY: Span = Span::from_secs(1);

/// Addresses of floods: 198.18.0.0/15 is for measurements (RFC 2544), and no node's.
const NOBODYS: u32 = 0xc612_0000;
const NOBODYS_MASK: u32 = 0x0001_ffff;

/// An attacker: the node's own engine, and what it does besides and instead.
pub struct Attacker {
    inner: Box<dyn Protocol>,
    /// Whether a packet is a routing message.
    is_routing: fn(&[u8]) -> bool,
    behaviour: Behaviour,
    /// `None` with a protocol that has no messages.
    forger: Option<Box<dyn Forger>>,
    /// Its own stream: what it draws leaves the draws of protocols, motion and fading alone.
    rng: Rng,
    answered: LastTimes,
    denied: LastTimes,
    tape: Tape,
    /// Messages forged so far.
    forged: u32,
}

impl Attacker {
    /// An attacker around a node's own engine. `is_routing` tells routing messages from data.
    pub fn new(
        inner: Box<dyn Protocol>,
        is_routing: fn(&[u8]) -> bool,
        forger: Option<Box<dyn Forger>>,
        behaviour: Behaviour,
        rng: Rng,
    ) -> Self {
        Self {
            inner,
            is_routing,
            behaviour,
            forger,
            rng,
            answered: LastTimes::default(),
            denied: LastTimes::default(),
            tape: Tape::default(),
            forged: 0,
        }
    }

    /// Whether a packet with data for somebody else ends here.
    fn keeps(&mut self, now: Time, packet: &[u8]) -> bool {
        self.behaviour.is_on(now)
            && !(self.is_routing)(packet)
            && self.behaviour.drops.hit(self.behaviour.from, now, packet, &mut self.rng)
    }

    /// In whose name it speaks next.
    fn speaker(&self, own: Ipv4Addr) -> Ipv4Addr {
        match &self.behaviour.identities[..] {
            [] => own,
            all => all[self.forged as usize % all.len()],
        }
    }

    fn send(&mut self, cx: &mut Cx<'_>, forged: &Forged) {
        self.forged = self.forged.wrapping_add(1);
        let mut p = cx.alloc(forged.packet.len());
        p.bytes_mut().copy_from_slice(&forged.packet);
        let spec = if forged.to == Addr::BROADCAST {
            TxSpec::broadcast()
        } else {
            TxSpec::unicast(forged.to).with_priority(Priority::Control)
        };
        cx.send(p, spec);
    }

    /// A routing message of a neighbour. Returns whether it was answered, and goes no further.
    fn answer(&mut self, cx: &mut Cx<'_>, packet: &[u8], from: Ipv4Addr) -> bool {
        let speaker = self.speaker(cx.addr());
        let (Some(forger), Some(pretence)) = (&mut self.forger, self.behaviour.pretence) else {
            return false;
        };
        if ipv4::ends(packet).is_some_and(|(_, to)| to == cx.addr()) {
            // Its own engine deals with it.
            return false;
        }
        let claim = Claim { speaker, hops: pretence.hops, ahead: pretence.ahead };
        let Some(lure) = forger.lure(packet, from, &claim) else { return false };
        if self.answered.is_due(lure.question, cx.now(), ANSWER_EVERY) {
            cx.note("forged_reply", from, u64::from(pretence.ahead));
            self.send(cx, &lure.message);
        }
        lure.is_answer
    }

    /// Learns from a routing message, and records it.
    fn hear(&mut self, cx: &mut Cx<'_>, packet: &[u8], to: Addr) {
        if let Some(forger) = &mut self.forger {
            forger.hear(packet);
        }
        if let Some(after) = self.behaviour.replays_after
            && self.tape.record(packet, to, cx.now() + after)
        {
            cx.set_timer(REPLAY, cx.now() + after);
        }
    }

    /// Reports the way of a data packet broken that goes from one neighbour to another.
    fn deny(&mut self, cx: &mut Cx<'_>, packet: &[u8], from: Ipv4Addr, to: Ipv4Addr) {
        let (Some(forger), Some(every)) = (&mut self.forger, self.behaviour.denies_every) else { return };
        let Some((_, destination)) = ipv4::ends(packet) else { return };
        if to == cx.addr() || !self.denied.is_due(u64::from(destination.to_bits()), cx.now(), every) {
            return;
        }
        if let Some(forged) = forger.deny(packet, from, to) {
            cx.note("forged_error", destination, u64::from(to.to_bits()));
            self.send(cx, &forged);
        }
    }

    fn flood(&mut self, cx: &mut Cx<'_>) {
        let Some(flood) = self.behaviour.flood else { return };
        let now = cx.now();
        if now >= self.behaviour.until {
            return;
        }
        cx.set_timer(FLOOD, now + flood.every);
        let mut nobody = || Ipv4Addr::from_bits(NOBODYS | self.rng.bits() as u32 & NOBODYS_MASK);
        let target = nobody();
        let originator = if flood.forged { nobody() } else { cx.addr() };
        let number = self.rng.bits() as u32;
        if let Some(forged) = self.forger.as_mut().and_then(|f| f.flood(originator, target, number)) {
            self.send(cx, &forged);
        }
    }
}

impl Protocol for Attacker {
    fn data_plane(&self) -> DataPlane {
        self.inner.data_plane()
    }
    fn interests(&self) -> Interests {
        let own = self.inner.interests();
        Interests {
            overhear: own.overhear || self.behaviour.overhears(),
            withholds: self.behaviour.drops != Drops::Nothing,
            ..own
        }
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.inner.start(cx);
        if self.behaviour.flood.is_some() {
            let first = self.behaviour.from.max(cx.now());
            cx.set_timer(FLOOD, first);
        }
    }

    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        let ends = ipv4::ends(p.bytes());
        let is_foreign = ends.is_some_and(|(from, _)| from != cx.addr());
        let is_mine = ends.is_some_and(|(_, to)| self.behaviour.identities.contains(&to));
        if is_foreign && (is_mine || self.keeps(cx.now(), p.bytes())) {
            return cx.drop(p, DropReason::Attack);
        }
        self.inner.on_outbound(cx, p);
    }

    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        if !self.behaviour.is_on(cx.now()) {
            return self.inner.on_frame(cx, p, rx);
        }
        if (self.is_routing)(p.bytes()) {
            let to = if rx.broadcast { Addr::BROADCAST } else { cx.addr().into() };
            self.hear(cx, p.bytes(), to);
            if rx.from.v4().is_some_and(|from| self.answer(cx, p.bytes(), from)) {
                return cx.consume(p);
            }
        } else if !self.behaviour.identities.is_empty() {
            // The frame may be for one of its other addresses, which the inner engine does not know.
            let is_foreign = ipv4::ends(p.bytes()).is_some_and(|(_, to)| to != cx.addr());
            if is_foreign && !rx.broadcast && self.keeps(cx.now(), p.bytes()) {
                return cx.drop(p, DropReason::Attack);
            }
        }
        self.inner.on_frame(cx, p, rx);
    }

    fn on_overheard(&mut self, cx: &mut Cx<'_>, p: &[u8], next_hop: Addr, rx: &RxMeta) {
        if self.behaviour.is_on(cx.now()) {
            if (self.is_routing)(p) {
                self.hear(cx, p, next_hop);
            } else if let (Some(from), Some(to)) = (rx.from.v4(), next_hop.v4()) {
                self.deny(cx, p, from, to);
            }
        }
        if self.inner.interests().overhear {
            self.inner.on_overheard(cx, p, next_hop, rx);
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        match key {
            FLOOD => self.flood(cx),
            REPLAY => {
                while let Some(r) = self.tape.take_due(cx.now()) {
                    if self.behaviour.is_on(cx.now()) {
                        self.send(cx, &Forged { packet: r.packet, to: r.to });
                    }
                }
                if let Some(at) = self.tape.next() {
                    cx.set_timer(REPLAY, at);
                }
            }
            key => self.inner.on_timer(cx, key),
        }
    }

    fn withholds(&mut self, at: Time, packet: &[u8]) -> bool {
        self.keeps(at, packet)
    }

    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        self.inner.on_tx_status(cx, report);
    }
    fn on_route_used(&mut self, cx: &mut Cx<'_>, used: &RouteUse) {
        self.inner.on_route_used(cx, used);
    }
    fn on_link(&mut self, cx: &mut Cx<'_>, iface: IfaceId, change: LinkChange) {
        self.inner.on_link(cx, iface, change);
    }
    fn on_position(&mut self, cx: &mut Cx<'_>, fix: &Fix) {
        self.inner.on_position(cx, fix);
    }
    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        self.inner.on_command(cx, command)
    }
    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        self.inner.inspect(now, out);
    }
}
