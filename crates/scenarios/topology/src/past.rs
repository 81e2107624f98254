//! What movement and range allowed the packets of a finished run.

use std::collections::{BTreeMap, BTreeSet};

use wayhop_core::{NodeId, Time};
use wayhop_scenario::{Interfaces, Node, Nodes, Outage, Scenario, Tables};
use wayhop_trace::{
    LostPacket, Manifest, PathBetween, RunDir, Step, Story, addresses, motion, node_names, power,
};
use wayhop_world::{Leg, Track};

use crate::oracle::ScenarioLinks;
use crate::pathless::unknown;
use crate::reach::{Effort, Ends, Hops, TOO_MUCH, ends};
use crate::words::{self, PacketPath};

/// A second or two, and some 100 MB.
const EFFORT: Effort = Effort { pieces: 1 << 28, changes: 1 << 22, looks: 1 << 28 };
/// The most steps of a story about paths that came and went.
const MOST_STEPS: usize = 1_000;

/// The paths that existed in a run, from the positions in its tables, the outages in its remarks, and the radios and
/// wires of its scenario. Files that the scenario names are not read.
#[derive(Debug)]
pub struct RunPaths {
    /// Or why they are not known.
    links: Result<ScenarioLinks, String>,
    names: Vec<String>,
}

impl RunPaths {
    /// For a run directory. What cannot be read or computed makes paths unknown.
    pub fn of_run(run: &RunDir) -> Self {
        let names = node_names(run).unwrap_or_default();
        Self { links: links(run, &names), names }
    }

    /// Adds to each packet whether a path existed while it was under way.
    pub fn tell_lost(&self, packets: &mut [LostPacket]) {
        let both = |p: &LostPacket| ends(p.source_node?, p.destination_node?);
        let pairs: BTreeSet<Ends> = packets.iter().filter(|p| p.sent_s.is_some()).filter_map(both).collect();
        let all = self.hops(pairs);
        for p in packets {
            let Some((pair, sent_s)) = both(p).zip(p.sent_s) else { continue };
            let ended_s = p.time_s.filter(|_| p.outcome != "held");
            let (source, destination) = (p.source_node, p.destination_node);
            p.path = Some(self.between(&all, pair, (source, destination), (sent_s, ended_s)));
        }
    }

    /// Adds to a packet's story whether a path existed while it was under way, and when the last path was lost or one
    /// appeared again.
    pub fn tell_story(&self, story: &mut Story) {
        let nodes = (story.source_node, story.destination_node);
        let Some(pair) = nodes.0.zip(nodes.1).and_then(|(a, b)| ends(a, b)) else { return };
        let is_own = |s: &&Step| s.what != "remark" && s.what != "decision";
        let Some(sent_s) = story.steps.iter().find(is_own).map(|s| s.time_s) else { return };
        let last_s = story.steps.iter().rfind(is_own).map(|s| s.time_s);
        let ended_s = last_s.filter(|_| story.outcome.as_deref() != Some("held"));
        let all = self.hops(BTreeSet::from([pair]));
        story.path = Some(self.between(&all, pair, nodes, (sent_s, ended_s)));
        let (Ok(all), Ok(links)) = (&all, &self.links) else { return };
        let life = (time(sent_s), ended_s.map_or(links.until, time));
        if let Some(hops) = all.get(&pair) {
            self.put_steps(story, hops, life);
        }
    }

    fn put_steps(&self, story: &mut Story, hops: &Hops, life: (Time, Time)) {
        let Some((source, destination)) = story.source_node.zip(story.destination_node) else { return };
        let mut was = true;
        let mut changed: Vec<Step> = Vec::new();
        for (at, now) in hops.iter().take_while(|(at, _)| *at <= life.1) {
            let is_news = now.is_some() != was && *at > life.0;
            was = now.is_some();
            if is_news && changed.len() < MOST_STEPS {
                changed.push(Step {
                    time_s: at.as_secs_f64(),
                    node: source,
                    node_name: self.name(Some(source)),
                    what: "path".to_owned(),
                    text: words::change(&self.name(Some(destination)), *now),
                    attempt: None,
                    at: Vec::new(),
                });
            }
        }
        story.steps.extend(changed);
        // The order of what happens at one moment stays.
        story.steps.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    }

    fn hops(&self, pairs: BTreeSet<Ends>) -> Result<BTreeMap<Ends, Hops>, String> {
        let links = self.links.as_ref().map_err(Clone::clone)?;
        let exist = |p: &Ends| (p.1 as usize) < self.names.len();
        let pairs: Vec<Ends> = pairs.into_iter().filter(exist).collect();
        links.hops(&pairs, EFFORT).ok_or_else(|| TOO_MUCH.to_owned())
    }

    /// `ended_s` is `None` for a packet that was still under way when the run ended.
    fn between(
        &self,
        all: &Result<BTreeMap<Ends, Hops>, String>,
        pair: Ends,
        nodes: (Option<u32>, Option<u32>),
        (sent_s, ended_s): (f64, Option<f64>),
    ) -> PathBetween {
        let known = match (all, &self.links) {
            (Ok(all), Ok(links)) => {
                all.get(&pair).ok_or("the run has no such node").map(|h| (h, links.until))
            }
            (Err(why), _) | (_, Err(why)) => Err(why.as_str()),
        };
        match known {
            Ok((hops, end)) => words::path(&PacketPath {
                hops,
                sent: time(sent_s),
                ended: ended_s.map(time),
                end,
                source: &self.name(nodes.0),
                destination: &self.name(nodes.1),
            }),
            Err(why) => PathBetween {
                text: format!("whether a path existed is unknown: {why}"),
                unknown: Some(why.to_owned()),
                ..PathBetween::default()
            },
        }
    }

