//! The nodes' interfaces: radios and wires, looked up and checked.

use std::collections::{BTreeMap, BTreeSet};

use toml::Value;
use wayhop_core::{NodeId, Prefix, Span, Time};
use wayhop_document::{Document, Error, Result, in_range, nearest_or, unknown_name};
use wayhop_radio::{Arp, CHANNELS_2_4_GHZ, PRESETS, RadioConfig, channel_mhz};
use wayhop_simulator_files::MAX_DURATION_S;

use super::{Absence, Cut, Radio, Wire};
use crate::nodes::ipv6::prefix;
use crate::nodes::{NodeRef, Placement};
use crate::presets::overrides;
use crate::site::{self, Map};

/// The most radios of a scenario: as many channels as there are.
const MAX_RADIOS: usize = 64;
const MAX_WIRES: usize = 10_000;
const MAX_INTERFACES: usize = 128;

/// A radio that nodes have: one channel, and one configuration for all who use it.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioPlan {
    /// The interface's name.
    pub name: String,
    /// The preset.
    pub preset: String,
    /// The radio.
    pub config: RadioConfig,
    /// The nodes that have it, in ascending order; `None` for every node.
    pub nodes: Option<Vec<NodeId>>,
}

/// An Ethernet segment.
#[derive(Clone, Debug, PartialEq)]
pub struct WirePlan {
    /// The interface's name.
    pub name: String,
    /// The nodes at its ends, in ascending order.
    pub nodes: Vec<NodeId>,
    /// Rate of each node's cable, Mb/s.
    pub rate_mbps: f64,
    /// From the last bit sent to the last bit received.
    pub delay: Span,
    /// Share of the frames that are lost.
    pub loss: f64,
    /// Packets that each class of an interface queue holds.
    pub queue_packets: usize,
    /// Whether it leads out of the mesh.
    pub leads_out: bool,
    /// When it is cut, and when it is repaired.
    pub cuts: Vec<(Time, Option<Time>)>,
    /// The addresses that are asked for there, if it is a network outside of the mesh.
    pub network: Option<Prefix>,
    /// Which node is away from it, and from when until when.
    pub absences: Vec<(NodeId, Time, Option<Time>)>,
}

/// What an interface is at: a radio channel or a wire, by its number in [`Interfaces`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attachment {
    /// One of the radios.
    Radio(u8),
    /// One of the wires.
    Wire(u16),
}

/// The radios and wires of a scenario. A node's interfaces are its radios in this order, then its wires.
#[derive(Clone, Debug, PartialEq)]
pub struct Interfaces {
    /// At least one.
    pub radios: Vec<RadioPlan>,
    /// The wires.
    pub wires: Vec<WirePlan>,
}

impl Interfaces {
    /// Whether every node has the same one interface, a radio.
    pub fn is_single(&self) -> bool {
        self.wires.is_empty() && matches!(&self.radios[..], [RadioPlan { nodes: None, .. }])
    }

    /// What each of `nodes` nodes is attached to, in the order of its interfaces.
    pub fn by_node(&self, nodes: usize) -> Vec<Vec<Attachment>> {
        let mut all = vec![Vec::new(); nodes];
        for (k, r) in (0..).zip(&self.radios) {
            match &r.nodes {
                None => all.iter_mut().for_each(|n| n.push(Attachment::Radio(k))),
                Some(some) => some.iter().for_each(|n| all[n.index()].push(Attachment::Radio(k))),
            }
        }
        for (k, w) in (0..).zip(&self.wires) {
            w.nodes.iter().for_each(|n| all[n.index()].push(Attachment::Wire(k)));
        }
        all
    }

    /// The name of an interface that is attached to this.
    pub fn name(&self, at: Attachment) -> &str {
        match at {
            Attachment::Radio(k) => &self.radios[usize::from(k)].name,
            Attachment::Wire(k) => &self.wires[usize::from(k)].name,
        }
    }

