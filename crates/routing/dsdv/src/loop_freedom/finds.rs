//! The search finds the known loops.

use std::sync::Arc;

use wayhop_testkit::explore::{Budget, Topology};

use super::bounds::{exploration, params};
use super::faults::{Fault, faulty};
use crate::engine::state::Engine;

fn finds(complaint: &str, links: &str, nodes: usize, fault: Fault, budget: Budget) {
    let x = exploration(Topology::new(nodes, links), budget, &params(), move |e| faulty(e, fault));
    x.finds(complaint, &format!("{fault:?} on {links} within {budget}"));
}

#[test]
fn keeping_the_number_of_a_broken_link_loops() {
    let b = Budget { packets: 1, breaks: 1, losses: 1, waits: 6, ..Budget::default() };
    finds("loop A -> B -> A for C", "AB BC", 3, Fault::KeepsNumber, b);
}

#[test]
fn forgetting_what_is_lost_at_once_loops() {
    let b = Budget { packets: 1, breaks: 1, losses: 1, waits: 6, ..Budget::default() };
    finds("loop A -> B -> A for C", "AB BC", 3, Fault::ForgetsAtOnce, b);
}

#[test]
fn a_reboot_without_the_table_and_without_the_wait_loops() {
    let b = Budget { reboots: 1, losses: 2, waits: 6, ..Budget::default() };
    let mut x = exploration(Topology::new(3, "AB BC"), b, &params(), |e| e);
    x.reboot = Arc::new(|_, _| Engine::new(params()));
    x.finds("loop A -> B -> A for C", "no wait after a reboot, on AB BC");
}

#[test]
fn an_own_number_that_falls_is_seen() {
    let b = Budget { waits: 4, ..Budget::default() };
    finds("its own number falls", "AB", 2, Fault::CountsBack, b);
}
