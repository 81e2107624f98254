//! Attacks: the attackers, the kind of attack and its time.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use wayhop_attack::{Behaviour, Drops, Flood, Pretence};
use wayhop_core::{Configured, NodeId, Purpose, Span, Time, draw};
use wayhop_document::{Document, Error, Result, in_range};
use wayhop_radio::{Jamming, JammingMode};
use wayhop_simulator_files::MAX_DURATION_S;
use wayhop_transport::FlowConfig;

use super::{AttackKind, Attacks, JamMode, Originators};
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

const MAX_IDENTITIES: u8 = 64;
/// The first address of Sybil nodes: 198.18.0.0/15 is for measurements (RFC 2544), and no node's.
const FIRST_IDENTITY: u32 = 0xc612_0001;

/// What the rest of the scenario says.
pub(crate) struct AttackContext<'a> {
    pub(crate) placed: &'a Placement<'a>,
    pub(crate) flows: &'a [FlowConfig],
    pub(crate) interfaces: &'a Interfaces,
    pub(crate) protocol: &'a Configured,
    pub(crate) end: Time,
}

/// Looks up, draws and checks all attacks; with warnings about those that come too late.
pub(crate) fn resolve(around: &AttackContext<'_>) -> Result<(Vec<Attack>, Vec<String>)> {
    let mut plan = Plan { around, by: BTreeMap::new(), late: Vec::new() };
    for (k, a) in around.placed.scenario.attacks.iter().enumerate() {
        plan.entry(&ListedAttack { k, a, doc: around.placed.doc() })?;
    }
    Ok((plan.by.into_values().map(|(_, attack)| attack).collect(), plan.late))
}

struct Plan<'a> {
    around: &'a AttackContext<'a>,
    /// By node: the entry, and what it does.
    by: BTreeMap<NodeId, (usize, Attack)>,
    late: Vec<String>,
}

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
    /// About the entry as a whole.
    fn wrong(&self, reason: impl Into<String>, remedy: &str) -> Error {
        self.doc.error(&format!("attacks[{}]", self.k), reason, remedy)
    }
    fn number<V: Copy + Into<Option<f64>>>(&self, field: &str, value: V, low: f64, high: f64) -> Result<V> {
        in_range(self.doc, &self.key(field), value, low, high)
    }
    /// A number of seconds, from a nanosecond to a year.
    fn span(&self, field: &str, value: Option<f64>, default: f64) -> Result<Span> {
        self.number(field, value.unwrap_or(default), 1e-9, MAX_DURATION_S).map(Span::from_secs_f64)
    }
    /// A number of microseconds, from 1 to 10 s.
    fn micros(&self, field: &str, value: Option<u64>, default: u64) -> Result<Span> {
        let us = value.unwrap_or(default);
        self.number(field, us as f64, 1.0, 1e7)?;
        Ok(Span::from_micros(us))
    }

    fn check_keys(&self) -> Result<()> {
        let own = keys_of(self.a.kind);
        // What is not given is not in the table.
        let given = toml::Table::try_from(self.a).unwrap_or_default();
        let is_wrong = |key: &&str| given.contains_key(*key) && !own.contains(key);
        let Some(key) = KEYS_OF_KINDS.split(' ').find(is_wrong) else { return Ok(()) };
        let reason = format!("{} has no {key}", self.a.kind.name());
        Err(self.error(key, reason, format!("remove it; its keys are {}", own.join(", "))))
    }
}

