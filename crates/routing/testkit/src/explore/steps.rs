//! The possible events in a state of an explored world, and their results.

use std::fmt::Display;
use std::marker::PhantomData;
use std::sync::Arc;

use wayhop_core::{Inspect, Packet, Reporting, RxMeta, Time, TxStatus};
use wayhop_node::Node;

use super::air::{Air, Flight};
use super::checked::Explorable;
use super::exploration::Exploration;
use super::host::{ExplorerWorld, Host, Visit, data};
use super::outcomes::{Call, Outcome};
use super::tally::Tally;
use super::world::{Action, World};
use crate::packets::addr;

/// Every frame is received well.
const SIGNAL: f32 = -60.0;

impl<P: Explorable> World<P> {
    pub(crate) fn new(x: &Exploration<P>) -> Self {
        let nodes = (0..x.topology.nodes()).map(|i| Arc::new(Host::new(i, (x.engine)(i), 0))).collect();
        let air = Air { flights: Vec::new(), up: x.topology, now: Time::ZERO, counts: Vec::new() };
        let mut w = Self { nodes, air, left: x.budget, wrong_step: None, touched: 0 };
        (0..x.topology.nodes()).for_each(|i| w.begin(x, i));
        w
    }

    pub(crate) fn actions(&self, x: &Exploration<P>, out: &mut Vec<Action>) {
        let (left, air) = (&self.left, &self.air);
        for i in 0..air.flights.len() {
            if !air.is_behind(i) || left.overtakings > 0 {
                out.push(Action::Deliver(i));
            }
            if left.losses > 0 {
                out.push(Action::Lose(i));
            }
            if left.unheard > 0 && air.flights[i].is_reported() && !air.is_behind(i) {
                out.push(Action::Unheard(i));
            }
        }
        let mut any_due = false;
        for (i, n) in self.nodes.iter().enumerate() {
            for key in n.due(air.now) {
                any_due = true;
                out.push(Action::Fire(i, key));
            }
        }
        if left.packets > 0 {
            out.extend((0..x.flows.len()).map(Action::Send));
        }
        for (a, b) in x.topology.links() {
            if !air.up.has(a, b) {
                out.extend((left.restores > 0).then_some(Action::Restore(a, b)));
            } else if left.breaks > 0 {
                out.push(Action::Break { a, b, keep: false });
                let used = |f: &Flight| (f.from, f.to) == (a, b) || (f.from, f.to) == (b, a);
                if air.flights.iter().any(used) {
                    out.push(Action::Break { a, b, keep: true });
                }
            }
        }
        if left.reboots > 0 {
            out.extend((0..self.nodes.len()).map(Action::Reboot));
        }
        if left.waits > 0 && !any_due && self.after_wait().is_some() {
            out.push(Action::Wait);
        }
    }

    /// When the next timer fires; time does not pass while something is in flight.
    fn after_wait(&self) -> Option<Time> {
        self.nodes.iter().filter_map(|n| n.next_timer()).min().filter(|_| self.air.flights.is_empty())
    }

    /// The world after an action.
    pub(crate) fn after(&self, x: &Exploration<P>, action: Action) -> Self {
        let mut w = self.clone();
        w.touched = 0;
        w.act(x, action);
        w.wrong_step = self.wrong_step(&w);
        w.forget_counts();
        if x.prompt {
            w.settle(x);
        }
        w
    }

    fn wrong_step(&self, after: &Self) -> Option<(usize, &'static str)> {
        let called = (0..self.nodes.len()).filter(|i| after.touched >> i & 1 == 1);
        called.filter(|&i| self.nodes[i].life == after.nodes[i].life).find_map(|i| {
            P::wrong_step(self.nodes[i].protocol(), after.nodes[i].protocol()).map(|what| (i, what))
        })
    }

    fn act(&mut self, x: &Exploration<P>, action: Action) {
        let w = self;
        match action {
            Action::Send(flow) => {
                w.left.packets -= 1;
                let (from, to) = x.flows[flow];
                w.call(x, from, Call::Originate(to));
            }
            Action::Deliver(i) => {
                w.left.overtakings -= u8::from(w.air.is_behind(i));
                w.deliver(x, i);
            }
            Action::Unheard(i) => {
                w.left.unheard -= 1;
                let f = w.air.flights[i].clone();
                w.air.flights[i].reporting = Reporting::Nobody;
                w.deliver(x, i);
                w.fail(x, &f);
            }
            Action::Lose(i) => {
                w.left.losses -= 1;
                let f = w.air.flights.remove(i);
                w.fail(x, &f);
            }
            Action::Break { a, b, keep } => {
                w.left.breaks -= 1;
                w.air.up = w.air.up.toggled(a, b);
                if !keep {
                    let hit = |f: &mut Flight| (f.from, f.to) == (a, b) || (f.from, f.to) == (b, a);
                    let lost: Vec<Flight> = w.air.flights.extract_if(.., hit).collect();
                    for f in &lost {
                        w.fail(x, f);
                    }
                }
            }
            Action::Restore(a, b) => {
                w.left.restores -= 1;
                w.air.up = w.air.up.toggled(a, b);
            }
            Action::Reboot(i) => {
                w.left.reboots -= 1;
                x.tally.rebooted();
                // Nobody is left to hear of what the old life sent.
                w.air
                    .flights
                    .iter_mut()
                    .filter(|f| f.from == i)
                    .for_each(|f| f.reporting = Reporting::Nobody);
                let life = w.nodes[i].life + 1;
                w.nodes[i] = Arc::new(Host::new(i, (x.reboot)(i, w.nodes[i].protocol()), life));
                w.begin(x, i);
            }
            Action::Fire(i, key) => w.call(x, i, Call::Fire(key)),
            Action::Wait => {
                w.left.waits -= 1;
                w.air.now = w.after_wait().unwrap_or(w.air.now);
            }
        }
    }

