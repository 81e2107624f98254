//! Section 6.12: local repair.

use wayhop_aodv::{LocalRepair, Params};
use wayhop_core::DropReason;
use wayhop_testkit::{Net, addr};
use wayhop_wire::aodv::{Message, Rreq};

use crate::support::{hear, hear_rerr, held, ms, net, request, rerrs, route, rreqs, secs};

fn repairing() -> Params {
    Params { local_repair: LocalRepair::WithinTtl, ..Params::rfc() }
}

/// 0 - 1 - 2 - 3 with a flow from 0 to 3; the link 2 - 3 breaks at 3 s. Node 4 stands by.
fn broken(params: &Params) -> Net {
    let mut net = net(5, params);
    net.line();
    net.down(3, 4);
    net.send_every(secs(1.0), ms(100), 60, 0, 3, 1);
    net.down_at(secs(3.0), 2, 3);
    net
}

#[test]
fn the_node_before_the_break_finds_a_way_and_nothing_is_lost() {
    let mut net = broken(&repairing());
    net.up_at(secs(2.9), 2, 4);
    net.up_at(secs(2.9), 4, 3);
    net.run_until(secs(10.0));
    assert_eq!(net.delivered(1).len(), 60);
    let (s, m) =
        rreqs(&net, 2).into_iter().find(|(_, m)| m.originator == addr(2)).expect("a request of its own");
    // max(MIN_REPAIR_TTL = 1, 2 / 2) + LOCAL_ADD_TTL.
    assert_eq!(s.ip.ttl, 3);
    assert!(!m.unknown_seq);
    // The new way is longer: the user hears so, with N, and the source keeps its route.
    let errors = rerrs(&net, 2);
    assert_eq!(errors.len(), 1);
    assert!(errors[0].1);
    assert_eq!(rreqs(&net, 0).iter().filter(|(s, m)| s.at > secs(3.0) && m.originator == addr(0)).count(), 0);
    net.assert_conserved();
}

#[test]
fn a_failed_repair_is_reported_after_the_discovery_period() {
    let mut net = broken(&repairing());
    net.run_until(secs(3.2));
    assert_eq!(route(&net, 2, addr(3), "state").unwrap(), "repair");
    assert!(held(&net, 2) >= 1);
    net.run_until(secs(4.0));
    // RING_TRAVERSAL_TIME = 2 * 40 * (3 + 2) = 400 ms after the first loss at about 3.0 s.
    let (s, no_delete, lost) = rerrs(&net, 2).remove(0);
    assert!(!no_delete);
    assert_eq!(lost[0].destination, addr(3));
    assert!((secs(3.4)..secs(3.55)).contains(&s.at), "{}", s.at);
    assert_eq!(held(&net, 2), 0);
    assert!(net.drops().iter().any(|(n, why)| n.0 == 2 && *why == DropReason::NoRoute));
    net.assert_conserved();
}

#[test]
fn a_destination_too_far_away_is_left_to_the_source() {
    // MAX_REPAIR_TTL = 0.3 * 3: none is near enough.
    let mut net = broken(&Params { net_diameter: 3, ..repairing() });
    net.run_until(secs(3.5));
    assert_eq!(net.notes("repair_start").len(), 0);
    assert_eq!(rerrs(&net, 2).len(), 1);
}

#[test]
fn a_repair_ends_with_any_message_that_brings_a_route() {
    // Section 6.12: "or other control message". 3 asks for somebody itself while 2 looks for it; the way over 4 is longer.
    let mut net = broken(&repairing());
    net.run_until(secs(3.1));
    assert_eq!(route(&net, 2, addr(3), "state").unwrap(), "repair");
    let number: u32 = route(&net, 2, addr(3), "seq").unwrap().parse().unwrap();
    let m = Rreq { hop_count: 1, ..request(77, addr(3), number, addr(99), None) };
    hear(&mut net, 2, addr(4), &Message::Rreq(m));
    assert_eq!(route(&net, 2, addr(3), "state").unwrap(), "valid");
    assert_eq!(net.notes("repair_done").len(), 1);
    let (s, no_delete, lost) = rerrs(&net, 2).remove(0);
    assert!(no_delete, "two hops where there was one");
    assert_eq!((s.next_hop, lost[0].destination), (addr(1), addr(3)));
}

#[test]
fn the_old_next_hop_has_no_say_in_a_repair() {
    let mut net = broken(&repairing());
    net.run_until(secs(3.1));
    hear_rerr(&mut net, 2, addr(3), false, &[(addr(3), 1_000)]);
    assert_eq!(route(&net, 2, addr(3), "state").unwrap(), "repair");
}

#[test]
fn a_node_that_may_not_ask_reports_at_once_instead_of_repairing() {
    let mut net = broken(&Params { rreq_rate_limit: 2, ..repairing() });
    // Two requests of its own are the limit.
    net.send_at(secs(2.9), 2, 8, 9);
    net.send_at(secs(2.9), 2, 7, 9);
    net.run_until(secs(3.1));
    assert_eq!(net.notes("repair_start").iter().filter(|(n, _)| n.0 == 2).count(), 0);
    assert_eq!(rerrs(&net, 2).len(), 1);
}

#[test]
fn a_failed_repair_leaves_the_distance_for_the_next_ring() {
    let mut net = broken(&repairing());
    net.run_until(secs(6.0));
    assert_eq!(route(&net, 2, addr(3), "state").unwrap(), "invalid");
    assert_eq!(route(&net, 2, addr(3), "hops").unwrap(), "1");
}
