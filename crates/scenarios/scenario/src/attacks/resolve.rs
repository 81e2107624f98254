//! Attacks: the attackers, the kind of attack and its time.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use wayhop_attack::{Behaviour, Drops, Flood, Pretence};
use wayhop_core::{Configured, NodeId, Purpose, Span, Time, draw};
use wayhop_document::{Document, Error, in_range};
use wayhop_radio::{Jamming, JammingMode};
use wayhop_simulator_files::MAX_DURATION_S;
use wayhop_transport::FlowConfig;

use super::schema::{AttackKind, Attacks, JamMode, Originators};
use crate::file::Scenario;
use crate::interfaces::Interfaces;
use crate::nodes::Placement;

/// What one node does.
#[derive(Clone, Debug, PartialEq)]
pub struct Attack {
    /// Who.
    pub node: NodeId,
    /// What, as the scenario names it.
    pub kind: AttackKind,
    /// When it begins.
    pub from: Time,
    /// When it is over; [`Time::NEVER`] for one that lasts as long as the run.
    pub until: Time,
    /// Whether it has the network's keys.
    pub insider: bool,
    /// What, in full.
    pub what: Action,
}

/// What an attacker does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Its engine attacks.
    Engine(Behaviour),
    /// It is one end of a wormhole.
    Wormhole {
        /// The other end.
        other: NodeId,
        /// How long a frame takes there.
        delay: Span,
    },
    /// It sends noise.
    Jamming(Jamming),
}

/// The most addresses of one Sybil node.
const MAX_IDENTITIES: u8 = 64;
/// The first address of Sybil nodes: 198.18.0.0/15 is for measurements (RFC 2544), and no node's.
const FIRST_IDENTITY: u32 = 0xc612_0001;

/// What the rest of the scenario says.
pub(crate) struct AttackContext<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) placed: &'a Placement,
    pub(crate) flows: &'a [FlowConfig],
    pub(crate) interfaces: &'a Interfaces,
    pub(crate) protocol: &'a Configured,
    pub(crate) end: Time,
}

/// Looks up, draws and checks all attacks; with warnings about those that come too late.
pub(crate) fn resolve(around: &AttackContext<'_>) -> Result<(Vec<Attack>, Vec<String>), Error> {
    let mut plan = Plan { around, by: BTreeMap::new(), late: Vec::new() };
    for (k, a) in around.scenario.attacks.iter().enumerate() {
        plan.entry(&ListedAttack { k, a, doc: &around.scenario.document })?;
    }
    Ok((plan.by.into_values().map(|(_, attack)| attack).collect(), plan.late))
}

/// Attacks so far.
struct Plan<'a> {
    around: &'a AttackContext<'a>,
    /// By node: the entry, and what it does.
    by: BTreeMap<NodeId, (usize, Attack)>,
    late: Vec<String>,
}

/// One entry of the file.
struct ListedAttack<'a> {
    k: usize,
    a: &'a Attacks,
    doc: &'a Document,
}

