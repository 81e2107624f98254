//! The search finds the known faults.

use wayhop_testkit::explore::{Budget, Topology};

use super::bounds::{exploration, lean};
use super::faults::{Fault, faulty};

fn finds(complaint: &str, links: &str, nodes: usize, fault: Fault, budget: Budget) {
    let mut x = exploration(Topology::new(nodes, links), budget, &lean(), move |e| faulty(e, fault));
    x.prompt = true;
    x.finds(complaint, &format!("{fault:?} on {links} within {budget}"));
}

#[test]
fn listing_itself_twice_in_a_request_is_found() {
    let b = Budget { packets: 1, ..Budget::default() };
    finds("B is twice on a route", "AB BC CD", 4, Fault::IgnoresItselfInRequests, b);
}

#[test]
fn sending_seen_requests_on_is_found() {
    let b = Budget { packets: 1, ..Budget::default() };
    finds("more than 4", "AB BC CA CD", 4, Fault::IgnoresSeenRequests, b);
}

#[test]
fn salvaging_without_count_is_found() {
    let b = Budget { packets: 1, losses: 2, ..Budget::default() };
    finds("hop 4 of a packet salvaged 0 times", "AB BC BD CD", 4, Fault::SalvagesWithoutCount, b);
}
