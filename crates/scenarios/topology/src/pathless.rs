//! Flows for which no path ever exists, found before a run.

use std::collections::BTreeMap;

use wayhop_core::{Position, Time};
use wayhop_scenario::{FlowConfig, Interfaces, RadioPlan, Resolved};
use wayhop_transport::EVERYONE;
use wayhop_world::links;

use crate::oracle::ScenarioLinks;
use crate::reach::{Effort, Ends, Hops, TOO_MUCH, ends};
use crate::words::seconds;

/// Why the ranges of the radios do not determine which nodes hear each other; `None` if they do.
pub(crate) fn unknown(interfaces: &Interfaces, has_path_losses: bool) -> Option<String> {
    if has_path_losses {
        return Some("the path loss of some links follows a table (`path_losses`)".to_owned());
    }
    let radio = |r: &RadioPlan| Some(format!("the interface {} {}", r.name, r.config.beyond_range()?));
    interfaces.radios.iter().find_map(radio)
}

/// Some 0.1 s.
const EFFORT: Effort = Effort { pieces: 1 << 23, changes: 1 << 18, looks: 1 << 23 };
/// Networks with more nodes are not examined at all.
const MOST_NODES: usize = 20_000;
/// The moments that are examined first: in most networks most flows have a path at one of them.
const MOMENTS: u64 = 8;
const MOST_NAMED: usize = 3;

/// Which nodes hear each other in a mode.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Hearing {
    /// By the scenario's radios.
    Radios,
    /// All within this range, metres, or without one each radio's own, whatever else the radios are: a lab's macfilter.
    Within(Option<f64>),
}

/// What was found of a scenario's flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pathless {
    /// The flows to one node without a path at any time at which they send, by index, and whether a path exists at
    /// another time.
    pub flows: BTreeMap<usize, bool>,
    /// Why the answer is unknown for some flows.
    pub unknown: Option<String>,
}

/// Looks for flows without any path, with little effort: what would take longer is left unknown.
pub fn pathless(scenario: &Resolved, hearing: Hearing) -> Pathless {
    let end = scenario.duration;
    let asked = scenario.flows.iter().enumerate().filter(|(_, f)| f.dst != EVERYONE && f.start < end);
    let mut left: Vec<(usize, Ends)> =
        asked.filter_map(|(k, f)| Some((k, ends(f.src.0, f.dst.0)?))).collect();
    if left.is_empty() {
        return Pathless { flows: BTreeMap::new(), unknown: None };
    }
    let not_known = |why: String| Pathless { flows: BTreeMap::new(), unknown: Some(why) };
    let range_m = match hearing {
        Hearing::Within(range_m) => range_m,
        Hearing::Radios => match unknown(&scenario.interfaces, !scenario.path_losses.is_empty()) {
            Some(why) => return not_known(why),
            None => None,
        },
    };
    if scenario.tracks.len() > MOST_NODES {
        return not_known(format!("the scenario has more than {MOST_NODES} nodes"));
    }
    for k in 0..MOMENTS {
        let moment = Time::from_nanos(end.as_nanos() / MOMENTS * k);
        let mut parts: Option<Parts> = None;
        left.retain(|&(flow, (a, b))| {
            let (from, until) = sends(&scenario.flows[flow], end);
            let is_on = from <= moment && moment < until;
            !(is_on && parts.get_or_insert_with(|| Parts::at(scenario, range_m, moment)).joins(a, b))
        });
    }
    if left.is_empty() {
        return Pathless { flows: BTreeMap::new(), unknown: None };
    }
    let (tracks, outages) = (&scenario.tracks, &scenario.outages);
    let mut pairs: Vec<Ends> = left.iter().map(|(_, pair)| *pair).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let found = ScenarioLinks::of(&scenario.interfaces, tracks, outages, range_m, end, EFFORT)
        .and_then(|links| links.hops(&pairs, EFFORT));
    let Some(found) = found else { return not_known(TOO_MUCH.to_owned()) };
    left.retain(|(flow, pair)| !has_path(&found[pair], sends(&scenario.flows[*flow], end)));
    let ever = |pair: &Ends| found[pair].iter().any(|(_, hops)| hops.is_some());
    Pathless { flows: left.iter().map(|(flow, pair)| (*flow, ever(pair))).collect(), unknown: None }
}