impl ListedAttack<'_> {
    fn key(&self, field: &str) -> String {
        format!("attacks[{}].{field}", self.k)
    }
    fn error(&self, field: &str, reason: impl Into<String>, remedy: impl Into<String>) -> Error {
        self.doc.error(&self.key(field), reason, remedy)
    }
    /// A number of seconds, from a nanosecond to a year.
    fn span(&self, field: &str, value: Option<f64>, default: f64) -> Result<Span, Error> {
        let s = value.unwrap_or(default);
        in_range(self.doc, &self.key(field), s, 1e-9, MAX_DURATION_S)?;
        Ok(Span::from_secs_f64(s))
    }
    /// A number of microseconds, from 1 to 10 s.
    fn micros(&self, field: &str, value: Option<u64>, default: u64) -> Result<Span, Error> {
        let us = value.unwrap_or(default);
        in_range(self.doc, &self.key(field), us as f64, 1.0, 1e7)?;
        Ok(Span::from_micros(us))
    }

    /// Refuses keys of other kinds.
    fn check_keys(&self) -> Result<(), Error> {
        let a = self.a;
        let given = [
            ("insider", a.insider.is_some()),
            ("attract", a.attract.is_some()),
            ("hops", a.hops.is_some()),
            ("ahead", a.ahead.is_some()),
            ("share", a.share.is_some()),
            ("on_s", a.on_s.is_some()),
            ("off_s", a.off_s.is_some()),
            ("source", a.source.is_some()),
            ("destination", a.destination.is_some()),
            ("delay_us", a.delay_us.is_some()),
            ("delay_s", a.delay_s.is_some()),
            ("every_s", a.every_s.is_some()),
            ("rate_pps", a.rate_pps.is_some()),
            ("addresses", a.addresses.is_some()),
            ("identities", a.identities.is_some()),
            ("mode", a.mode.is_some()),
            ("duty", a.duty.is_some()),
            ("burst_us", a.burst_us.is_some()),
            ("reaction_us", a.reaction_us.is_some()),
            ("power_dbm", a.power_dbm.is_some()),
        ];
        let own = keys_of(a.kind);
        match given.iter().find(|(key, is_given)| *is_given && !own.contains(key)) {
            Some((key, _)) => Err(self.error(
                key,
                format!("{} has no {key}", a.kind.name()),
                match own {
                    [] => "remove it".to_owned(),
                    own => format!("remove it; its keys are {}", own.join(", ")),
                },
            )),
            None => Ok(()),
        }
    }
}

/// The keys of a kind, besides those of all.
const fn keys_of(kind: AttackKind) -> &'static [&'static str] {
    match kind {
        AttackKind::BlackHole => &["attract", "hops", "ahead", "insider"],
        AttackKind::GreyHole => {
            &["share", "on_s", "off_s", "source", "destination", "attract", "hops", "ahead", "insider"]
        }
        AttackKind::Wormhole => &["delay_us"],
        AttackKind::Replay => &["delay_s", "insider"],
        AttackKind::ForgedReply => &["hops", "ahead", "insider"],
        AttackKind::ForgedError => &["every_s", "insider"],
        AttackKind::RequestFlood => &["rate_pps", "addresses", "insider"],
        AttackKind::Jamming => &["mode", "duty", "burst_us", "reaction_us", "power_dbm"],
        AttackKind::Sybil => &["identities", "hops", "ahead", "insider"],
    }
}