    /// Whether a node has an interface that is attached to this.
    pub(crate) fn has(&self, at: Attachment, node: NodeId) -> bool {
        match at {
            Attachment::Radio(k) => {
                self.radios[usize::from(k)].nodes.as_ref().is_none_or(|n| n.contains(&node))
            }
            Attachment::Wire(k) => self.wires[usize::from(k)].nodes.contains(&node),
        }
    }

    /// What interfaces of this name are attached to.
    pub fn named(&self, name: &str) -> Option<Attachment> {
        let radio = self.radios.iter().position(|r| r.name == name);
        let wire = || self.wires.iter().position(|w| w.name == name);
        radio.map(|k| Attachment::Radio(k as u8)).or_else(|| wire().map(|k| Attachment::Wire(k as u16)))
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.radios.iter().map(|r| r.name.as_str()).chain(self.wires.iter().map(|w| w.name.as_str()))
    }
}

pub(crate) fn resolve(placed: &Placement<'_>, map: Option<&Map>) -> Result<Interfaces> {
    let (scenario, doc) = (placed.scenario, placed.doc());
    if scenario.radios.len() >= MAX_RADIOS {
        let many = format!("{} radios are too many", scenario.radios.len() + 1);
        return Err(doc.error("radios", many, format!("give at most {}", MAX_RADIOS - 1)));
    }
    if scenario.wires.len() > MAX_WIRES {
        let many = format!("{} wires are too many", scenario.wires.len());
        return Err(doc.error("wires", many, format!("give at most {MAX_WIRES}")));
    }
    let first = std::iter::once(("radio".to_owned(), "radio".to_owned(), &scenario.radio));
    let others = (0..).zip(&scenario.radios);
    let others = others.map(|(k, r)| (format!("radios[{k}]"), format!("radio{}", k + 1), r));
    let mut radios: Vec<RadioPlan> = Vec::new();
    for (section, default_name, r) in first.chain(others) {
        let plan = radio(placed, map, &section, default_name, r)?;
        check_apart(doc, &radios, &plan, &section, r)?;
        radios.push(plan);
    }
    let wires = scenario.wires.iter().enumerate();
    let wires = wires.map(|(k, w)| wire(placed, k, w)).collect::<Result<Vec<_>, _>>()?;
    let all = Interfaces { radios, wires };
    check_names(doc, &all)?;
    check_nodes(placed, &all)?;
    Ok(all)
}

fn radio(
    placed: &Placement<'_>,
    map: Option<&Map>,
    section: &str,
    default_name: String,
    r: &Radio,
) -> Result<RadioPlan> {
    let doc = placed.doc();
    let key = |k: &str| format!("{section}.{k}");
    let names = || PRESETS.iter().map(|p| p.0);
    let mut preset = RadioConfig::preset(&r.preset)
        .ok_or_else(|| unknown_name(doc, &key("preset"), &r.preset, names()))?;
    if preset.arp == Arp::Host {
        preset.arp = placed.scenario.protocol.arp();
    }
    let mut overrides = r.overrides.clone();
    let ranges = RANGES.map(|(range, threshold)| (range, threshold, overrides.remove(range)));
    let mut config = overrides::apply(&preset, &overrides, section, doc)?;
    for (range, threshold, given) in ranges {
        if let Some(given) = given {
            return Err(given_range(&key(range), threshold, &given, &config, doc));
        }
    }
    if let Some(channel) = r.channel {
        config.frequency_mhz = frequency(doc, section, r, channel, &config)?;
    }
    config.check().map_err(|(k, reason)| doc.error(&key(k), reason, "see docs/reference/scenario.md"))?;
    if let Some(node) = config.access_point
        && node as usize >= placed.tracks.len()
    {
        let remedy = format!("the nodes are 0 to {}", placed.tracks.len() - 1);
        return Err(doc.error(&key("access_point"), format!("there is no node {node}"), remedy));
    }
    config.site = site::resolve(r, section, &config, placed, map)?;
    let nodes = match &r.nodes {
        None => None,
        Some(named) if named.is_empty() => {
            let remedy = "name nodes, remove the key (then every node has it), or remove the radio";
            return Err(doc.error(&key("nodes"), "no node has this radio", remedy));
        }
        Some(named) => Some(members(placed, &key("nodes"), named)?),
    };
    if let (Some(point), Some(members)) = (config.access_point, &nodes)
        && !members.contains(&NodeId(point))
    {
        let reason = format!("node {point} does not have this radio");
        return Err(doc.error(&key("access_point"), reason, "choose one of its nodes"));
    }
    Ok(RadioPlan { name: r.name.clone().unwrap_or(default_name), preset: r.preset.clone(), config, nodes })
}

