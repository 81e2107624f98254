//! When nodes are down.

use std::collections::BTreeMap;

use wayhop_core::{NodeId, Purpose, Span, Time, stream};
use wayhop_document::{Error, Result, in_range};
use wayhop_simulator_files::MAX_DURATION_S;

use super::{Outages, Tables};
use crate::nodes::Placement;

const MAX_OUTAGES: usize = 1_000_000;

/// A time in which a node is down.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Who.
    pub node: NodeId,
    /// When it goes down.
    pub from: Time,
    /// When it is up again; [`Time::NEVER`] for one that does not come back.
    pub until: Time,
    /// Whether it keeps its tables.
    pub tables: Tables,
}

impl Outage {
    /// How long the node is down of the time up to `end`.
    pub fn length_until(&self, end: Time) -> Span {
        self.until.min(end).since(self.from)
    }
}

/// Looks up, draws and checks all outages that begin before `end`, and warns about later ones.
pub(crate) fn resolve(placed: &Placement<'_>, seed: u64, end: Time) -> Result<(Vec<Outage>, Vec<String>)> {
    let (by, random) = (BTreeMap::new(), BTreeMap::new());
    let mut plan = Plan { placed, seed, end, all: Vec::new(), by, random, late: Vec::new() };
    for &(node, from, until) in placed.absences.iter().filter(|a| a.1 < end) {
        plan.add(None, Outage { node, from, until, tables: Tables::default() })?;
    }
    for (k, o) in placed.scenario.outages.iter().enumerate() {
        plan.entry(k, o)?;
    }
    plan.all.sort_unstable_by_key(|o| (o.from, o.node));
    Ok((plan.all, plan.late))
}

struct Plan<'a> {
    placed: &'a Placement<'a>,
    seed: u64,
    end: Time,
    all: Vec<Outage>,
    /// By node: when each of its outages begins and ends, and the entry that made it, if not the movement file.
    by: BTreeMap<NodeId, BTreeMap<Time, (Time, Option<usize>)>>,
    /// The entry that gave a node outages at random.
    random: BTreeMap<NodeId, usize>,
    late: Vec<String>,
}

fn key(k: usize, field: &str) -> String {
    format!("outages[{k}].{field}")
}

/// What an outage comes from.
fn entry(k: Option<usize>) -> String {
    k.map_or_else(|| "the movement files".to_owned(), |k| format!("outages[{k}]"))
}

