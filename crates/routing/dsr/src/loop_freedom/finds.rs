//! The search finds the known faults.

use wayhop_testkit::explore::{Budget, Counterexample, Topology};

use super::bounds::{exploration, lean};
use super::faults::{Fault, faulty};

fn counterexample(links: &str, nodes: usize, fault: Fault, budget: Budget) -> Counterexample {
    let mut x = exploration(Topology::new(nodes, links), budget, &lean(), move |e| faulty(e, fault));
    x.prompt = true;
    x.counterexample(&format!("{fault:?} on {links} within {budget}"))
}

#[test]
fn listing_itself_twice_in_a_request_is_found() {
    let b = Budget { packets: 1, ..Budget::default() };
    let found = counterexample("AB BC CD", 4, Fault::IgnoresItselfInRequests, b);
    assert!(found.complaint.contains("B is twice on a route"), "{found}");
}

#[test]
fn sending_seen_requests_on_is_found() {
    let b = Budget { packets: 1, ..Budget::default() };
    let found = counterexample("AB BC CA CD", 4, Fault::IgnoresSeenRequests, b);
    assert!(found.complaint.contains("more than 4"), "{found}");
}

#[test]
fn salvaging_without_count_is_found() {
    let b = Budget { packets: 1, losses: 2, ..Budget::default() };
    let found = counterexample("AB BC BD CD", 4, Fault::SalvagesWithoutCount, b);
    assert!(found.complaint.contains("hop 4 of a packet salvaged 0 times"), "{found}");
}