/// What a radio's other keys come to, and the key by which to change it.
const RANGES: [(&str, &str); 2] =
    [("range_m", "receive_threshold_dbm"), ("carrier_sense_range_m", "carrier_sense_threshold_dbm")];

/// A range cannot be set; the threshold that leads to it can.
fn given_range(key: &str, threshold: &str, given: &Value, config: &RadioConfig, doc: &Document) -> Error {
    let metres = given.as_float().or_else(|| given.as_integer().map(|m| m as f64));
    let remedy = match metres.filter(|m| m.is_finite() && *m >= 1.0) {
        Some(m) => {
            let dbm = config.tx_power_dbm - config.mean_path_loss_db(m);
            format!("set {threshold} = {dbm:.3} for {m} m")
        }
        None => format!("set {threshold}"),
    };
    let reason = format!("this is derived from tx_power_dbm, path_loss and {threshold} and cannot be set");
    doc.error(key, reason, remedy)
}

fn frequency(doc: &Document, section: &str, r: &Radio, channel: u32, config: &RadioConfig) -> Result<f64> {
    let key = format!("{section}.channel");
    if r.overrides.contains_key("frequency_mhz") {
        return Err(doc.error(&key, "both channel and frequency_mhz are given", "remove one of them"));
    }
    let Some(mhz) = channel_mhz(channel) else {
        let remedy =
            "give 1 to 14 (2.4 GHz), or one of 36, 40 ... 64, 100, 104 ... 144, 149, 153 ... 177 (5 GHz)";
        return Err(doc.error(&key, format!("IEEE 802.11 has no channel {channel}"), remedy));
    };
    if config.frequency_mhz < 2_000.0 {
        let reason =
            format!("preset `{}` is a {} MHz radio without channel numbers", r.preset, config.frequency_mhz);
        let remedy = "set frequency_mhz, or choose a preset with channels, such as 80211g";
        return Err(doc.error(&key, reason, remedy));
    }
    if !CHANNELS_2_4_GHZ.contains(&channel) && config.phy == wayhop_radio::PhyKind::Dsss {
        let reason = format!("channel {channel} is in the 5 GHz band, where DSSS does not exist");
        return Err(doc.error(&key, reason, "choose a channel from 1 to 14, or a preset with OFDM"));
    }
    Ok(mhz)
}

/// Wayhop models no interference between channels: two radios must not hear each other at all.
fn check_apart(
    doc: &Document,
    before: &[RadioPlan],
    new: &RadioPlan,
    section: &str,
    r: &Radio,
) -> Result<()> {
    let Some(near) = before.iter().find(|b| b.config.overlaps(&new.config)) else { return Ok(()) };
    let field = if r.overrides.contains_key("frequency_mhz") { "frequency_mhz" } else { "channel" };
    let mhz = new.config.frequency_mhz;
    let reason = if near.config.frequency_mhz == mhz {
        format!("radio {:?} uses {mhz} MHz too, and a channel has one configuration", near.name)
    } else {
        let ([a, b], [c, d]) = (new.config.spectrum_mhz(), near.config.spectrum_mhz());
        format!(
            "its spectrum ({a} to {b} MHz) overlaps that of radio {:?} ({c} to {d} MHz), and Wayhop models no interference \
             between channels",
            near.name
        )
    };
    let at =
        |channel| RadioConfig { frequency_mhz: channel_mhz(channel).unwrap_or(0.0), ..new.config.clone() };
    let free: Vec<u32> =
        CHANNELS_2_4_GHZ.filter(|&c| before.iter().all(|b| !b.config.overlaps(&at(c)))).collect();
    let remedy = if mhz < 2_000.0 {
        "move its frequency_mhz away by at least half the sum of both bandwidths".to_owned()
    } else if free.is_empty() {
        "no 2.4 GHz channel is left: use a 5 GHz channel (36, 40, ...) with the preset 80211g".to_owned()
    } else {
        let free: Vec<String> = free.iter().map(u32::to_string).collect();
        format!(
            "these channels are far enough apart: {}; put nodes on the same channel into one radio",
            free.join(", ")
        )
    };
    Err(doc.error(&format!("{section}.{field}"), reason, remedy))
}