    /// Takes copies of broadcasts off the air that would change nothing: neither the node that they fly to nor the air. Only those that
    /// are new, or whose node was called, can have become so.
    fn settle(&mut self, x: &Exploration<P>) {
        let mut i = 0;
        while i < self.air.flights.len() {
            let f = &self.air.flights[i];
            let is_new = (self.touched >> f.from | self.touched >> f.to) & 1 == 1;
            if f.broadcast && is_new && !self.air.is_behind(i) && self.is_moot(x, f) {
                self.air.flights.remove(i);
            } else {
                i += 1;
            }
        }
    }

    fn is_moot(&self, x: &Exploration<P>, f: &Flight) -> bool {
        let outcome = self.outcome(x, f.to, Call::Receive(f));
        outcome.host.digest == self.nodes[f.to].digest && outcome.flights.is_empty()
    }

    /// What a call does to a node if nothing else is in flight.
    fn outcome(&self, x: &Exploration<P>, node: usize, call: Call<'_>) -> Arc<Outcome<P>> {
        let (host, now, up) = (&self.nodes[node], self.air.now, self.air.up);
        let make = || {
            let mut host = Host::clone(host);
            let mut air = Air { flights: Vec::new(), counts: Vec::new(), up, now };
            let tally = Tally::default();
            let mut visit = Visit { host: &mut host, air: &mut air, number: node, tally: &tally };
            let recalled = visit.call(|n, w, now| make_call(call, node, n, w, now));
            Outcome { host: Arc::new(host), flights: air.flights, tally, recalled }
        };
        if P::IS_EXCHANGEABLE { x.outcomes.of((host, node), (now, up), call, make) } else { Arc::new(make()) }
    }

    /// Makes a call that is often made alike.
    fn call(&mut self, x: &Exploration<P>, node: usize, call: Call<'_>) {
        if P::IS_EXCHANGEABLE {
            let outcome = self.outcome(x, node, call);
            if !outcome.recalled {
                self.touched |= 1 << node;
                self.nodes[node] = Arc::clone(&outcome.host);
                outcome.flights.iter().for_each(|f| self.air.insert(f.clone()));
                x.tally.add(&outcome.tally);
                return;
            }
        }
        self.visit(x, node, |n, w, now| make_call(call, node, n, w, now));
    }

    /// Forgets the counts of packets of which no copy exists: nobody can send them.
    fn forget_counts(&mut self) {
        if self.air.counts.is_empty() {
            return;
        }
        let mut alive = PacketNames::<P>(
            self.air.flights.iter().filter_map(|f| P::name(f.packet.bytes())).collect(),
            PhantomData,
        );
        self.nodes.iter().for_each(|n| n.protocol().inspect(self.air.now, &mut alive));
        self.air.counts.retain(|c| alive.0.contains(&c.name));
    }

    fn deliver(&mut self, x: &Exploration<P>, i: usize) {
        let f = self.air.flights.remove(i);
        if f.is_reported() && P::HEARS_SUCCESS {
            self.visit(x, f.from, |n, w, now| n.finished(w, now, f.frame(), TxStatus::Acked));
        }
        for i in (0..self.nodes.len()).filter(|_| !f.broadcast) {
            let hears = i != f.from && i != f.to && self.air.up.has(i, f.from);
            if hears && self.nodes[i].protocol().interests().overhear {
                let (bytes, next_hop) = (f.packet.bytes(), addr(f.to).into());
                let rx = received(&f);
                self.visit(x, i, |n, w, now| n.overhear(w, now, bytes, next_hop, rx));
            }
        }
        self.call(x, f.to, Call::Receive(&f));
    }

    fn fail(&mut self, x: &Exploration<P>, f: &Flight) {
        if let Some(c) = self.air.count(P::name(f.packet.bytes()).filter(|_| !f.broadcast)) {
            c.failed += 1;
        }
        if f.is_reported() {
            x.tally.failed();
            let status = TxStatus::NoAck { tries: 7 };
            self.visit(x, f.from, |n, w, now| n.finished(w, now, f.frame(), status));
        }
    }

    fn begin(&mut self, x: &Exploration<P>, node: usize) {
        self.visit(x, node, |n, w, now| n.start(w, now));
    }

    fn visit(
        &mut self,
        x: &Exploration<P>,
        node: usize,
        f: impl FnOnce(&mut Node<P>, &mut ExplorerWorld<'_, P>, Time),
    ) {
        self.touched |= 1 << node;
        let host = Arc::make_mut(&mut self.nodes[node]);
        Visit { host, air: &mut self.air, number: node, tally: &x.tally }.call(f);
    }
}

/// Makes the call of a node.
fn make_call<P: Explorable>(
    call: Call<'_>,
    number: usize,
    node: &mut Node<P>,
    w: &mut ExplorerWorld<'_, P>,
    now: Time,
) {
    match call {
        Call::Originate(to) => node.originate(w, now, data(number, to)),
        Call::Receive(f) => node.receive(w, now, f.copy(), received(f)),
        Call::Fire(key) => node.fire(w, now, 0, key),
    }
}

/// How a flight is received.
fn received(f: &Flight) -> RxMeta {
    RxMeta::from(addr(f.from), f.broadcast).with_signal(SIGNAL)
}

/// The names of packets that nodes hold.
struct PacketNames<P>(Vec<u64>, PhantomData<P>);

impl<P: Explorable> Inspect for PacketNames<P> {
    fn row(&mut self, _: &'static str, _: &[(&'static str, &dyn Display)]) {}
    fn held(&mut self, _: &'static str, p: &Packet) {
        self.0.extend(P::name(p.bytes()));
    }
}
