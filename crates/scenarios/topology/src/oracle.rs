//! The links of a scenario that changes repeatedly, a little at a time.

use std::collections::BTreeMap;

use wayhop_core::{NodeId, Time};
use wayhop_scenario::Resolved;
use wayhop_world::links::{self, LinkChange};
use wayhop_world::{Adjacency, Track};

use crate::flow::Pair;
use crate::media::of_media;
use crate::survey::{Survey, follow};

/// If more than this share of the nodes changes, links are computed from scratch: the pairs among them cost more than
/// they save.
const FEW: usize = 8;

/// Remembers the links of the previous scenario: if few nodes move differently in the next one, only their links are
/// computed again.
#[derive(Debug, Default)]
pub struct Oracle {
    /// By number of the radio.
    known: BTreeMap<usize, RadioHops>,
}

#[derive(Debug)]
struct RadioHops {
    range_m: f64,
    until: Time,
    tracks: Vec<Track>,
    changes: Vec<LinkChange>,
}

/// The links of a scenario over its time.
#[derive(Clone, Debug)]
pub struct ScenarioLinks {
    pub(crate) begin: Adjacency,
    pub(crate) changes: Vec<LinkChange>,
    pub(crate) until: Time,
}

impl Oracle {
    /// The links of a scenario from its begin to its end; `None` if those of one radio come and go more than `most` times.
    pub fn links(&mut self, scenario: &Resolved, most: usize) -> Option<ScenarioLinks> {
        let until = scenario.duration;
        let radios = scenario.interfaces.radios.len();
        self.known.retain(|&number, _| number < radios);
        let mut is_too_much = false;
        let of_radio = |number: usize, own: &[Track], range_m: f64| {
            let before = self.known.remove(&number).filter(|k| k.range_m == range_m && k.until == until);
            let Some(changes) = changes(before, own, range_m, until, most) else {
                is_too_much = true;
                return Vec::new();
            };
            let known = RadioHops { range_m, until, tracks: own.to_vec(), changes: changes.clone() };
            self.known.insert(number, known);
            changes
        };
        let (begin, changes) =
            of_media(&scenario.interfaces, &scenario.tracks, &scenario.outages, None, until, of_radio);
        (!is_too_much).then_some(ScenarioLinks { begin, changes, until })
    }
}

/// All changes of these tracks, reusing those of the previous tracks as far as they are the same.
fn changes(
    before: Option<RadioHops>,
    own: &[Track],
    range_m: f64,
    until: Time,
    most: usize,
) -> Option<Vec<LinkChange>> {
    let all = || links::changes_up_to(own, range_m, until, most);
    let Some(before) = before.filter(|b| b.tracks.len() <= own.len()) else { return all() };
    let is_new = |i: &u32| before.tracks.get(*i as usize) != Some(&own[*i as usize]);
    let new: Vec<u32> = (0..own.len() as u32).filter(is_new).collect();
    if new.len() > own.len() / FEW {
        return all();
    }
    let mut changes = before.changes;
    if !new.is_empty() {
        let mut moved = vec![false; own.len()];
        for &i in &new {
            moved[i as usize] = true;
        }
        changes.retain(|c| !moved[c.a as usize] && !moved[c.b as usize]);
        changes.extend(links::changes_of(own, &new, range_m, until));
        // Two runs in order: the sort takes little more than one pass.
        changes.sort();
    }
    (changes.len() <= most).then_some(changes)
}

impl ScenarioLinks {
    /// How often a link comes or goes.
    pub fn changes(&self) -> usize {
        self.changes.len()
    }

    /// The exact links and shortest paths, as [`crate::survey_scenario`] finds them.
    pub fn survey(self, pairs: &[Pair]) -> Survey {
        follow(self.begin, &self.changes, self.until, pairs)
    }

    /// The links at a moment: each pair once, the lower node first.
    pub fn at(&self, moment: Time) -> Vec<(NodeId, NodeId)> {
        let mut net = self.begin.clone();
        for c in self.changes.iter().take_while(|c| c.at <= moment) {
            net.apply(c);
        }
        let of = |a: u32| net.near(a).iter().filter(move |&&b| b > a).map(move |&b| (NodeId(a), NodeId(b)));
        (0..net.len() as u32).flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use wayhop_scenario::Scenario;

    use super::*;
    use crate::survey_scenario;

    /// Forty nodes at random, two radios and a wire, an outage; node 5 goes where `x` says.
    fn scenario(x: f64) -> Resolved {
        let text = format!(
            "duration_s = 60\nseed = 4\nnodes.count = 40\narea = {{ x_m = 1500, y_m = 900 }}\n\
             movement = {{ kind = \"random-waypoint\", speed_max_mps = 15 }}\n\
             [[nodes.node]]\nid = 5\nposition = {{ x = {x}, y = 300 }}\n\
             [[radios]]\npreset = \"wavelan-914-cmu\"\nfrequency_mhz = 950\nnodes = [0, 1, 2, 3, 4, 5]\n\
             [[wires]]\nnodes = [7, 30]\ncuts = [{{ start_s = 10, length_s = 10 }}]\n\
             [[outages]]\nnode = 9\nstart_s = 20\nlength_s = 15\n"
        );
        Scenario::from_text(&text, &[]).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn what_is_remembered_changes_nothing() {
        let mut oracle = Oracle::default();
        let until = Time::from_secs_f64(60.0);
        let pairs = [(0, 39), (5, 20)].map(|(src, dst)| Pair { src, dst, from: Time::ZERO, until });
        for (k, x) in [100.0, 130.0, 1300.0, 1300.0].into_iter().enumerate() {
            let r = scenario(x);
            let links = oracle.links(&r, usize::MAX).unwrap();
            assert!(links.changes() > 100, "{}", links.changes());
            assert_eq!(links.survey(&pairs), survey_scenario(&r, None, r.duration, &pairs), "step {k}");
        }
        // Another seed: all nodes go elsewhere.
        let r = scenario(1300.0);
        let other = "duration_s = 60\nseed = 5\nnodes.count = 40\narea = { x_m = 1500, y_m = 900 }\n\
                     movement = { kind = \"random-waypoint\", speed_max_mps = 15 }\n";
        let other = Scenario::from_text(other, &[]).and_then(|s| s.resolve()).unwrap();
        for r in [&other, &r] {
            let found = oracle.links(r, usize::MAX).unwrap().survey(&pairs);
            assert_eq!(found, survey_scenario(r, None, r.duration, &pairs));
        }
    }

    #[test]
    fn the_links_of_a_moment_are_those_of_the_contacts_then() {
        let r = scenario(100.0);
        let links = Oracle::default().links(&r, usize::MAX).unwrap();
        let survey = links.clone().survey(&[]);
        for s in [0.0, 15.0, 25.5, 59.0] {
            let t = Time::from_secs_f64(s);
            let is = |c: &&crate::Contact| c.up.is_none_or(|u| u <= t) && c.down.is_none_or(|d| d > t);
            let expect: Vec<_> = survey.links.contacts.iter().filter(is).map(|c| (c.a, c.b)).collect();
            let found: Vec<_> = links.at(t).into_iter().map(|(a, b)| (a.0, b.0)).collect();
            assert_eq!(found, expect, "{s} s");
        }
    }

    #[test]
    fn too_many_changes_are_not_kept() {
        let r = scenario(100.0);
        let mut oracle = Oracle::default();
        assert!(oracle.links(&r, 20).is_none());
        assert!(oracle.links(&r, usize::MAX).is_some());
    }
}