impl Plan<'_> {
    fn entry(&mut self, k: usize, o: &Outages) -> Result<()> {
        in_range(self.placed.doc(), &key(k, "start_s"), o.start_s, 0.0, MAX_DURATION_S)?;
        let from = Time::from_secs_f64(o.start_s);
        let drawn = self.means(k, o)?;
        let nodes = self.nodes(k, o, drawn.is_some())?;
        if from >= self.end {
            self.late.push(format!(
                "outages[{k}] begins at {} s, after the end of the run ({} s): it has no effect",
                o.start_s,
                self.end.as_secs_f64()
            ));
        }
        for node in nodes {
            if let Some(&other) = self.random.get(&node) {
                return Err(self.twice(k, node, Some(other), "has random outages"));
            }
            match drawn {
                Some(means) => self.at_random(k, o, node, means)?,
                None => self.periodic(k, o, node)?,
            }
        }
        Ok(())
    }

    /// The means of outages at random; `None` for those with given times.
    fn means(&self, k: usize, o: &Outages) -> Result<Option<(f64, f64)>> {
        let doc = self.placed.doc();
        let (up, down) = match (o.mean_up_s, o.mean_down_s) {
            (None, None) => {
                self.check_times(k, o)?;
                return Ok(None);
            }
            (Some(up), Some(down)) => (up, down),
            (given, _) => {
                let (have, lacks) =
                    if given.is_some() { ("mean_up_s", "mean_down_s") } else { ("mean_down_s", "mean_up_s") };
                let remedy = "set both means";
                return Err(doc.error(&key(k, have), format!("random outages need {lacks} too"), remedy));
            }
        };
        in_range(doc, &key(k, "mean_up_s"), up, 1e-3, MAX_DURATION_S)?;
        in_range(doc, &key(k, "mean_down_s"), down, 1e-3, MAX_DURATION_S)?;
        let fixed = [("length_s", o.length_s), ("every_s", o.every_s)];
        if let Some((field, _)) = fixed.into_iter().find(|(_, given)| given.is_some()) {
            let remedy = "remove it, or remove mean_up_s and mean_down_s";
            return Err(doc.error(&key(k, field), "random outages have no fixed times", remedy));
        }
        Ok(Some((up, down)))
    }

    fn check_times(&self, k: usize, o: &Outages) -> Result<()> {
        let doc = self.placed.doc();
        let length_s = in_range(doc, &key(k, "length_s"), o.length_s, 1e-3, MAX_DURATION_S)?;
        let every_key = key(k, "every_s");
        let Some(every) = in_range(doc, &every_key, o.every_s, 1e-3, MAX_DURATION_S)? else { return Ok(()) };
        let Some(length) = length_s else {
            let remedy = "set length_s too, or remove every_s";
            return Err(doc.error(&every_key, "an outage to the end of the run cannot repeat", remedy));
        };
        if every <= length {
            let reason = format!("an interval of {every} s is not longer than the outage of {length} s");
            return Err(doc.error(&every_key, reason, "set it above length_s"));
        }
        Ok(())
    }

    fn nodes(&self, k: usize, o: &Outages, at_random: bool) -> Result<Vec<NodeId>> {
        let (doc, placed) = (self.placed.doc(), self.placed);
        match (&o.node, &o.nodes[..]) {
            (Some(_), [_, ..]) => {
                let remedy = "put all nodes into nodes, or remove one of the keys";
                Err(doc.error(&key(k, "nodes"), "node and nodes exclude each other", remedy))
            }
            (Some(node), []) => Ok(vec![placed.find(node, &key(k, "node"))?]),
            (None, []) if at_random => Ok(placed.all().collect()),
            (None, []) => {
                let remedy = "set node = NUMBER or NAME, or nodes = [...]";
                Err(doc.error(&entry(Some(k)), "the node is missing", remedy))
            }
            (None, some) => some.iter().map(|n| placed.find(n, &key(k, "nodes"))).collect(),
        }
    }

    fn periodic(&mut self, k: usize, o: &Outages, node: NodeId) -> Result<()> {
        let mut from = Time::from_secs_f64(o.start_s);
        let length = o.length_s.map(Span::from_secs_f64);
        while from < self.end {
            let until = length.map_or(Time::NEVER, |l| from + l);
            self.add(Some(k), Outage { node, from, until, tables: o.tables })?;
            let Some(every) = o.every_s else { break };
            from += Span::from_secs_f64(every);
        }
        Ok(())
    }

    fn at_random(&mut self, k: usize, o: &Outages, node: NodeId, means: (f64, f64)) -> Result<()> {
        if let Some(&(_, other)) = self.by.get(&node).and_then(|times| times.values().next()) {
            return Err(self.twice(k, node, other, "has other outages"));
        }
        self.random.insert(node, k);
        let mut rng = stream(self.seed, Purpose::Outages, node.0.into());
        // A nanosecond at least: time goes on.
        let mut draw = |mean| Span::from_secs_f64(rng.exponential(mean)).max(Span::from_nanos(1));
        let mut from = Time::from_secs_f64(o.start_s) + draw(means.0);
        while from < self.end {
            let until = from + draw(means.1);
            self.add(Some(k), Outage { node, from, until, tables: o.tables })?;
            from = until + draw(means.0);
        }
        Ok(())
    }

    fn add(&mut self, k: Option<usize>, o: Outage) -> Result<()> {
        if self.all.len() >= MAX_OUTAGES {
            let reason = format!("the run has more than {MAX_OUTAGES} outages");
            let remedy = "use longer outages or a shorter run";
            return Err(self.placed.doc().error(&entry(k), reason, remedy));
        }
        let times = self.by.entry(o.node).or_default();
        let before = times.range(..=o.until).next_back();
        if let Some((_, (_, other))) = before.filter(|(_, (until, _))| *until >= o.from) {
            let other = *other;
            return Err(self.twice(k.unwrap_or_default(), o.node, other, "is down at that time"));
        }
        times.insert(o.from, (o.until, k));
        self.all.push(o);
        Ok(())
    }

    fn twice(&self, k: usize, node: NodeId, other: Option<usize>, what: &str) -> Error {
        let name = &self.placed.names[node.index()];
        let reason = format!("node {name} already {what} in {}", entry(other));
        let remedy =
            "leave time between the outages of a node; a node with random outages can have no others";
        self.placed.doc().error(&entry(Some(k)), reason, remedy)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
