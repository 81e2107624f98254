//! Flows without a path before a run, against the survey of the whole run.

use std::collections::BTreeMap;

use wayhop_core::Time;
use wayhop_scenario::{Resolved, Scenario};
use wayhop_topology::{Hearing, Pair, flow_pairs, pathless, survey_scenario};

/// A sparse crowd with two radios, a wire that is cut, an outage, and ten flows.
fn crowd(seed: u64) -> Resolved {
    let text = format!(
        "duration_s = 60\nseed = {seed}\nnodes.count = 16\narea = {{ x_m = 2000, y_m = 900 }}\n\
         movement = {{ kind = \"random-waypoint\", speed_max_mps = 15 }}\n\
         [[traffic]]\nkind = \"cbr-random\"\nconnections = 10\nrate_pps = 1\nstart_max_s = 50\n\
         [[radios]]\npreset = \"wavelan-914-cmu\"\nfrequency_mhz = 950\nnodes = [0, 1, 2, 3, 4, 5]\n\
         [[wires]]\nnodes = [7, 12]\ncuts = [{{ start_s = 10, length_s = 10 }}]\n\
         [[outages]]\nnode = 9\nstart_s = 20\nlength_s = 15\n"
    );
    Scenario::from_text(&text, &[]).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn flows_without_a_path_are_those_of_the_survey() {
    let mut found = 0;
    for seed in 0..30 {
        let r = crowd(seed);
        let pairs = flow_pairs(&r.flows, r.duration);
        let pairs: Vec<Pair> = pairs.into_iter().flatten().collect();
        let survey = survey_scenario(&r, None, r.duration, &pairs);
        let always = pairs.iter().map(|p| Pair { from: Time::ZERO, ..*p }).collect::<Vec<_>>();
        let always = survey_scenario(&r, None, r.duration, &always);
        let none = |k: &usize| survey.flows[*k].unreachable_share() == Some(1.0);
        let ever = |k: usize| (k, always.flows[k].unreachable_share() < Some(1.0));
        let expect: BTreeMap<usize, bool> = (0..pairs.len()).filter(none).map(ever).collect();
        found += expect.len();
        let told = pathless(&r, Hearing::Radios);
        assert_eq!((told.flows, told.unknown), (expect, None), "seed {seed}");
    }
    assert!(found > 10, "{found}");
}

#[test]
fn a_network_that_is_too_large_costs_nothing_and_is_not_known() {
    let text = "duration_s = 10\nnodes.count = 200000\narea = { x_m = 1e5, y_m = 1e5 }\n\
        movement = { kind = \"random-waypoint\", speed_max_mps = 15 }\n\
        [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nrate_pps = 1\n";
    let r = Scenario::from_text(text, &[]).and_then(|s| s.resolve()).unwrap();
    let told = pathless(&r, Hearing::Radios);
    assert!(told.flows.is_empty() && told.unknown.is_some_and(|u| u.contains("20000 nodes")));
}
