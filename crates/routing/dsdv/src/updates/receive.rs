//! Receiving an update: which news are accepted, and their effects.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Span, Time};
use wayhop_wire::dsdv::{self, Update};
use wayhop_wire::ipv4;

use crate::engine::state::Engine;
use crate::params::Settle;
use crate::routing_table::seq::{before_next, newer};
use crate::routing_table::{HeardRoute, INFINITE, Judgement, RouteEntry};

impl Engine {
    /// Takes over what is news; false if this node has no room to keep an eye on the neighbour that says it.
    pub(crate) fn hear_update(&mut self, cx: &mut Cx<'_>, source: Ipv4Addr, update: &Update<'_>) -> bool {
        let own = cx.addr();
        if self.is_quiet(cx.now()) {
            update.iter().filter(|e| e.destination == own).for_each(|e| self.hear_own(cx, &e));
            return true;
        }
        if self.table.get(source).is_none() && !self.make_room(self.params.max_routes) {
            return false;
        }
        let says_hello = self.is_hello(source, update);
        let mut was_silent = true;
        if let Some(e) = self.table.get_mut(source) {
            was_silent = !e.is_neighbour();
            e.sends_hellos |= says_hello;
            e.silent_at = Some(cx.now() + self.params.silence(e));
        }
        for e in update {
            let news = HeardRoute::of(&e).filter(|n| ipv4::is_host(n.destination));
            if e.destination == own || self.is_news_of_own_exit(own, &e) {
                self.hear_own(cx, &e);
            } else if self.is_own_exit(own, e.destination) {
                // What this node said itself.
            } else if let Some(n) = news {
                self.hear(cx, source, n);
            }
        }
        self.heard_neighbour(cx, source);
        if says_hello && was_silent {
            self.answer_hello(cx.now(), source);
        }
        self.set_trigger_timer(cx);
        true
    }

    /// An entry about this node. Only this node decides about its own number: a neighbour that lost
    /// it, or remembers one from before a reboot, gets a newer one.
    fn hear_own(&mut self, cx: &mut Cx<'_>, e: &dsdv::UpdateEntry) {
        let is_newer = newer(e.seq, self.seq);
        if is_newer {
            self.seq = before_next(e.seq);
        }
        if e.is_unreachable() {
            cx.note("own_loss_heard", cx.addr(), e.seq.into());
        }
        if e.is_unreachable() && self.params.answer_every_loss {
            self.plan_full_by(cx, cx.now());
        } else if is_newer {
            let at = self.earliest_trigger(cx.now());
            self.plan_full_by(cx, at);
        }
    }

    /// News of another node.
    fn hear(&mut self, cx: &mut Cx<'_>, source: Ipv4Addr, n: HeardRoute) {
        let now = cx.now();
        match self.table.judge(&n) {
            Judgement::Nothing if n.destination == source => self.answer_old_number(now, &n),
            Judgement::Nothing => {}
            Judgement::StaleLoss => {
                if let Some(e) = self.table.get_mut(n.destination) {
                    e.tell_soon(now);
                }
            }
            Judgement::First => {
                // Room for the neighbour itself is kept free.
                let kept = n.destination != source && self.table.get(source).is_none();
                if self.make_room(self.params.max_routes.saturating_sub(usize::from(kept))) {
                    let e = self.first_entry(now, source, &n);
                    self.put(cx, n.destination, e);
                }
            }
            kind @ (Judgement::Newer | Judgement::Shorter) => {
                if let Some(old) = self.table.get(n.destination) {
                    let e = self.next_entry(now, source, &n, old, kind);
                    self.put(cx, n.destination, e);
                }
            }
        }
    }

    fn first_entry(&self, now: Time, source: Ipv4Addr, n: &HeardRoute) -> RouteEntry {
        let settling = Span::from_millis(self.params.settling_ms);
        let waits = self.params.settle == Settle::All && !n.is_loss();
        let advertise_at = if waits { now + settling * u64::from(self.params.settling_factor) } else { now };
        RouteEntry {
            next_hop: source,
            hops: n.hops,
            seq: n.seq,
            advertise_at,
            tell_seq: false,
            tell_hops: !n.is_loss(),
            trigger_at: (!n.is_loss()).then_some(advertise_at),
            told_hops: 0,
            changed: now,
            seq_since: now,
            settling,
            // A full table must not push out the neighbour that speaks.
            silent_at: (n.destination == source).then(|| now + self.params.neighbour_timeout()),
            sends_hellos: false,
            lost_since: now,
        }
    }

