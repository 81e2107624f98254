//! Section 6.12: local repair.

use wayhop_aodv::{LocalRepair, Params};
use wayhop_core::DropReason;
use wayhop_testkit::{Net, addr};

use crate::support::{held, ms, net, rerrs, route, rreqs, secs};

fn repairing() -> Params {
    let mut p = Params::rfc();
    p.local_repair = LocalRepair::WithinTtl;
    p
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
    let mut p = repairing();
    p.net_diameter = 3; // MAX_REPAIR_TTL = 0.3 * 3: none is near enough
    let mut net = broken(&p);
    net.run_until(secs(3.5));
    assert_eq!(net.notes("repair_start").len(), 0);
    assert_eq!(rerrs(&net, 2).len(), 1);
}
