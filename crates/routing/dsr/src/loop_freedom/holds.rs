//! The shipping engine breaks no rule. `docs/concepts/loop-freedom.md` has the sizes.

use wayhop_testkit::explore::{Budget, Topology};

use super::bounds::{by_itself, exploration, lean};
use crate::params::{CacheKind, Params};

fn up_to_three_nodes() -> Vec<Topology> {
    [2, 3].into_iter().flat_map(Topology::connected).collect()
}

/// Those of four nodes with up to this many links: where everybody hears everybody, most nodes answer from their caches, and there are far
/// more states.
fn four_nodes(links: usize) -> Vec<Topology> {
    Topology::connected(4).into_iter().filter(|t| t.links().count() <= links).collect()
}

fn chain_and_ring_of_five() -> Vec<Topology> {
    vec![Topology::new(5, "AB BC CD DE"), Topology::new(5, "AB BC CD DE AE")]
}

const ONE: Budget = Budget {
    packets: 1,
    losses: 0,
    overtakings: 0,
    unheard: 0,
    breaks: 0,
    restores: 0,
    reboots: 0,
    waits: 0,
};
const TWO: Budget = Budget { packets: 2, ..ONE };

/// Searches everything within the budget. Fails on a state that breaks a rule, and where nothing ever arrived.
fn sweep(topologies: Vec<Topology>, p: &Params, prompt: bool, budget: Budget) {
    let mut all = 0;
    for t in topologies {
        let mut x = exploration(t, budget, p, |e| e);
        x.prompt = prompt;
        let tally = x.tally.clone();
        all += x.holds();
        let fails = budget.breaks > 0 || budget.losses > 0 || budget.unheard > 0;
        assert_eq!(tally.failures() > 0, fails, "{}: links broke unnoticed", t.text());
    }
    eprintln!("{all} states in all");
}

/// Tests that each make one search.
macro_rules! sweeps {
    ($($name:ident($($argument:expr),+);)+) => {
        $(
            #[test]
            fn $name() {
                sweep($($argument),+);
            }
        )+
    };
}

sweeps! {
    two_and_three_nodes_with_loss(up_to_three_nodes(), &lean(), true, Budget { losses: 1, ..TWO });
    two_and_three_nodes_with_loss_break_and_return(
        up_to_three_nodes(), &lean(), true, Budget { losses: 1, breaks: 1, restores: 1, ..ONE }
    );
    two_and_three_nodes_with_lost_acknowledgements(
        up_to_three_nodes(), &lean(), true, Budget { unheard: 2, ..ONE }
    );
    two_and_three_nodes_with_reordering(
        up_to_three_nodes(), &lean(), false, Budget { losses: 1, overtakings: 1, ..ONE }
    );
    two_and_three_nodes_with_a_reboot(
        up_to_three_nodes(), &lean(), true, Budget { reboots: 1, losses: 1, ..ONE }
    );
    two_and_three_nodes_over_seconds(
        up_to_three_nodes(), &lean(), true, Budget { breaks: 1, restores: 1, waits: 4, ..ONE }
    );
    two_and_three_nodes_with_rings_and_replies_that_wait(
        up_to_three_nodes(), &Params { ring_zero_search: true, cached_reply_delay_us: 1_000_000, ..lean() }, true,
        Budget { losses: 1, breaks: 1, waits: 5, ..ONE }
    );
    two_and_three_nodes_with_a_cache_of_links(
        up_to_three_nodes(), &Params { route_cache: CacheKind::Link, ..lean() }, true,
        Budget { losses: 1, breaks: 1, restores: 1, ..ONE }
    );
    two_and_three_nodes_that_see_to_their_packets_themselves(
        up_to_three_nodes(), &by_itself(), true, Budget { losses: 2, waits: 5, ..ONE }
    );
    four_nodes_with_loss(four_nodes(4), &lean(), true, Budget { losses: 1, ..ONE });
    four_nodes_with_a_broken_link(four_nodes(5), &lean(), true, Budget { breaks: 1, ..ONE });
    four_nodes_with_a_reboot(four_nodes(4), &lean(), true, Budget { reboots: 1, ..ONE });
    four_nodes_that_all_hear_each_other(vec![Topology::new(4, "AB AC BC AD BD CD")], &lean(), true, ONE);
    four_nodes_on_a_ring_with_two_losses(
        vec![Topology::new(4, "AB BC CD AD")], &lean(), true, Budget { losses: 2, ..ONE }
    );
}

#[test]
fn five_nodes_in_a_chain_and_a_ring() {
    sweep(chain_and_ring_of_five(), &lean(), true, Budget { losses: 1, breaks: 1, ..ONE });
    sweep(chain_and_ring_of_five(), &lean(), true, Budget { reboots: 1, ..ONE });
}

#[test]
#[ignore = "minutes; see docs/concepts/loop-freedom.md"]
fn deep_four_nodes() {
    for budget in
        [Budget { losses: 1, ..ONE }, Budget { reboots: 1, ..ONE }, Budget { losses: 1, breaks: 1, ..ONE }]
    {
        sweep(four_nodes(5), &lean(), true, budget);
    }
    sweep(four_nodes(4), &lean(), true, Budget { losses: 2, ..ONE });
    sweep(four_nodes(4), &lean(), true, Budget { losses: 1, ..TWO });
}