impl Plan<'_> {
    fn entry(&mut self, e: &ListedAttack<'_>) -> Result<(), Error> {
        e.check_keys()?;
        let (from, until) = self.times(e)?;
        let nodes = self.nodes(e)?;
        if matches!(e.a.kind, AttackKind::Wormhole | AttackKind::Jamming) {
            self.check_outsiders(e, &nodes)?;
        } else if self.around.protocol.description().forger.is_none() && Self::forges(e.a) {
            let name = self.around.protocol.name();
            let reason = format!("protocol {name:?} has no messages to forge or replay");
            let remedy = "set protocol.name, or use a kind that needs no protocol (attract = false)";
            return Err(e.error("kind", reason, remedy));
        }
        for &node in &nodes {
            let what = self.action(e, node, &nodes, from, until)?;
            let insider = e.a.insider.unwrap_or(false);
            let attack = Attack { node, kind: e.a.kind, from, until, insider, what };
            if let Some((other, _)) = self.by.insert(node, (e.k, attack)) {
                let name = &self.around.placed.names[node.index()];
                let reason = format!("node {name} already attacks in attacks[{other}]");
                return Err(e.doc.error(&format!("attacks[{}]", e.k), reason, "give each node one attack"));
            }
        }
        Ok(())
    }

    /// Whether a kind sends a protocol's messages.
    fn forges(a: &Attacks) -> bool {
        match a.kind {
            AttackKind::BlackHole => a.attract.unwrap_or(true),
            AttackKind::GreyHole => a.attract.unwrap_or(false),
            _ => true,
        }
    }

    fn times(&mut self, e: &ListedAttack<'_>) -> Result<(Time, Time), Error> {
        in_range(e.doc, &e.key("at_s"), e.a.at_s, 0.0, MAX_DURATION_S)?;
        let from = Time::from_secs_f64(e.a.at_s);
        let until = match e.a.until_s {
            None => Time::NEVER,
            Some(s) => {
                in_range(e.doc, &e.key("until_s"), s, 0.0, MAX_DURATION_S)?;
                if s <= e.a.at_s {
                    let reason = format!("{s} s is not after at_s = {} s", e.a.at_s);
                    return Err(e.error("until_s", reason, "give a later time, or remove the key"));
                }
                Time::from_secs_f64(s)
            }
        };
        if from >= self.around.end {
            let end = self.around.end.as_secs_f64();
            self.late.push(format!(
                "attacks[{}] begins at {} s, after the end of the run ({end} s): it has no effect",
                e.k, e.a.at_s
            ));
        }
        Ok((from, until))
    }

    fn nodes(&self, e: &ListedAttack<'_>) -> Result<Vec<NodeId>, Error> {
        let find = |n, field: &str| self.around.placed.find(n, &e.key(field), e.doc);
        let mut nodes = match (&e.a.node, &e.a.nodes[..], e.a.nodes_share) {
            (Some(node), [], None) => vec![find(node, "node")?],
            (None, some @ [_, ..], None) => {
                some.iter().map(|n| find(n, "nodes")).collect::<Result<_, _>>()?
            }
            (None, [], Some(share)) => self.drawn(e, share)?,
            (None, [], None) => {
                let reason = "the attacking node is missing";
                let remedy = "set node = NUMBER or NAME, nodes = [...], or nodes_share";
                return Err(e.doc.error(&format!("attacks[{}]", e.k), reason, remedy));
            }
            _ => {
                let reason = "node, nodes and nodes_share exclude each other";
                return Err(e.doc.error(&format!("attacks[{}]", e.k), reason, "keep one of them"));
            }
        };
        nodes.sort_unstable();
        if let Some(twice) = nodes.windows(2).find(|w| w[0] == w[1]) {
            let name = &self.around.placed.names[twice[0].index()];
            return Err(e.error("nodes", format!("node {name} is listed twice"), "list it once"));
        }
        if e.a.kind == AttackKind::Wormhole && nodes.len() != 2 {
            let reason = format!("a wormhole needs two nodes, not {}", nodes.len());
            return Err(e.doc.error(&format!("attacks[{}]", e.k), reason, "set nodes = [ONE, OTHER]"));
        }
        Ok(nodes)
    }

    /// A share of all nodes: those of the lowest draws at which no flow begins or ends.
    fn drawn(&self, e: &ListedAttack<'_>, share: f64) -> Result<Vec<NodeId>, Error> {
        in_range(e.doc, &e.key("nodes_share"), share, 0.0, 1.0)?;
        let all = self.around.placed.tracks.len();
        let wanted = (share * all as f64).round() as usize;
        let draw = |n: NodeId| draw(self.around.scenario.seed, Purpose::Attacks, [n.0.into(), 1, 0]);
        let mut free: Vec<NodeId> = (0..all as u32).map(NodeId).filter(|n| !self.is_end(*n)).collect();
        free.sort_unstable_by_key(|n| (draw(*n), *n));
        if free.len() < wanted {
            let reason = format!("{wanted} nodes should attack, but only {} have no flow", free.len());
            return Err(e.error("nodes_share", reason, "reduce the share, or list nodes"));
        }
        free.truncate(wanted);
        Ok(free)
    }

    /// Whether a flow begins or ends at a node.
    fn is_end(&self, node: NodeId) -> bool {
        self.around.flows.iter().any(|f| f.src == node || f.dst == node)
    }

    /// A wormhole's ends and jammers do not belong to the network.
    fn check_outsiders(&self, e: &ListedAttack<'_>, nodes: &[NodeId]) -> Result<(), Error> {
        let kind = e.a.kind.name();
        if !self.around.interfaces.is_single() {
            return Err(e.error(
                "kind",
                format!(
                    "{kind} requires one radio per node, but this scenario assigns radios or wires to nodes"
                ),
                "remove the attack, or remove radios, wires and radio.nodes",
            ));
        }
        match nodes.iter().find(|n| self.is_end(**n)) {
            Some(node) => Err(e.doc.error(
                &format!("attacks[{}]", e.k),
                format!(
                    "node {} has a flow, but a {kind} node is not part of the network",
                    self.around.placed.names[node.index()]
                ),
                "choose another node, or change the flow",
            )),
            None => Ok(()),
        }
    }

    fn action(
        &self,
        e: &ListedAttack<'_>,
        node: NodeId,
        nodes: &[NodeId],
        from: Time,
        until: Time,
    ) -> Result<Action, Error> {
        let a = e.a;
        let plain = Behaviour::between(from, until);
        let behaviour = match a.kind {
            AttackKind::Wormhole => {
                let other = if nodes[0] == node { nodes[1] } else { nodes[0] };
                let delay = Span::from_micros(a.delay_us.unwrap_or(1));
                in_range(e.doc, &e.key("delay_us"), delay.as_micros() as f64, 0.0, 1e9)?;
                return Ok(Action::Wormhole { other, delay });
            }
            AttackKind::Jamming => return self.jamming(e, from, until).map(Action::Jamming),
            AttackKind::BlackHole => {
                let pretence = if a.attract.unwrap_or(true) { Some(pretence(e)?) } else { None };
                Behaviour { drops: Drops::All, pretence, ..plain }
            }
            AttackKind::GreyHole => {
                let pretence = if a.attract.unwrap_or(false) { Some(pretence(e)?) } else { None };
                Behaviour { drops: self.drops(e)?, pretence, ..plain }
            }
            AttackKind::Replay => {
                Behaviour { replays_after: Some(e.span("delay_s", a.delay_s, 10.0)?), ..plain }
            }
            AttackKind::ForgedReply => Behaviour { pretence: Some(pretence(e)?), ..plain },
            AttackKind::ForgedError => {
                Behaviour { denies_every: Some(e.span("every_s", a.every_s, 1.0)?), ..plain }
            }
            AttackKind::RequestFlood => {
                let rate = a.rate_pps.unwrap_or(10.0);
                in_range(e.doc, &e.key("rate_pps"), rate, 1e-3, 1e5)?;
                let forged = a.addresses == Some(Originators::Forged);
                let every = Span::from_secs_f64(1.0 / rate);
                Behaviour { flood: Some(Flood { every, forged }), ..plain }
            }
            AttackKind::Sybil => {
                let count = a.identities.unwrap_or(8);
                in_range(e.doc, &e.key("identities"), count.into(), 1.0, MAX_IDENTITIES.into())?;
                let identities = identities(node, count);
                Behaviour { drops: Drops::All, pretence: Some(pretence(e)?), identities, ..plain }
            }
        };
        Ok(Action::Engine(behaviour))
    }

    /// The packets that a grey hole drops.
    fn drops(&self, e: &ListedAttack<'_>) -> Result<Drops, Error> {
        let a = e.a;
        let address = |n: &Option<_>, field: &str| -> Result<Option<Ipv4Addr>, Error> {
            let Some(n) = n else { return Ok(None) };
            let node = self.around.placed.find(n, &e.key(field), e.doc)?;
            Ok(Some(self.around.placed.addresses[node.index()]))
        };
        let by_time = a.on_s.is_some() || a.off_s.is_some();
        let by_flow = a.source.is_some() || a.destination.is_some();
        match (a.share, by_time, by_flow) {
            (Some(share), false, false) => {
                in_range(e.doc, &e.key("share"), share, 0.0, 1.0)?;
                Ok(Drops::Share(share))
            }
            (None, true, false) => {
                let (Some(_), Some(_)) = (a.on_s, a.off_s) else {
                    let have = if a.on_s.is_some() { "on_s" } else { "off_s" };
                    return Err(e.error(have, "a timed grey hole needs both on_s and off_s", "set both"));
                };
                Ok(Drops::Periodic { on: e.span("on_s", a.on_s, 0.0)?, off: e.span("off_s", a.off_s, 0.0)? })
            }
            (None, false, true) => Ok(Drops::Flow {
                source: address(&a.source, "source")?,
                destination: address(&a.destination, "destination")?,
            }),
            (None, false, false) => Err(e.doc.error(
                &format!("attacks[{}]", e.k),
                "the packets to drop are missing",
                "set share, on_s and off_s, or source or destination",
            )),
            _ => Err(e.doc.error(
                &format!("attacks[{}]", e.k),
                "share, on_s and off_s, and source and destination exclude each other",
                "keep share, or on_s and off_s, or source and destination",
            )),
        }
    }

    fn jamming(&self, e: &ListedAttack<'_>, from: Time, until: Time) -> Result<Jamming, Error> {
        let a = e.a;
        let mode = a.mode.unwrap_or(JamMode::Constant);
        let only = [
            ("duty", a.duty.is_some(), JamMode::Random),
            ("reaction_us", a.reaction_us.is_some(), JamMode::Reactive),
        ];
        if let Some((key, ..)) = only.iter().find(|(_, is_given, of)| *is_given && *of != mode) {
            let remedy = "remove it, or set mode = \"random\" (for duty) or \"reactive\" (for reaction_us)";
            return Err(e.error(key, "this key does not apply to this mode of jamming", remedy));
        }
        let own_dbm = self.around.interfaces.radios[0].config.tx_power_dbm;
        let power_dbm = a.power_dbm.unwrap_or(own_dbm);
        in_range(e.doc, &e.key("power_dbm"), power_dbm, -100.0, own_dbm)?;
        let burst = e.micros("burst_us", a.burst_us, 1_000)?;
        let mode = match mode {
            JamMode::Constant => JammingMode::Constant,
            JamMode::Random => {
                let duty = a.duty.unwrap_or(0.5);
                in_range(e.doc, &e.key("duty"), duty, 1e-6, 0.999)?;
                JammingMode::Random(Span::from_secs_f64(burst.as_secs_f64() * (1.0 - duty) / duty))
            }
            JamMode::Reactive => JammingMode::Reactive(e.micros("reaction_us", a.reaction_us, 20)?),
        };
        let gain = libm::pow(10.0, (power_dbm - own_dbm) / 10.0);
        Ok(Jamming { from, until, burst, mode, gain })
    }
}

/// What a forged reply claims.
fn pretence(e: &ListedAttack<'_>) -> Result<Pretence, Error> {
    let (hops, ahead) = (e.a.hops.unwrap_or(1), e.a.ahead.unwrap_or(100));
    in_range(e.doc, &e.key("hops"), hops.into(), 1.0, 254.0)?;
    // Numbers are compared with half of their range (RFC 3561, section 6.1).
    in_range(e.doc, &e.key("ahead"), ahead.into(), 0.0, f64::from(i32::MAX / 2))?;
    Ok(Pretence { hops, ahead })
}

/// Addresses that no node has.
fn identities(node: NodeId, count: u8) -> Vec<Ipv4Addr> {
    let first = FIRST_IDENTITY + (node.0 * u32::from(MAX_IDENTITIES)) % 0x1_0000;
    (0..u32::from(count)).map(|i| Ipv4Addr::from_bits(first + i)).collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
