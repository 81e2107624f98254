//! Attackers: their engines, the wormholes between them, and the addresses that they send from.
//!
//! An ordinary node's frames come from it. An attacker writes whatever link address it likes into
//! its own: in its routing messages the node that the message names as its transmitter, and in
//! frames from a wormhole the real transmitter.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use wayhop_attack::Attacker;
use wayhop_core::{
    Addr, Configured, Frame, NodeContext, NodeId, PacketId, Payload, Purpose, Rng, Span, Time, stream,
};
use wayhop_node::{Engine, OnDemand};
use wayhop_protocols::{classify, hop};
use wayhop_radio::Jamming;
use wayhop_scenario::{Action, Attack, Resolved};
use wayhop_trace::AttackNodes;

/// How long an end of a wormhole answers for a node that was heard at the other end, or leaves it alone that it heard itself.
const HEARD_FOR: Span = Span::from_secs(30);

/// The attackers of a run.
pub(crate) struct Attackers {
    seed: u64,
    /// By node.
    all: FxHashMap<u32, Attack>,
    /// By end of a wormhole and sender: when it was heard there.
    pub(crate) heard: FxHashMap<(u32, u32), Time>,
    /// By end of a wormhole and packet: who really sent it.
    pub(crate) senders: FxHashMap<(u32, PacketId), Addr>,
}

impl Attackers {
    pub(crate) fn new(scenario: &Resolved) -> Option<Box<Self>> {
        if scenario.attacks.is_empty() {
            return None;
        }
        let all = scenario.attacks.iter().map(|a| (a.node.0, a.clone())).collect();
        Some(Box::new(Self {
            seed: scenario.seed,
            all,
            heard: FxHashMap::default(),
            senders: FxHashMap::default(),
        }))
    }

    /// Who attacks, by kind.
    pub(crate) fn summary(&self) -> Vec<AttackNodes> {
        let mut by_kind: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for attack in self.all.values() {
            by_kind.entry(attack.kind.name()).or_default().push(attack.node.0);
        }
        let of_kind = |(kind, mut nodes): (&str, Vec<u32>)| {
            nodes.sort_unstable();
            AttackNodes { kind: kind.to_owned(), nodes }
        };
        by_kind.into_iter().map(of_kind).collect()
    }
    /// Whether a node attacks.
    pub(crate) fn is_one(&self, node: u32) -> bool {
        self.all.contains_key(&node)
    }
    /// The addresses that a node claims to have besides its own.
    pub(crate) fn identities(&self) -> impl Iterator<Item = (u32, &[Ipv4Addr])> {
        self.all.iter().filter_map(|(node, attack)| match &attack.what {
            Action::Engine(b) => Some((*node, &b.identities[..])),
            _ => None,
        })
    }
    pub(crate) fn jammers(&self) -> Vec<(u32, Jamming)> {
        let jammer = |(node, a): (&u32, &Attack)| match a.what {
            Action::Jamming(plan) => Some((*node, plan)),
            _ => None,
        };
        let mut all: Vec<_> = self.all.iter().filter_map(jammer).collect();
        all.sort_unstable_by_key(|(node, _)| *node);
        all
    }
    pub(crate) fn has_wormholes(&self) -> bool {
        self.all.values().any(|a| matches!(a.what, Action::Wormhole { .. }))
    }

    /// The other end of the wormhole that ends at a node, while it is open.
    pub(crate) fn other_end(&self, node: u32, at: Time) -> Option<(NodeId, Span)> {
        let attack = self.all.get(&node)?;
        match attack.what {
            Action::Wormhole { other, delay } if attack.from <= at && at < attack.until => {
                Some((other, delay))
            }
            _ => None,
        }
    }

    fn has_heard(&self, end: u32, who: u32, at: Time) -> bool {
        self.heard.get(&(end, who)).is_some_and(|last| at < *last + HEARD_FOR)
    }

    /// Whether the end of a wormhole answers for a node that only the other end hears. Not to ends of wormholes: what they send
    /// goes through none again.
    pub(crate) fn stands_in(&self, at: Time, end: u32, from: u32, to: u32) -> bool {
        let Some((other, _)) = self.other_end(end, at) else { return false };
        !self.is_wormhole(from) && self.has_heard(other.0, to, at) && !self.has_heard(end, to, at)
    }

    pub(crate) fn is_wormhole(&self, node: u32) -> bool {
        self.all.get(&node).is_some_and(|a| matches!(a.what, Action::Wormhole { .. }))
    }

    /// In whose name an attacker sends a frame; `None` in its own, or if it is no attacker.
    pub(crate) fn sender(&self, station: u32, frame: &Frame) -> Option<Addr> {
        if !self.is_one(station) {
            return None;
        }
        let packet = frame.packet.bytes();
        if frame.payload == Payload::Ip && is_routing(packet) {
            return hop(packet).map(|(from, _)| from);
        }
        self.senders.get(&(station, frame.packet.meta.id)).copied()
    }

    /// A frame is done with.
    pub(crate) fn forget(&mut self, station: u32, packet: PacketId) {
        self.senders.remove(&(station, packet));
    }
}

fn is_routing(packet: &[u8]) -> bool {
    classify(packet).0.is_some()
}

/// The engine of a node with this protocol and stream of random numbers.
pub(crate) fn engine(
    protocol: &Arc<Configured>,
    attackers: Option<&Attackers>,
    at: NodeContext,
    rng: Rng,
) -> Engine<OnDemand> {
    let attack = attackers.and_then(|all| Some((all, all.all.get(&at.node)?)));
    let Some((attackers, attack)) = attack else {
        let starts_again = protocol.parameters().starts_again();
        let on_demand = || OnDemand::new(Arc::clone(protocol));
        let protocol = if starts_again { on_demand() } else { OnDemand::made(protocol.engine_at(at)) };
        return Engine::new(protocol, rng);
    };
    let own = stream(attackers.seed, Purpose::Attacks, u64::from(at.node) | 2 << 32);
    let protocol = match &attack.what {
        Action::Engine(behaviour) => {
            let forger = protocol.description().forger.map(|new| new());
            Box::new(Attacker::new(protocol.engine_at(at), is_routing, forger, behaviour.clone(), own))
        }
        // It does not belong to the network.
        Action::Wormhole { .. } | Action::Jamming(_) => wayhop_protocols::silent(),
    };
    Engine::new(OnDemand::made(protocol), rng)
}
