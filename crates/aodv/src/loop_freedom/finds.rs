//! The search finds what is known to loop.

use wayhop_testkit::explore::{Budget, Counterexample, Topology};

use super::bounds::{SMALL, exploration, lean};
use super::faults::{Fault, Faulty};

fn counterexample(links: &str, nodes: usize, fault: Fault, budget: Budget) -> Counterexample {
    let mut x =
        exploration(Topology::new(nodes, links), budget, &lean(), SMALL, move |e| Faulty::new(e, fault));
    x.prompt = true;
    let outcome = x.run();
    eprintln!("{fault:?} on {links} within {budget}: {} states, depth {}", outcome.unique, outcome.depth);
    let found = outcome.counterexample.expect("a loop");
    eprintln!("{found}");
    found
}

#[test]
fn copying_the_number_of_a_route_error_loops() {
    let b = Budget { packets: 3, losses: 1, reboots: 1, ..Budget::default() };
    let found = counterexample("AB BC CD", 4, Fault::CopiesBlindly, b);
    assert!(found.complaint.contains("loop A -> B -> A for D"), "{found}");
}

#[test]
fn keeping_the_number_at_a_route_error_loops() {
    let b = Budget { packets: 3, losses: 1, breaks: 1, ..Budget::default() };
    let found = counterexample("AB BC CD", 4, Fault::NeverUpdates, b);
    assert!(found.complaint.contains("loop A -> B -> A for D"), "{found}");
}

#[test]
fn deleting_invalid_routes_early_loops() {
    let b = Budget { packets: 3, losses: 1, breaks: 1, ..Budget::default() };
    let found = counterexample("AB BC", 3, Fault::DeletesEarly, b);
    assert!(found.complaint.contains("loop A -> B -> A for C"), "{found}");
}