    /// What becomes of an entry by a newer number, or by a shorter way under the same one.
    fn next_entry(
        &self,
        now: Time,
        source: Ipv4Addr,
        n: &HeardRoute,
        old: &RouteEntry,
        kind: Judgement,
    ) -> RouteEntry {
        let is_newer = kind == Judgement::Newer;
        let settling = if is_newer { self.settling_after(old) } else { old.settling };
        let differs = n.hops != old.told_hops;
        // Losses do not settle, nor does what comes back.
        let waits = !n.is_loss() && old.is_valid() && (differs || self.params.settle == Settle::All);
        let advertise_at = if waits { now + settling * u64::from(self.params.settling_factor) } else { now };
        let triggers = differs && (!is_newer || self.params.trigger_with_newer);
        let still_asks = old.trigger_at.filter(|_| differs || self.params.redundant_triggered);
        RouteEntry {
            next_hop: source,
            hops: n.hops,
            seq: n.seq,
            advertise_at,
            tell_seq: is_newer || old.tell_seq,
            tell_hops: differs,
            trigger_at: if triggers { Some(advertise_at) } else { still_asks },
            told_hops: old.told_hops,
            changed: now,
            seq_since: if is_newer { now } else { old.seq_since },
            settling,
            silent_at: old.silent_at,
            sends_hellos: old.sends_hellos,
            lost_since: if old.is_valid() { now } else { old.lost_since },
        }
    }

    /// The settling time once a number's news are all in: how long its best ones took counts as one more sample.
    fn settling_after(&self, old: &RouteEntry) -> Span {
        if !self.params.weighted_settling {
            return Span::from_millis(self.params.settling_ms);
        }
        let past = f64::from(self.params.settling_weight_per_mille.min(1_000)) / 1_000.0;
        old.settling.mul_f64(past) + old.changed.since(old.seq_since).mul_f64(1.0 - past)
    }

    /// Writes an entry that news changed, and what follows for the host and for packets that wait.
    fn put(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr, e: RouteEntry) {
        let old = self.table.get(destination).filter(|e| e.is_valid()).map(|e| (e.next_hop, e.hops));
        let new = e.is_valid().then_some((e.next_hop, e.hops));
        let forget_at = (!e.is_valid()).then(|| e.lost_since + self.params.delete_period());
        self.table.insert(destination, e);
        match (old, new) {
            (None, Some((_, hops))) => cx.note("route_added", destination, hops.into()),
            (Some((_, hops)), None) => cx.note("route_broken", destination, hops.into()),
            _ => {}
        }
        if old != new {
            self.publish(cx, destination);
        }
        if new.is_some() {
            self.release(cx, destination);
        }
        if let Some(at) = forget_at {
            self.check_at(cx, at);
        }
    }

    /// A neighbour that was heard is lost only after a new silence. One that did not say who it is gets an entry of its own, for
    /// the silence to be noticed; that is told to nobody.
    fn heard_neighbour(&mut self, cx: &mut Cx<'_>, source: Ipv4Addr) {
        let now = cx.now();
        if self.table.get(source).is_none() {
            let n = HeardRoute { destination: source, hops: 1, seq: 0 };
            let e = RouteEntry {
                advertise_at: Time::NEVER,
                tell_hops: false,
                trigger_at: None,
                ..self.first_entry(now, source, &n)
            };
            self.put(cx, source, e);
        }
        if let Some(e) = self.table.get_mut(source) {
            let silent_at = now + self.params.silence(e);
            e.silent_at = Some(silent_at);
            self.check_at(cx, silent_at);
        }
    }

    /// Whether there is room for one more entry, perhaps after some were forgotten.
    fn make_room(&mut self, limit: usize) -> bool {
        while self.table.len() >= limit {
            let Some(a) = self.table.least_useful() else { return false };
            self.table.remove(a);
        }
        true
    }
}

impl RouteEntry {
    /// Schedules a triggered update, as soon as one may leave.
    pub(crate) fn tell_soon(&mut self, now: Time) {
        self.advertise_at = now;
        self.tell_hops = true;
        self.trigger_at = Some(now);
    }

    /// Ends the way to the destination.
    pub(crate) fn lose(&mut self, now: Time) {
        self.hops = INFINITE;
        self.seq = crate::routing_table::seq::lost(self.seq);
        self.lost_since = now;
    }
}
