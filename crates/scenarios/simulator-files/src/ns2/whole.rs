//! The combined content of the files: the nodes, the flows, the end of the run.

use wayhop_core::{NodeId, Time};
use wayhop_document::{Error, Omissions, Problems, Result};
use wayhop_transport::FlowConfig;
use wayhop_world::Track;

use super::agents::{RawFlow, Spot};
use super::god;
use super::interp::Importer;

/// The content of the files, with nodes numbered from 0.
#[derive(Clone, Debug)]
pub struct Ns2Scenario {
    /// One for each node.
    pub tracks: Vec<Track>,
    /// The nodes' numbers in the files, ascending.
    pub ids: Vec<u32>,
    /// The flows, in the order in which the files create them.
    pub flows: Vec<FlowConfig>,
    /// When nodes are absent: node, from and until, which is [`Time::NEVER`] for one that does not come back.
    pub absences: Vec<(NodeId, Time, Time)>,
    /// The time of the last scheduled move, coming or going.
    pub last_move: Option<Time>,
    /// When the run ends, if a line says so.
    pub end: Option<Time>,
    /// What a user should know.
    pub warnings: Vec<String>,
    /// What was skipped, for each file.
    pub skipped: Vec<Omissions>,
}

/// The numbers of the nodes that exist, ascending; a node's index is its place among them.
struct Numbers(Vec<u32>);

impl Numbers {
    fn index(&self, id: u32) -> Option<u32> {
        self.0.binary_search(&id).ok().map(|i| i as u32)
    }

    /// As a range, or as the first few.
    fn shown(&self) -> String {
        let (first, last) = (self.0[0], self.0[self.0.len() - 1]);
        if (last - first) as usize == self.0.len() - 1 {
            return format!("{first} to {last}");
        }
        first_few(self.0.iter().copied())
    }
}

fn first_few(all: impl Iterator<Item = u32>) -> String {
    const SHOWN: usize = 10;
    let words: Vec<String> = all.take(SHOWN + 1).map(|id| id.to_string()).collect();
    match words.get(..SHOWN) {
        Some(shown) if words.len() > SHOWN => format!("{}, ...", shown.join(", ")),
        _ => words.join(", "),
    }
}

impl Importer {
    /// Everything read, checked as a whole. `count`: how many nodes there are, if not only those that the files name.
    pub fn finish(self, count: Option<usize>) -> Result<Ns2Scenario> {
        let movement = self.files.first().cloned().unwrap_or_default();
        let mut warnings = Vec::new();
        let flows = self.agents.flows(&self.files, &mut warnings)?;
        let named: Vec<u32> = self.nodes.ids().collect();
        let numbers = numbers(named, &flows, count, &mut warnings).map_err(|e| e.in_file(&movement))?;
        let flows = self.by_index(flows, &numbers)?;
        let absences = self.absences(&numbers)?;
        let last_move = self.nodes.last_event().max(self.activity.iter().map(|a| a.at).max());
        let (tracks, odd) = self.nodes.tracks(&numbers.0);
        warnings.extend(odd);
        warnings.extend(god::check(&self.god, &tracks, |id| numbers.index(id)));
        let (ids, end, skipped) = (numbers.0, self.end, self.skipped);
        Ok(Ns2Scenario { tracks, ids, flows, absences, last_move, end, warnings, skipped })
    }

    fn located(&self, spot: Spot, e: Error) -> Error {
        e.in_file(&self.files[spot.file]).at(spot.place)
    }

    /// The flows between nodes that exist.
    fn by_index(&self, flows: Vec<RawFlow>, numbers: &Numbers) -> Result<Vec<FlowConfig>> {
        let mut problems = Problems::default();
        let mut out = Vec::with_capacity(flows.len());
        for f in flows {
            let missing = |end: &str, id: u32| {
                let reason = format!("the flow's {end} is node {id}, which does not exist in the movement");
                let what = "correct the number (cbrgen may name one node too many), or add the node";
                Error::new(reason, format!("the nodes are {}: {what}", numbers.shown()))
            };
            let wrong = match (numbers.index(f.src), numbers.index(f.dst)) {
                (None, _) => missing("source", f.src),
                (_, None) => missing("destination", f.dst),
                (Some(src), Some(dst)) if src == dst => Error::new(
                    format!("the flow's source and destination are both node {}", f.src),
                    "name two different nodes",
                ),
                (Some(src), Some(dst)) => {
                    out.push(FlowConfig {
                        start: f.start,
                        stop: f.stop,
                        max_packets: f.max_packets,
                        ..FlowConfig::new(f.kind, NodeId(src), NodeId(dst), f.payload_bytes)
                    });
                    continue;
                }
            };
            problems.note(self.located(f.spot, wrong));
        }
        problems.outcome()?;
        Ok(out)
    }

    /// When nodes are absent: a node that starts and stops is there only in between.
    fn absences(&self, numbers: &Numbers) -> Result<Vec<(NodeId, Time, Time)>> {
        let mut problems = Problems::default();
        let mut all = Vec::with_capacity(self.activity.len());
        for a in &self.activity {
            if let Some(i) = numbers.index(a.node) {
                all.push((NodeId(i), a.at, a.on));
            } else {
                let reason = format!("node {} starts or stops but does not exist in the movement", a.node);
                let remedy = format!("the nodes are {}: use files of the same run", numbers.shown());
                problems.note(self.located(a.spot, Error::new(reason, remedy)));
            }
        }
        problems.outcome()?;
        // A node that leaves and comes in one moment is there: leaving first.
        all.sort_unstable();
        let mut out = Vec::new();
        for changes in all.chunk_by(|a, b| a.0 == b.0) {
            let mut absent_since = Some(Time::ZERO);
            for &(node, at, on) in changes {
                match absent_since {
                    Some(from) if on => {
                        if at > from {
                            out.push((node, from, at));
                        }
                        absent_since = None;
                    }
                    None if !on => absent_since = Some(at),
                    _ => {}
                }
            }
            out.extend(absent_since.map(|from| (changes[0].0, from, Time::NEVER)));
        }
        Ok(out)
    }
}

/// The nodes that exist: those that the files name, or the first `count` numbers.
fn numbers(
    named: Vec<u32>,
    flows: &[RawFlow],
    count: Option<usize>,
    warnings: &mut Vec<String>,
) -> Result<Numbers> {
    let (Some(&lowest), Some(&highest)) = (named.first(), named.last()) else {
        return Err(Error::new("has no nodes", "write lines such as: $node_(0) set X_ 10.0"));
    };
    // Some tools number from 1. Node 0 then occurs nowhere, neither in movement nor in traffic.
    let base = u32::from(lowest != 0 && !flows.iter().any(|f| f.src == 0 || f.dst == 0));
    let all = (highest - base) as usize + 1;
    match count {
        Some(c) if c >= all && c != named.len() => Ok(Numbers((base..).take(c).collect())),
        Some(c) if c != named.len() => Err(Error::new(
            format!("names node {highest}, but the scenario has only {c} nodes"),
            format!("set nodes.count to {all}, or remove it"),
        )),
        _ => {
            let gaps = (highest - lowest) as usize + 1 - named.len();
            if gaps > 0 && count.is_none() {
                let mut rest = named.iter().peekable();
                let unnamed = (lowest..=highest).filter(|id| rest.next_if_eq(&id).is_none());
                warnings.push(format!(
                    "the files name {} nodes from {lowest} to {highest}; the other numbers are not nodes: {} (nodes.count = {all} \
                     makes them nodes at 0, 0)",
                    named.len(),
                    first_few(unnamed)
                ));
            }
            Ok(Numbers(named))
        }
    }
}
