//! The shipping engine never loops. `docs/concepts/loop-freedom.md` has the sizes.

use wayhop_testkit::explore::{Budget, Topology};

use super::bounds::{SMALL, lean, params};
use super::sweep::{Sweep, sweep};
use crate::params::{LocalRepair, Params};

fn up_to_three_nodes() -> Vec<Topology> {
    [2, 3].into_iter().flat_map(Topology::connected).collect()
}

/// Those of four nodes with up to four links, and those with more, which have far more states.
fn four_nodes() -> (Vec<Topology>, Vec<Topology>) {
    Topology::connected(4).into_iter().partition(|t| t.links().count() <= 4)
}

/// Chain, ring, house, diamond with a tail; E is the destination.
fn chosen_of_five() -> Vec<Topology> {
    let links = ["AB BC CD DE", "AB BC CD DE AE", "AB BC CD DA CE DE", "AB AC BD CD DE"];
    links.into_iter().map(|l| Topology::new(5, l)).collect()
}

/// A ring round the destination.
fn wheel() -> Vec<Topology> {
    vec![Topology::new(5, "AB BC CD AD AE BE CE DE")]
}

#[test]
fn two_and_three_nodes_with_loss_break_and_return() {
    let budget = Budget { packets: 2, losses: 1, breaks: 1, restores: 1, ..Budget::default() };
    sweep(Sweep { budget, ..Sweep::of(up_to_three_nodes(), lean()) }.knowing_better());
}

#[test]
fn two_and_three_nodes_with_reordering() {
    let budget = Budget { packets: 2, losses: 1, overtakings: 1, ..Budget::default() };
    sweep(Sweep { budget, ..Sweep::of(up_to_three_nodes(), lean()) }.knowing_better());
}

#[test]
fn two_and_three_nodes_with_gratuitous_replies() {
    let budget = Budget { packets: 2, losses: 1, ..Budget::default() };
    sweep(Sweep { budget, ..Sweep::of(up_to_three_nodes(), params()) }.knowing_better());
}

#[test]
fn two_and_three_nodes_until_routes_are_forgotten() {
    let budget = Budget { packets: 2, breaks: 1, restores: 1, waits: 8, ..Budget::default() };
    sweep(Sweep { budget, prompt: true, ..Sweep::of(up_to_three_nodes(), lean()) }.knowing_better());
}

#[test]
fn two_and_three_nodes_until_a_rebooted_one_takes_part_again() {
    let budget = Budget { packets: 2, reboots: 1, waits: 7, ..Budget::default() };
    sweep(Sweep { budget, prompt: true, ..Sweep::of(up_to_three_nodes(), lean()) });
}

#[test]
fn reboots_with_copies_of_requests_that_come_late() {
    let budget = Budget { packets: 2, reboots: 1, losses: 1, ..Budget::default() };
    sweep(Sweep { budget, ..Sweep::of(up_to_three_nodes(), lean()) });
}

#[test]
fn four_nodes_with_loss() {
    let budget = Budget { packets: 2, losses: 1, ..Budget::default() };
    sweep(Sweep { budget, prompt: true, ..Sweep::of(four_nodes().0, lean()) }.knowing_better());
}

#[test]
fn four_nodes_with_a_broken_link() {
    let budget = Budget { packets: 2, breaks: 1, ..Budget::default() };
    sweep(
        Sweep { budget, prompt: true, number: SMALL, ..Sweep::of(four_nodes().0, lean()) }.knowing_better(),
    );
}

#[test]
fn four_nodes_with_a_reboot() {
    let budget = Budget { packets: 2, reboots: 1, ..Budget::default() };
    sweep(Sweep { budget, prompt: true, ..Sweep::of(four_nodes().0, lean()) });
}

#[test]
fn four_nodes_with_loss_break_and_return_in_one_discovery() {
    let budget = Budget { packets: 1, losses: 1, breaks: 1, restores: 1, ..Budget::default() };
    sweep(Sweep { budget, prompt: true, ..Sweep::of(four_nodes().0, lean()) }.knowing_better());
}

#[test]
fn four_nodes_with_many_links() {
    let budget = Budget { packets: 2, ..Budget::default() };
    sweep(Sweep { budget, prompt: true, ..Sweep::of(four_nodes().1, lean()) }.knowing_better());
}

#[test]
fn four_nodes_with_local_repair() {
    let repair = Params { local_repair: LocalRepair::WithinTtl, ..lean() };
    let budget = Budget { packets: 2, breaks: 1, waits: 1, ..Budget::default() };
    let chain_and_ring = vec![Topology::new(4, "AB BC CD"), Topology::new(4, "AB BC CD AD")];
    sweep(Sweep { budget, prompt: true, ..Sweep::of(chain_and_ring, repair) });
}

#[test]
fn five_nodes_in_chosen_topologies() {
    let budget = Budget { packets: 1, losses: 1, breaks: 1, ..Budget::default() };
    sweep(Sweep { budget, prompt: true, ..Sweep::of(chosen_of_five(), lean()) }.knowing_better());
}

#[test]
fn five_nodes_in_a_wheel() {
    let budget = Budget { packets: 1, breaks: 1, ..Budget::default() };
    sweep(Sweep { budget, prompt: true, ..Sweep::of(wheel(), lean()) }.knowing_better());
}

#[test]
#[ignore = "minutes; see docs/concepts/loop-freedom.md"]
fn deep_four_nodes() {
    let two = Budget { packets: 2, ..Budget::default() };
    for budget in [
        Budget { losses: 1, breaks: 1, restores: 1, ..two },
        Budget { overtakings: 1, breaks: 1, ..two },
        Budget { reboots: 1, waits: 7, ..two },
        Budget { breaks: 1, restores: 1, waits: 8, ..two },
        Budget { packets: 1, losses: 1, breaks: 1, restores: 1, ..two },
        Budget { packets: 3, losses: 1, breaks: 1, ..two },
    ] {
        sweep(Sweep { budget, prompt: true, ..Sweep::of(Topology::connected(4), lean()) });
    }
}

#[test]
#[ignore = "minutes to hours; see docs/concepts/loop-freedom.md"]
fn deep_five_nodes() {
    let two = Budget { packets: 2, ..Budget::default() };
    for budget in
        [two, Budget { losses: 1, ..two }, Budget { breaks: 1, ..two }, Budget { reboots: 1, ..two }]
    {
        sweep(Sweep { budget, prompt: true, ..Sweep::of([chosen_of_five(), wheel()].concat(), lean()) });
    }
}
