//! The search finds the known loops.

use std::sync::Arc;

use wayhop_testkit::explore::{Budget, Topology};

use super::bounds::{SMALL, exploration, lean};
use super::faults::{Fault, faulty};
use crate::engine::state::Engine;

fn finds(complaint: &str, links: &str, nodes: usize, fault: Fault, budget: Budget) {
    let mut x = exploration(Topology::new(nodes, links), budget, &lean(), SMALL, move |e| faulty(e, fault));
    x.prompt = true;
    x.finds(complaint, &format!("{fault:?} on {links} within {budget}"));
}

#[test]
fn copying_the_number_of_a_route_error_loops() {
    let b = Budget { packets: 2, losses: 1, reboots: 1, ..Budget::default() };
    finds("loop A -> B -> A for D", "AB BC CD", 4, Fault::CopiesBlindly, b);
}

#[test]
fn keeping_the_number_at_a_route_error_loops() {
    let b = Budget { packets: 2, losses: 1, breaks: 1, ..Budget::default() };
    finds("loop A -> B -> A for D", "AB BC CD", 4, Fault::NeverUpdates, b);
}

#[test]
fn deleting_invalid_routes_early_loops() {
    let b = Budget { packets: 3, losses: 1, breaks: 1, ..Budget::default() };
    finds("loop A -> B -> A for C", "AB BC", 3, Fault::DeletesEarly, b);
}

#[test]
fn a_reboot_without_the_number_and_without_the_wait_loops() {
    // The shipping engine, with the wait of section 6.13 switched off.
    let b = Budget { packets: 1, reboots: 1, ..Budget::default() };
    let mut x = exploration(Topology::new(4, "AB BC CD"), b, &lean(), SMALL, |e| e);
    x.reboot = Arc::new(|_, _| Engine::new(lean()));
    x.finds("loop B -> C -> B for A", "no wait after a reboot, on AB BC CD within 1 packet, 1 reboot");
}

#[test]
fn an_own_number_that_falls_is_seen() {
    let b = Budget { packets: 1, ..Budget::default() };
    finds("A: its own number falls", "AB", 2, Fault::CountsBack, b);
}
