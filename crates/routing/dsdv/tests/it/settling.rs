//! Settling: a route is advertised when no better one is expected.

use wayhop_dsdv::{Params, Settle};
use wayhop_testkit::addr;

use crate::support::{alone, hear, ms, net, regular, route, said_since, secs, way};

/// When the distance to node 50 was told since `from`: (time, hop count).
fn told(net: &wayhop_testkit::Net, from: f64) -> Vec<(f64, u32)> {
    let of = |s: &crate::support::Said| s.entries.iter().find(|e| e.0 == addr(50)).map(|e| e.1);
    let all = said_since(net, 0, secs(from));
    all.iter().filter_map(|s| of(s).map(|hops| ((s.at.as_secs_f64() * 10.0).round() / 10.0, hops))).collect()
}

#[test]
fn a_changed_route_is_used_at_once_and_advertised_after_the_settling_time() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100)]);
    net.run_until(secs(17.0));
    hear(&mut net, 0, addr(2), &[(addr(50), 6, 102)]);
    assert_eq!(way(&net, 0, addr(50)), "10.0.0.3 6 102");
    assert_eq!(route(&net, 0, addr(50), "advertised").as_deref(), Some("false"));
    net.run_until(secs(29.0));
    // At 18 s neighbour 2 is told (a new one), at 22 s what settled.
    assert_eq!(told(&net, 16.0), [(22.0, 7)]);
}

#[test]
fn a_better_route_within_the_settling_time_is_advertised_and_the_worse_never() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100)]);
    net.run_until(secs(17.0));
    hear(&mut net, 0, addr(2), &[(addr(50), 6, 102)]);
    net.run_until(secs(19.0));
    hear(&mut net, 0, addr(1), &[(addr(50), 4, 102)]);
    net.run_until(secs(29.0));
    assert_eq!(told(&net, 16.0), [(24.0, 5)], "five seconds after the last change");
}

#[test]
fn who_comes_back_to_what_was_advertised_stays_silent() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(2), 2, 8), (addr(50), 2, 100)]);
    net.run_until(secs(17.0));
    // Each round the far neighbour's copy of the new number comes first: the fluctuation of section 3.5 of the paper.
    hear(&mut net, 0, addr(2), &[(addr(50), 6, 102)]);
    net.run_for(ms(500));
    hear(&mut net, 0, addr(1), &[(addr(50), 2, 102)]);
    net.run_until(secs(29.0));
    assert_eq!(told(&net, 16.0), []);
    net.run_until(secs(31.0));
    assert_eq!(told(&net, 16.0), [(30.0, 3)], "the next full update");
}

#[test]
fn without_settling_each_change_is_told() {
    let mut net = alone(&Params { settling_ms: 0, ..regular(&Params::rfc()) });
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(2), 2, 8), (addr(50), 2, 100)]);
    net.run_until(secs(17.0));
    hear(&mut net, 0, addr(2), &[(addr(50), 6, 102)]);
    net.run_for(ms(1_500));
    hear(&mut net, 0, addr(1), &[(addr(50), 2, 102)]);
    net.run_until(secs(29.0));
    assert_eq!(told(&net, 16.0), [(17.0, 7), (18.5, 3)]);
}

#[test]
fn what_settles_is_in_no_full_update_and_losses_do_not_settle() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100)]);
    net.run_until(secs(13.0));
    hear(&mut net, 0, addr(2), &[(addr(2), 1, 2), (addr(50), 6, 102)]);
    net.run_until(secs(17.0));
    let full = said_since(&net, 0, secs(14.9)).remove(0);
    assert!(full.entries.len() > 2 && full.entries.iter().all(|e| e.0 != addr(50)), "{full:?}");
    hear(&mut net, 0, addr(2), &[(addr(50), 250, 103)]);
    net.run_until(secs(17.5));
    assert_eq!(told(&net, 16.0), [(17.0, 250)]);
}

#[test]
fn the_weighted_settling_time_follows_how_long_the_best_news_take() {
    let p = Params {
        weighted_settling: true,
        settling_weight_per_mille: 875,
        settling_ms: 6_000,
        settling_factor: 2,
        settle: Settle::All,
        ..regular(&Params::rfc())
    };
    let mut net = alone(&p);
    let settling = |net: &wayhop_testkit::Net| -> u64 {
        route(net, 0, addr(50), "settling_ms").expect("a route").parse().expect("a number")
    };
    let mut expected = 6_000.0;
    hear(&mut net, 0, addr(1), &[(addr(50), 6, 100)]);
    assert_eq!(settling(&net), 6_000);
    for round in 1..=10u32 {
        // The best news come two seconds after the first; the next number counts that.
        net.run_for(ms(2_000 - 1));
        hear(&mut net, 0, addr(2), &[(addr(50), 3, 98 + 2 * round)]);
        net.run_for(ms(11_000));
        hear(&mut net, 0, addr(1), &[(addr(50), 6, 100 + 2 * round)]);
        expected = 0.875 * expected + 0.125 * 2_000.0;
        assert!(settling(&net).abs_diff(expected as u64) <= 1, "{} and {expected}", settling(&net));
    }
}

#[test]
fn new_destinations_wait_only_where_all_do() {
    for (settle, at) in [(Settle::Changed, 2.0), (Settle::All, 7.0)] {
        let mut net = alone(&Params { settle, ..regular(&Params::rfc()) });
        net.run_until(secs(2.0));
        hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100)]);
        net.run_until(secs(14.0));
        assert_eq!(told(&net, 0.5)[0], (at, 3));
    }
}

#[test]
fn damping_keeps_a_ring_of_unequal_ways_from_chattering() {
    // Two ways from 0 to 5, of two and of four hops; the long one is faster to tell.
    let updates = |settling_ms| {
        let mut net = net(6, &Params { settling_ms, ..Params::rfc() });
        for (a, b) in [(0, 1), (1, 5), (0, 2), (2, 3), (3, 4), (4, 5)] {
            net.up(a, b);
        }
        net.run_until(secs(600.0));
        assert_eq!(net.route(0, addr(5)).map(|r| r.metric), Some(2));
        (0..6).map(|n| said_since(&net, n, secs(60.0)).len()).sum::<usize>()
    };
    let (damped, undamped) = (updates(5_000), updates(0));
    assert!(damped < undamped, "{damped} and {undamped}");
}