/// The warning about flows without a path, before a run; nothing if there are none, or if that is unknown.
pub fn pathless_warnings(scenario: &Resolved, hearing: Hearing) -> Vec<String> {
    let flows = pathless(scenario, hearing).flows;
    let mut all: Vec<String> =
        flows.iter().take(MOST_NAMED).map(|(k, ever)| warning(scenario, hearing, *k, *ever)).collect();
    if let Some(more) = flows.len().checked_sub(MOST_NAMED + 1) {
        let (more, plural) = (more + 1, if more == 0 { "" } else { "s" });
        all.push(format!("{more} more flow{plural} without a path while sending"));
    }
    all
}

fn warning(scenario: &Resolved, hearing: Hearing, flow: usize, ever: bool) -> String {
    let f = &scenario.flows[flow];
    let name = |node: wayhop_core::NodeId| &scenario.names[node.index()];
    let (from, until) = sends(f, scenario.duration);
    let none = if ever {
        format!("no path exists while it sends ({} s to {} s)", seconds(from), seconds(until))
    } else {
        "no path ever exists".to_owned()
    };
    let given = if let Hearing::Within(range_m) = hearing { range_m } else { None };
    let own = (scenario.interfaces.radios.len() == 1).then(|| scenario.radio().nominal_range_m());
    let range = given.or(own).map_or_else(String::new, |m| format!(" with a range of {m} m"));
    format!("flow {flow} ({} to {}): {none}{range}", name(f.src), name(f.dst))
}

fn sends(f: &FlowConfig, end: Time) -> (Time, Time) {
    (f.start, f.stop.unwrap_or(end).min(end))
}

fn has_path(hops: &Hops, (from, until): (Time, Time)) -> bool {
    let next = hops.iter().skip(1).map(|(at, _)| *at).chain([Time::NEVER]);
    hops.iter().zip(next).any(|((begin, hops), over)| hops.is_some() && *begin < until && over > from)
}

struct Parts {
    /// Another node of the same part, or itself.
    parent: Vec<u32>,
}

impl Parts {
    fn at(scenario: &Resolved, range_m: Option<f64>, moment: Time) -> Self {
        let nodes = scenario.tracks.len();
        let mut is_up = vec![true; nodes];
        for o in scenario.outages.iter().filter(|o| o.from <= moment && moment < o.until) {
            is_up[o.node.index()] = false;
        }
        let mut parts = Self { parent: (0..nodes as u32).collect() };
        for radio in &scenario.interfaces.radios {
            let all = || (0..nodes as u32).map(wayhop_core::NodeId);
            let members = radio.nodes.clone().unwrap_or_else(|| all().collect());
            let here: Vec<u32> = members.iter().map(|n| n.0).filter(|n| is_up[*n as usize]).collect();
            let places: Vec<Position> =
                here.iter().map(|n| scenario.tracks[*n as usize].position(moment)).collect();
            let range_m = range_m.unwrap_or_else(|| radio.config.nominal_range_m());
            for (a, near) in here.iter().zip(links::neighbours(&places, range_m)) {
                for b in near {
                    parts.join(*a, here[b as usize]);
                }
            }
        }
        for wire in &scenario.interfaces.wires {
            let is_cut = |(cut, whole): &(Time, Option<Time>)| {
                *cut <= moment && whole.is_none_or(|whole| moment < whole)
            };
            if wire.cuts.iter().any(is_cut) {
                continue;
            }
            let mut up = wire.nodes.iter().map(|n| n.0).filter(|n| is_up[*n as usize]);
            if let Some(first) = up.next() {
                for n in up {
                    parts.join(first, n);
                }
            }
        }
        parts
    }

    fn joins(&mut self, a: u32, b: u32) -> bool {
        self.root(a) == self.root(b)
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a as usize] = b;
    }

    fn root(&mut self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            // Each second node is brought nearer to the root.
            let next = self.parent[self.parent[node as usize] as usize];
            self.parent[node as usize] = next;
            node = next;
        }
        node
    }
}
