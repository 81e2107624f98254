//! The profile `ns2`: choices of ns-2.35 that differ from the default. That a whole run agrees is shown by
//! `bench/compare_ns2.py`; the numbers here come from reading `dsdv/dsdv.cc`.

use wayhop_core::{DropReason, NodeId};
use wayhop_dsdv::Params;
use wayhop_testkit::addr;
use wayhop_wire::dsdv::UNREACHABLE;

use crate::support::{alone, hear, held, line, ms, net, own_seq, regular, route, said, said_since, secs};

fn quiet() -> Params {
    regular(&Params::ns2())
}

#[test]
fn full_updates_come_every_15_seconds_times_u_of_three_quarters_to_one() {
    let mut net = net(20, &Params::ns2());
    net.run_until(secs(900.0));
    let at = |n| said(&net, n).iter().map(|s| s.at.as_secs_f64()).collect::<Vec<f64>>();
    let waits: Vec<f64> =
        (0..20).flat_map(|n| at(n).windows(2).map(|w| w[1] - w[0]).collect::<Vec<_>>()).collect();
    assert!(waits.iter().all(|w| (11.24..15.01).contains(w)));
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    // 1,370 draws or so of a standard deviation of 1.083 s: five standard errors.
    assert!((mean - 13.125).abs() < 0.147, "{mean}");
}

#[test]
fn a_new_destination_is_told_after_twice_six_seconds_and_again_a_second_later() {
    let mut net = alone(&quiet());
    net.run_until(secs(2.0));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100)]);
    net.run_until(secs(16.0));
    let said = said_since(&net, 0, secs(1.0));
    let at: Vec<f64> = said.iter().map(|s| (s.at.as_secs_f64() * 100.0).round() / 100.0).collect();
    // Two destinations asked: the second's turn comes a second later, and tells both once more. Neither names this node.
    assert_eq!(at, [14.0, 15.0]);
    let entries = [(addr(1), 2, 8), (addr(50), 3, 100)];
    assert_eq!(said[0].entries, entries);
    // At 15 s the full update is due: it comes first, and serves.
    assert_eq!(said[1].entries[0], (addr(0), 1, 4));
}

#[test]
fn an_update_that_two_asked_for_is_repeated() {
    let mut net = alone(&quiet());
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100)]);
    net.run_until(secs(14.8));
    let said = said_since(&net, 0, secs(1.0));
    let at: Vec<f64> = said.iter().map(|s| (s.at.as_secs_f64() * 10.0).round() / 10.0).collect();
    assert_eq!(at, [13.0, 14.0]);
    assert_eq!(said[0].entries, said[1].entries);
}

#[test]
fn news_with_a_newer_number_trigger_nothing_whatever_they_say() {
    let mut net = alone(&quiet());
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100)]);
    net.run_until(secs(16.0));
    hear(&mut net, 0, addr(1), &[(addr(50), UNREACHABLE, 101)]);
    assert_eq!(route(&net, 0, addr(50), "state").as_deref(), Some("lost"));
    net.run_until(secs(29.0));
    assert_eq!(said_since(&net, 0, secs(16.0)).len(), 0);
    net.run_until(secs(31.0));
    assert!(said(&net, 0).pop().unwrap().entries.contains(&(addr(50), UNREACHABLE, 101)));
}

#[test]
fn each_report_of_an_own_loss_is_answered_at_once_however_old() {
    let mut net = alone(&quiet());
    net.run_until(secs(2.0));
    for n in 1..4u32 {
        hear(&mut net, 0, addr(1), &[(addr(0), UNREACHABLE, 3)]);
        assert_eq!(own_seq(&net, 0), 2 + 2 * n);
        net.run_for(ms(100));
    }
}

#[test]
fn links_break_by_silence_only_and_unacknowledged_packets_end() {
    let mut net = line(3, &Params::ns2());
    net.run_until(secs(100.0));
    net.down(1, 2);
    net.send_every(secs(100.1), ms(100), 10, 0, 2, 1);
    net.run_until(secs(110.0));
    assert!(net.route(1, addr(2)).is_some());
    let lost = net.drops().iter().filter(|d| **d == (NodeId(1), DropReason::MacRetries)).count();
    assert_eq!(lost, 10);
    net.run_until(secs(150.0));
    assert_eq!(net.route(1, addr(2)), None);
    net.assert_conserved();
}

#[test]
fn packets_wait_for_ever_five_for_a_destination() {
    let mut net = alone(&quiet());
    for _ in 0..7 {
        net.send_at(secs(1.0), 0, 50, 1);
    }
    net.run_until(secs(500.0));
    assert_eq!(held(&net, 0), 5);
    net.assert_conserved();
}
