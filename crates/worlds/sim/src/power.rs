//! Nodes that go down and come back.
//!
//! While a node is down its radio is off, its timers wait or are gone, and its applications stop:
//! flows that begin or send at it skip their packets, and its ends of TCP connections do nothing.
//! `docs/concepts/outages.md` describes this for users.

use wayhop_core::{Addr, NodeId, Purpose, Span, Time, TraceNote, stream};
use wayhop_node::World as _;
use wayhop_scenario::{Outage, Tables};

use crate::event::Event;
use crate::outside;
use crate::simulation::Simulation;
use crate::watchers::PowerChange;

impl Simulation {
    /// Puts the outage of this number into the event queue. Each one brings in the next.
    pub(crate) fn expect_outage(&mut self, number: u32) {
        if let Some(o) = self.outages.given(number) {
            self.net.common.queue.push(o.from, o.node.0, Event::Power(number, false));
        }
    }

    /// The event of an outage came up: it begins, or is over.
    pub(crate) fn power(&mut self, at: Time, node: u32, number: u32, on: bool) {
        let is_empty = self.outages.exhausted.contains_key(&node);
        if on {
            // An order may have ended it before.
            if !is_empty && self.outages.down.get(&node) == Some(&Some(number)) {
                self.end_outage(at, node, number);
            }
            return;
        }
        self.expect_outage(number + 1);
        if is_empty {
            return;
        }
        if self.outages.down.contains_key(&node) {
            // An order took it down, and it stays so as ordered.
            self.outages.list[number as usize].until = at;
            return;
        }
        self.begin_outage(at, node, number);
    }

    /// Takes a node down now, for this long or until [`Simulation::bring_up`]. False if it is down already.
    pub fn take_down(&mut self, node: u32, length: Option<Span>, tables: Tables) -> bool {
        if self.outages.down.contains_key(&node) {
            return false;
        }
        let from = self.now;
        let until = length.map_or(Time::NEVER, |l| from + l);
        let number = self.outages.list.len() as u32;
        self.outages.list.push(Outage { node: NodeId(node), from, until, tables });
        self.begin_outage(from, node, number);
        self.settle(from);
        true
    }

    /// Ends a node's outage now. False if there is none, or if its battery is empty.
    pub fn bring_up(&mut self, node: u32) -> bool {
        let Some(Some(number)) = self.outages.down.get(&node).copied() else { return false };
        let now = self.now;
        self.outages.list[number as usize].until = now;
        self.end_outage(now, node, number);
        self.settle(now);
        true
    }

    fn begin_outage(&mut self, at: Time, node: u32, number: u32) {
        let Outage { until, tables, .. } = self.outages.list[number as usize];
        if until < Time::NEVER {
            self.net.common.queue.push(until, node, Event::Power(number, true));
        }
        self.outages.down.insert(node, Some(number));
        self.power_off(at, node, tables == Tables::Lost);
    }

    fn end_outage(&mut self, at: Time, node: u32, number: u32) {
        let lost = self.outages.list[number as usize].tables == Tables::Lost;
        self.power_on(at, node, lost);
    }

    /// A node's battery may be empty: then it goes down for good.
    pub(crate) fn battery(&mut self, at: Time, node: u32) {
        if !self.media.check_battery(at, node, &mut self.net) {
            return;
        }
        self.outages.exhausted.insert(node, at);
        let note = TraceNote { what: "battery_empty", about: Addr::UNSPECIFIED, value: 0 };
        self.net.call(at, node, |_, w| w.note(at, note));
        // One that sleeps does not wake up.
        if self.outages.down.insert(node, None).is_none() {
            self.power_off(at, node, true);
        }
    }

    fn power_off(&mut self, at: Time, node: u32, lost: bool) {
        self.tell_power(at, node, false, lost);
        self.net.call(at, node, |n, w| if lost { n.lose_tables(w, at) } else { n.go_down(w, at) });
        self.media.switch(at, node, false, &mut self.net);
        if lost {
            self.net.common.lose_applications(at, node);
        }
    }

    fn power_on(&mut self, at: Time, node: u32, lost: bool) {
        self.outages.down.remove(&node);
        self.tell_power(at, node, true, lost);
        self.media.switch(at, node, true, &mut self.net);
        if lost {
            let reboots = self.outages.reboots.entry(node).or_default();
            *reboots += 1;
            // Another life must not draw what the one before drew.
            let rng = stream(self.outages.seed, Purpose::Protocol, u64::from(node) | *reboots << 32);
            let common = &self.net.common;
            let attackers = common.attackers.as_deref();
            let place = common.ports.context(node, self.outages.seed);
            let (protocol, edge) = (&self.outages.protocol, (self.outages.edge.as_ref(), place));
            let engine = outside::engine(protocol, attackers, edge, rng);
            self.net.call(at, node, |n, w| n.reboot(w, at, vec![engine]));
        } else {
            self.net.call(at, node, |n, w| n.come_back(w, at));
        }
        self.net.common.streams_resume(at, node);
        self.net.resume_applications(at, node, lost);
        self.net.send_answers(at);
    }

    /// Writes it down, and tells those who watch or have real hosts.
    fn tell_power(&mut self, at: Time, node: u32, on: bool, lost: bool) {
        let what = if on { "node_up" } else { "node_down" };
        let note = TraceNote { what, about: Addr::UNSPECIFIED, value: u64::from(lost) };
        self.net.call(at, node, |_, w| w.note(at, note));
        if let Some(watchers) = &mut self.net.common.watchers {
            watchers.powered.push_back(PowerChange { node, on, lost });
        }
    }

    /// Whether a node is up.
    pub fn is_up(&self, node: u32) -> bool {
        self.net.nodes[node as usize].is_up()
    }

    /// The next node that went down or came back since the start; only of an attended run.
    pub fn powered(&mut self) -> Option<PowerChange> {
        self.net.common.watchers.as_mut()?.powered.pop_front()
    }
}