fn wire(placed: &Placement<'_>, k: usize, w: &Wire) -> Result<WirePlan> {
    let doc = placed.doc();
    let key = |field: &str| format!("wires[{k}].{field}");
    let nodes = members(placed, &key("nodes"), &w.nodes)?;
    if nodes.len() < 2 {
        let reason = match nodes.len() {
            0 => "no node is attached to this wire",
            _ => "only one node is attached to this wire",
        };
        return Err(doc.error(&key("nodes"), reason, "name at least two nodes, or remove the wire"));
    }
    in_range(doc, &key("rate_mbps"), w.rate_mbps, 1e-3, 1e6)?;
    in_range(doc, &key("delay_us"), w.delay_us, 0.0, 1e7)?;
    in_range(doc, &key("loss"), w.loss, 0.0, 1.0)?;
    in_range(doc, &key("queue_packets"), f64::from(w.queue_packets), 1.0, 1e6)?;
    let network = w.network.as_deref().map(|text| {
        prefix(text).filter(|p| p.addr.is_v4() && (1..=30).contains(&p.len)).ok_or_else(|| {
            let remedy = "give an IPv4 prefix of 1 to 30 bits such as \"10.1.0.0/24\"";
            doc.error(&key("network"), format!("{text:?} is not a network"), remedy)
        })
    });
    let network = network.transpose()?;
    Ok(WirePlan {
        name: w.name.clone().unwrap_or_else(|| format!("wire{k}")),
        rate_mbps: w.rate_mbps,
        delay: Span::from_secs_f64(w.delay_us * 1e-6),
        loss: w.loss,
        queue_packets: w.queue_packets as usize,
        leads_out: network.is_some(),
        cuts: cuts(doc, k, &w.cuts)?,
        absences: absences(placed, k, w, &nodes)?,
        network,
        nodes,
    })
}

fn absences(
    placed: &Placement<'_>,
    k: usize,
    w: &Wire,
    at_it: &[NodeId],
) -> Result<Vec<(NodeId, Time, Option<Time>)>> {
    let doc = placed.doc();
    if w.network.is_none() && !w.absences.is_empty() {
        let remedy = "give the wire a `network`, or cut it as a whole (`cuts`)";
        return Err(doc.error(&format!("wires[{k}].absences"), "this wire is not a network", remedy));
    }
    let one = |(i, a): (usize, &Absence)| {
        let key = |field: &str| format!("wires[{k}].absences[{i}].{field}");
        let node = placed.find(&a.node, &key("node"))?;
        if !at_it.contains(&node) {
            let reason = format!("node {} is not at this wire", placed.names[node.index()]);
            return Err(doc.error(&key("node"), reason, "name one of the wire's nodes"));
        }
        let start = Time::from_secs_f64(in_range(doc, &key("start_s"), a.start_s, 0.0, MAX_DURATION_S)?);
        let length_s = in_range(doc, &key("length_s"), a.length_s, 1e-6, MAX_DURATION_S)?;
        Ok((node, start, length_s.map(|s| start + Span::from_secs_f64(s))))
    };
    w.absences.iter().enumerate().map(one).collect()
}