    /// As stories call nodes.
    fn name(&self, node: Option<u32>) -> String {
        let name = node.and_then(|n| self.names.get(n as usize)).map_or("?", String::as_str);
        if name.bytes().all(|b| b.is_ascii_digit()) { format!("node {name}") } else { name.to_owned() }
    }
}

/// A time of a table, in integer nanoseconds.
fn time(seconds: f64) -> Time {
    Time::from_secs_f64(seconds)
}

/// The links of a run, or why they are unknown.
fn links(run: &RunDir, names: &[String]) -> Result<ScenarioLinks, String> {
    let manifest = run.manifest().map_err(|e| e.to_string())?;
    let summary = run.summary().map_err(|e| e.to_string())?;
    let end = time(summary.simulated_s);
    // Its configuration is those of its nodes, and no scenario.
    if manifest.merged.is_some() || summary.world == "field" {
        let why = "the links were real, and a link over which no frame came left no record";
        return Err(why.to_owned());
    }
    let scenario = Scenario::from_text(&manifest.scenario, &[]).map_err(|e| e.to_string())?;
    let has_path_losses = !scenario.path_losses.is_empty();
    let has_site = std::iter::once(&scenario.radio).chain(&scenario.radios).any(|r| r.site.is_some());
    let range_m = match summary.world.as_str() {
        "sim" | "emulation" if has_site => {
            return Err("a radio has a `site`, whose obstacles and shadows weaken signals".to_owned());
        }
        "sim" | "emulation" => None,
        // Its macfilter knows positions and range only, whatever the radio is.
        "lab" => lab_range(&manifest)?,
        world => {
            return Err(format!("runs of the world `{world}` have no model of which nodes hear each other"));
        }
    };
    let interfaces = interfaces(scenario, names).map_err(|e| e.to_string())?;
    if let Some(why) = unknown(&interfaces, has_path_losses).filter(|_| summary.world != "lab") {
        return Err(why);
    }
    let tracks = tracks(run, addresses(run).map_err(|e| e.to_string())?.len())?;
    let outages = outages(run)?;
    ScenarioLinks::of(&interfaces, &tracks, &outages, range_m, end, EFFORT).ok_or_else(|| TOO_MUCH.to_owned())
}

fn lab_range(manifest: &Manifest) -> Result<Option<f64>, String> {
    let given = |option: &str| {
        let mut words = manifest.command.iter().map(String::as_str);
        let rest =
            words.find_map(|w| w.strip_prefix(option).filter(|r| r.is_empty() || r.starts_with('=')))?;
        Some(rest.strip_prefix('=').or_else(|| words.next()).unwrap_or_default())
    };
    if given("--macfilter").is_some() {
        return Err("the file of --macfilter determined which nodes hear each other".to_owned());
    }
    let read = |v: &str| v.parse().map_err(|_| format!("--range {v} is not a number of metres"));
    given("--range").map(read).transpose()
}

/// The radios and wires of a scenario whose nodes have these names.
fn interfaces(of: Scenario, names: &[String]) -> Result<Interfaces, wayhop_document::Error> {
    let node = |(id, name): (u32, &String)| Node { id, name: Some(name.clone()), ..Node::default() };
    let still = Scenario::from_text("duration_s = 1\nmovement = { kind = \"chain\", spacing_m = 1 }", &[])?;
    let without_site = |radio| wayhop_scenario::Radio { site: None, ..radio };
    let single = (0..).zip(names).map(node).collect();
    let nodes = Nodes { count: Some(names.len() as u32), single, ..Nodes::default() };
    let radios = of.radios.into_iter().map(without_site).collect();
    let (radio, wires, document) = (without_site(of.radio), of.wires, of.document);
    Ok(Scenario { nodes, radio, radios, wires, document, ..still }.resolve()?.interfaces)
}

fn tracks(run: &RunDir, nodes: usize) -> Result<Vec<Track>, String> {
    let record = run.manifest().map_err(|e| e.to_string())?.record.unwrap_or_default();
    if record.nodes.is_some() || !record.thinned.is_empty() {
        return Err("it did not record the positions of all nodes (output.nodes, output.limit_mb)".to_owned());
    }
    let mut legs: Vec<Vec<Leg>> = vec![Vec::new(); nodes];
    for e in motion(run).map_err(|e| e.to_string())? {
        let of_node = legs.get_mut(e.node.index()).ok_or("it has positions of nodes that do not exist")?;
        let velocity = [e.velocity.x, e.velocity.y, e.velocity.z];
        of_node.push(Leg { from: e.time, until: e.until, start: e.at, velocity });
    }
    let track =
        |legs| Track::of_legs(legs).ok_or_else(|| "it did not record the position of each node".to_owned());
    legs.into_iter().map(track).collect()
}

/// When nodes were down.
fn outages(run: &RunDir) -> Result<Vec<Outage>, String> {
    let mut since: BTreeMap<NodeId, Time> = BTreeMap::new();
    let mut all = Vec::new();
    let outage = |node, from, until| Outage { node, from, until, tables: Tables::Lost };
    for p in power(run).map_err(|e| e.to_string())? {
        if !p.on {
            since.entry(p.node).or_insert(p.time);
        } else if let Some(from) = since.remove(&p.node) {
            all.push(outage(p.node, from, p.time));
        }
    }
    all.extend(since.into_iter().map(|(node, from)| outage(node, from, Time::NEVER)));
    Ok(all)
}
