//! Inspecting and changing a run in progress, for the driver of its clock.

use wayhop_core::{Command, Fix, IfaceId, Inspect, Position, Refused};
use wayhop_radio::LinkOverride;
use wayhop_scenario::Attachment;
use wayhop_trace::{InterfaceInfo, LinkKind};
use wayhop_world::Geodetic;

use crate::simulation::Simulation;
use crate::watchers::{Happening, Tap, Watchers};

impl Simulation {
    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.net.nodes.len() as u32
    }
    /// The time of the last event.
    pub fn now(&self) -> wayhop_core::Time {
        self.now
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Lets time go on to `at`, or to the next event if that comes first.
    pub fn pass(&mut self, at: wayhop_core::Time) {
        let at = self.next_event().map_or(at, |next| next.min(at));
        self.now = self.now.max(at);
    }

    /// Shows a node's tables: its protocol's, the forwarding table, and the interface queue.
    pub fn inspect(&self, node: u32, out: &mut dyn Inspect) {
        let n = &self.net.nodes[node as usize];
        n.inspect(self.now, out);
        let mut routes: Vec<_> = n.table().rows().map(|r| r.route).collect();
        routes.sort_unstable_by_key(|r| (r.destination, r.next_hop));
        for r in routes {
            out.row("forwarding", &[("destination", &r.destination), ("next_hop", &r.next_hop)]);
        }
        for i in 0..n.interfaces() {
            let queued = n.queued(IfaceId(i));
            if n.interfaces() == 1 {
                out.row("queue", &[("packets", &queued)]);
            } else {
                let name = self.interfaces.name(self.net.common.ports.of(node)[usize::from(i)]);
                out.row("queue", &[("interface", &name), ("packets", &queued)]);
            }
        }
    }
    /// How many frames wait in a node's interface queues, all of its interfaces together.
    pub fn queued(&self, node: u32) -> u32 {
        let n = &self.net.nodes[node as usize];
        (0..n.interfaces()).map(|i| n.queued(IfaceId(i)) as u32).sum()
    }
    /// What a node's MACs counted, all of its interfaces together.
    pub fn counters(&self, node: u32) -> Vec<(&'static str, u64)> {
        let mut sums: Vec<(&'static str, u64)> = Vec::new();
        for &place in self.net.common.ports.of(node) {
            for (name, value) in self.media.counters(node, place) {
                match sums.iter_mut().find(|(n, _)| *n == name) {
                    Some((_, sum)) => *sum += value,
                    None => sums.push((name, value)),
                }
            }
        }
        sums
    }

    /// What a node's authentication counted; nothing without keys.
    pub fn auth_counts(&self, node: u32) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        self.net.nodes[node as usize].auth().map(|a| a.counts().named()).into_iter().flatten()
    }

    /// Gives a node's protocol an order.
    pub fn command(&mut self, node: u32, command: &Command) -> Result<(), Refused> {
        let now = self.now;
        let done = self.net.call(now, node, |n, w| n.command(w, now, 0, command));
        self.settle(now);
        done
    }

    /// Where a node is, in the local frame.
    pub fn position(&mut self, node: u32) -> Position {
        self.net.common.movers.leg(node, self.now).position(self.now)
    }
    /// Where a node is, as its GPS receiver tells; `None` if nobody has said where on the globe the scenario lies.
    pub fn fix(&mut self, node: u32) -> Option<Fix> {
        let leg = self.net.common.movers.leg(node, self.now);
        self.gps.is_on_earth().then(|| self.gps.fix(&leg, self.now))
    }
    /// A place on the globe, in the local frame; `None` if nobody has said where that lies.
    pub fn local(&self, place: Geodetic) -> Option<Position> {
        self.gps.is_on_earth().then(|| self.gps.local(place))
    }
    /// Puts a node somewhere else than its track says, or (`None`) back on it.
    pub fn set_position(&mut self, node: u32, at: Option<Position>) {
        self.net.common.movers.set(self.now, node, at);
        self.media.forget_places();
    }
    /// Whether a node is where somebody put it.
    pub fn is_moved(&self, node: u32) -> bool {
        self.net.common.movers.is_set(node)
    }

    /// Overrides a link one way, or (`None`) leaves it to the model again: on the radio or wire of this name,
    /// or on all that both nodes have. False if they have no such one in common; a wire has no path loss.
    pub fn set_link(&mut self, from: u32, to: u32, state: Option<LinkOverride>, name: Option<&str>) -> bool {
        let ports = &self.net.common.ports;
        let has_loss =
            |a| matches!(a, Attachment::Radio(_)) || !matches!(state, Some(LinkOverride::PathLoss(_)));
        let is_meant = |a| name.is_none_or(|name| self.interfaces.name(a) == name) && has_loss(a);
        let common = ports.of(from).iter().filter(|&&a| ports.iface(to, a).is_some() && is_meant(a));
        common.map(|&place| self.media.set_link(place, from, to, state)).count() > 0
    }
    /// The overridden links, as (sender, receiver, state), in order. Those on several radios and wires are one.
    pub fn links(&self) -> Vec<(u32, u32, LinkOverride)> {
        let mut all: Vec<_> = self.media.links().map(|(_, from, to, state)| (from, to, state)).collect();
        all.sort_by_key(|&(from, to, _)| (from, to));
        all.dedup_by_key(|&mut (from, to, _)| (from, to));
        all
    }

    /// Keeps what happens for those who watch from outside, from now on.
    pub fn attend(&mut self) {
        self.net.common.watchers.get_or_insert_with(Watchers::default);
    }
    /// Whether [`Simulation::happening`] has anything to tell from now on, and of each packet; only of an attended run.
    pub fn watch(&mut self, on: bool, packets: bool) {
        if let Some(w) = &mut self.net.common.watchers {
            (w.watched, w.packets_watched) = (on, packets);
            if !on && !packets {
                w.happenings.clear();
            }
        }
    }
    /// The next of what happened: when, where and what.
    pub fn happening(&mut self) -> Option<(wayhop_core::Time, u32, Happening)> {
        self.net.common.watchers.as_mut()?.happenings.pop_front()
    }
    /// A node's interfaces, in their order, as captures know them.
    pub fn interfaces(&self, node: u32) -> Vec<InterfaceInfo> {
        let kind = |at| match at {
            Attachment::Radio(_) => LinkKind::Ieee80211,
            Attachment::Wire(_) => LinkKind::Ethernet,
        };
        let ports = self.net.common.ports.of(node).iter();
        let name = |at| self.interfaces.name(at).to_owned();
        ports.map(|&at| InterfaceInfo { name: name(at), kind: kind(at) }).collect()
    }
    /// Shows each frame that a node sends and hears from now on; only of an attended run.
    pub fn tap(&mut self, node: u32, tap: Tap) {
        if let Some(w) = &mut self.net.common.watchers {
            w.taps.push((node, tap));
            // Radios go on showing frames when it has gone: a look at an empty list each.
            self.media.capture(true);
        }
    }
    /// How much nobody fetched in time, since the last question.
    pub fn missed(&mut self) -> u64 {
        self.net.common.watchers.as_mut().map_or(0, |w| std::mem::take(&mut w.missed))
    }
}