/// The keys that only some kinds have.
const KEYS_OF_KINDS: &str = "insider attract hops ahead share on_s off_s source destination delay_us delay_s every_s \
                             rate_pps addresses identities mode duty burst_us reaction_us power_dbm";

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
    fn entry(&mut self, e: &ListedAttack<'_>) -> Result<()> {
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
                return Err(e.wrong(reason, "give each node one attack"));
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

    fn times(&mut self, e: &ListedAttack<'_>) -> Result<(Time, Time)> {
        let from = Time::from_secs_f64(e.number("at_s", e.a.at_s, 0.0, MAX_DURATION_S)?);
        let until_s = e.number("until_s", e.a.until_s, 0.0, MAX_DURATION_S)?;
        if let Some(s) = until_s.filter(|s| *s <= e.a.at_s) {
            let reason = format!("{s} s is not after at_s = {} s", e.a.at_s);
            return Err(e.error("until_s", reason, "give a later time, or remove the key"));
        }
        let until = until_s.map_or(Time::NEVER, Time::from_secs_f64);
        if from >= self.around.end {
            let end = self.around.end.as_secs_f64();
            self.late.push(format!(
                "attacks[{}] begins at {} s, after the end of the run ({end} s): it has no effect",
                e.k, e.a.at_s
            ));
        }
        Ok((from, until))
    }

    fn nodes(&self, e: &ListedAttack<'_>) -> Result<Vec<NodeId>> {
        let find = |n, field: &str| self.around.placed.find(n, &e.key(field));
        let mut nodes = match (&e.a.node, &e.a.nodes[..], e.a.nodes_share) {
            (Some(node), [], None) => vec![find(node, "node")?],
            (None, some @ [_, ..], None) => {
                some.iter().map(|n| find(n, "nodes")).collect::<Result<_, _>>()?
            }
            (None, [], Some(share)) => self.drawn(e, share)?,
            (None, [], None) => {
                let remedy = "set node = NUMBER or NAME, nodes = [...], or nodes_share";
                return Err(e.wrong("the attacking node is missing", remedy));
            }
            _ => return Err(e.wrong("node, nodes and nodes_share exclude each other", "keep one of them")),
        };
        nodes.sort_unstable();
        if let Some(twice) = nodes.windows(2).find(|w| w[0] == w[1]) {
            let name = &self.around.placed.names[twice[0].index()];
            return Err(e.error("nodes", format!("node {name} is listed twice"), "list it once"));
        }
        if e.a.kind == AttackKind::Wormhole && nodes.len() != 2 {
            let reason = format!("a wormhole needs two nodes, not {}", nodes.len());
            return Err(e.wrong(reason, "set nodes = [ONE, OTHER]"));
        }
        Ok(nodes)
    }

    /// A share of all nodes: those of the lowest draws at which no flow begins or ends.
    fn drawn(&self, e: &ListedAttack<'_>, share: f64) -> Result<Vec<NodeId>> {
        e.number("nodes_share", share, 0.0, 1.0)?;
        let all = self.around.placed.tracks.len();
        let wanted = (share * all as f64).round() as usize;
        let draw = |n: NodeId| draw(self.around.placed.scenario.seed, Purpose::Attacks, [n.0.into(), 1, 0]);
        let mut free: Vec<NodeId> = self.around.placed.all().filter(|n| !self.is_end(*n)).collect();
        free.sort_unstable_by_key(|n| (draw(*n), *n));
        if free.len() < wanted {
            let reason = format!("{wanted} nodes should attack, but only {} have no flow", free.len());
            return Err(e.error("nodes_share", reason, "reduce the share, or list nodes"));
        }
        free.truncate(wanted);
        Ok(free)
    }

    fn is_end(&self, node: NodeId) -> bool {
        self.around.flows.iter().any(|f| f.src == node || f.dst == node)
    }

    /// A wormhole's ends and jammers do not belong to the network.
    fn check_outsiders(&self, e: &ListedAttack<'_>, nodes: &[NodeId]) -> Result<()> {
        let kind = e.a.kind.name();
        if !self.around.interfaces.is_single() {
            let what = "requires one radio per node, but this scenario assigns radios or wires to nodes";
            let remedy = "remove the attack, or remove radios, wires and radio.nodes";
            return Err(e.error("kind", format!("{kind} {what}"), remedy));
        }
        let Some(node) = nodes.iter().find(|n| self.is_end(**n)) else { return Ok(()) };
        let name = &self.around.placed.names[node.index()];
        let reason = format!("node {name} has a flow, but a {kind} node is not part of the network");
        Err(e.wrong(reason, "choose another node, or change the flow"))
    }

    fn action(
        &self,
        e: &ListedAttack<'_>,
        node: NodeId,
        nodes: &[NodeId],
        from: Time,
        until: Time,
    ) -> Result<Action> {
        let a = e.a;
        let plain = Behaviour::between(from, until);
        let behaviour = match a.kind {
            AttackKind::Wormhole => {
                let other = if nodes[0] == node { nodes[1] } else { nodes[0] };
                let delay = Span::from_micros(a.delay_us.unwrap_or(1));
                e.number("delay_us", delay.as_micros() as f64, 0.0, 1e9)?;
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
                let rate = e.number("rate_pps", a.rate_pps.unwrap_or(10.0), 1e-3, 1e5)?;
                let forged = a.addresses == Some(Originators::Forged);
                let every = Span::from_secs_f64(1.0 / rate);
                Behaviour { flood: Some(Flood { every, forged }), ..plain }
            }
            AttackKind::Sybil => {
                let count = a.identities.unwrap_or(8);
                e.number("identities", f64::from(count), 1.0, MAX_IDENTITIES.into())?;
                let identities = identities(node, count);
                Behaviour { drops: Drops::All, pretence: Some(pretence(e)?), identities, ..plain }
            }
        };
        Ok(Action::Engine(behaviour))
    }

    fn drops(&self, e: &ListedAttack<'_>) -> Result<Drops> {
        let a = e.a;
        let address = |n: &Option<_>, field: &str| -> Result<Option<Ipv4Addr>> {
            let Some(n) = n else { return Ok(None) };
            let node = self.around.placed.find(n, &e.key(field))?;
            Ok(Some(self.around.placed.addresses[node.index()]))
        };
        let by_time = a.on_s.is_some() || a.off_s.is_some();
        let by_flow = a.source.is_some() || a.destination.is_some();
        match (a.share, by_time, by_flow) {
            (Some(share), false, false) => e.number("share", share, 0.0, 1.0).map(Drops::Share),
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
            (None, false, false) => {
                let remedy = "set share, on_s and off_s, or source or destination";
                Err(e.wrong("the packets to drop are missing", remedy))
            }
            _ => {
                let reason = "share, on_s and off_s, and source and destination exclude each other";
                Err(e.wrong(reason, "keep share, or on_s and off_s, or source and destination"))
            }
        }
    }

    fn jamming(&self, e: &ListedAttack<'_>, from: Time, until: Time) -> Result<Jamming> {
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
        let power_dbm = e.number("power_dbm", a.power_dbm.unwrap_or(own_dbm), -100.0, own_dbm)?;
        let burst = e.micros("burst_us", a.burst_us, 1_000)?;
        let mode = match mode {
            JamMode::Constant => JammingMode::Constant,
            JamMode::Random => {
                let duty = e.number("duty", a.duty.unwrap_or(0.5), 1e-6, 0.999)?;
                JammingMode::Random(Span::from_secs_f64(burst.as_secs_f64() * (1.0 - duty) / duty))
            }
            JamMode::Reactive => JammingMode::Reactive(e.micros("reaction_us", a.reaction_us, 20)?),
        };
        let gain = libm::pow(10.0, (power_dbm - own_dbm) / 10.0);
        Ok(Jamming { from, until, burst, mode, gain })
    }
}

/// What a forged reply claims.
fn pretence(e: &ListedAttack<'_>) -> Result<Pretence> {
    let (hops, ahead) = (e.a.hops.unwrap_or(1), e.a.ahead.unwrap_or(100));
    e.number("hops", f64::from(hops), 1.0, 254.0)?;
    // Numbers are compared with half of their range (RFC 3561, section 6.1).
    e.number("ahead", f64::from(ahead), 0.0, f64::from(i32::MAX / 2))?;
    Ok(Pretence { hops, ahead })
}

fn identities(node: NodeId, count: u8) -> Vec<Ipv4Addr> {
    let first = FIRST_IDENTITY + (node.0 * u32::from(MAX_IDENTITIES)) % 0x1_0000;
    (0..u32::from(count)).map(|i| Ipv4Addr::from_bits(first + i)).collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