fn cuts(doc: &Document, k: usize, cuts: &[Cut]) -> Result<Vec<(Time, Option<Time>)>> {
    let mut free_from = Some(Time::ZERO);
    let mut out = Vec::with_capacity(cuts.len());
    for (i, c) in cuts.iter().enumerate() {
        let key = |field: &str| format!("wires[{k}].cuts[{i}].{field}");
        let start = Time::from_secs_f64(in_range(doc, &key("start_s"), c.start_s, 0.0, MAX_DURATION_S)?);
        if free_from.is_none_or(|t| start < t) {
            let remedy = "sort the cuts by time; only the last one may lack length_s";
            return Err(doc.error(&key("start_s"), "the wire is already cut at that time", remedy));
        }
        let length_s = in_range(doc, &key("length_s"), c.length_s, 1e-6, MAX_DURATION_S)?;
        free_from = length_s.map(|s| start + Span::from_secs_f64(s));
        out.push((start, free_from));
    }
    Ok(out)
}

/// The nodes of a list, in ascending order, each once.
fn members(placed: &Placement<'_>, key: &str, named: &[NodeRef]) -> Result<Vec<NodeId>> {
    let mut nodes = BTreeSet::new();
    for (i, n) in named.iter().enumerate() {
        let key = format!("{key}[{i}]");
        let node = placed.find(n, &key)?;
        if !nodes.insert(node) {
            let twice = format!("node {} is listed twice", placed.names[node.index()]);
            return Err(placed.doc().error(&key, twice, "list each node once"));
        }
    }
    Ok(nodes.into_iter().collect())
}

/// Every interface has a name of its own, which the kernel takes too.
fn check_names(doc: &Document, all: &Interfaces) -> Result<()> {
    let mut seen = BTreeMap::new();
    for (i, name) in all.names().enumerate() {
        let section = match i.checked_sub(all.radios.len()) {
            Some(wire) => format!("wires[{wire}]"),
            None if i == 0 => "radio".to_owned(),
            None => format!("radios[{}]", i - 1),
        };
        let key = format!("{section}.name");
        let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.len() > 15 || !name.chars().all(good) || name.starts_with('.') {
            let remedy = "use 1 to 15 letters, digits, `-`, `_` and `.`";
            return Err(doc.error(&key, format!("{name:?} is not a valid interface name"), remedy));
        }
        if let Some(other) = seen.insert(name, section) {
            let reason = format!("{name:?} is also the name of {other}");
            return Err(doc.error(&key, reason, "give each radio and wire its own name"));
        }
    }
    Ok(())
}

/// Every node has an interface, and not too many.
fn check_nodes(placed: &Placement<'_>, all: &Interfaces) -> Result<()> {
    let doc = placed.doc();
    if all.is_single() {
        return Ok(());
    }
    for (name, has) in placed.names.iter().zip(all.by_node(placed.names.len())) {
        if has.is_empty() {
            let remedy =
                "add it to the `nodes` of a radio or wire, or remove radio.nodes to give all nodes the radio";
            return Err(doc.error("radio.nodes", format!("node {name} has no interface"), remedy));
        }
        if has.len() > MAX_INTERFACES {
            let reason = format!("node {name} has too many interfaces ({})", has.len());
            return Err(doc.error("wires", reason, format!("give a node at most {MAX_INTERFACES}")));
        }
    }
    Ok(())
}

/// The interface that a key names, at a node that has one of this name.
pub(crate) fn find(
    doc: &Document,
    all: &Interfaces,
    node: NodeId,
    name: &str,
    key: &str,
) -> Result<Attachment> {
    let Some(at) = all.named(name) else {
        let others = format!("the interfaces are {}", all.names().collect::<Vec<_>>().join(", "));
        let remedy = nearest_or(name, all.names(), others);
        return Err(doc.error(key, format!("there is no interface named {name:?}"), remedy));
    };
    if all.has(at, node) {
        return Ok(at);
    }
    let reason = format!("node {} has no interface {name:?}", node.0);
    Err(doc.error(key, reason, "name one of its interfaces, or remove the key"))
}
