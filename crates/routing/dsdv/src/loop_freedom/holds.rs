//! The shipping engine never loops, within the budgets given.

use wayhop_testkit::explore::{Budget, Topology};

use super::bounds::{exploration, params, settling};
use super::rules::next_hop_knows_better;
use crate::params::Params;

/// Searches everything within the budget. Fails on a state that breaks a rule, and where nothing that the budget is for came to
/// pass.
fn sweep(topologies: &[Topology], p: &Params, budget: Budget) {
    let mut all = 0;
    for &t in topologies {
        let mut x = exploration(t, budget, p, |e| e);
        if budget.reboots == 0 {
            // The sufficient condition holds while nobody loses its memory.
            x.rules.push(next_hop_knows_better);
        }
        let tally = x.tally.clone();
        all += x.holds();
        let breaks = budget.packets > 0 && budget.breaks > 0;
        assert!(tally.failures() > 0 || !breaks, "{}: links broke unnoticed", t.text());
    }
    eprintln!("{all} states in all");
}

fn up_to_three_nodes() -> Vec<Topology> {
    [2, 3].into_iter().flat_map(Topology::connected).collect()
}

/// Two nodes, and three in a line with the destination at an end and in the middle.
fn lines() -> Vec<Topology> {
    vec![Topology::new(2, "AB"), Topology::new(3, "AB BC"), Topology::new(3, "AC BC")]
}

#[test]
fn two_and_three_nodes_with_a_broken_link() {
    let b = Budget { packets: 1, breaks: 1, waits: 3, ..Budget::default() };
    sweep(&up_to_three_nodes(), &params(), b);
}

#[test]
fn lines_with_a_lost_update_or_packet() {
    let b = Budget { packets: 1, losses: 1, waits: 3, ..Budget::default() };
    sweep(&lines(), &params(), b);
}

#[test]
fn two_and_three_nodes_that_overtake_and_settle() {
    let b = Budget { packets: 1, breaks: 1, overtakings: 1, waits: 4, ..Budget::default() };
    sweep(&up_to_three_nodes(), &settling(), b);
}

#[test]
fn lines_with_a_link_that_comes_back() {
    let b = Budget { packets: 1, breaks: 1, restores: 1, waits: 4, ..Budget::default() };
    sweep(&lines(), &params(), b);
}

#[test]
fn lines_with_a_reboot() {
    let b = Budget { reboots: 1, losses: 1, waits: 12, ..Budget::default() };
    sweep(&lines(), &params(), b);
}

#[test]
fn four_nodes_in_a_line_with_a_broken_link() {
    let b = Budget { packets: 1, breaks: 1, waits: 4, ..Budget::default() };
    sweep(&[Topology::new(4, "AB BC CD")], &params(), b);
}
