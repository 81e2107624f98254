//! Sections 6.2, 6.11, 6.13: how long routes and their numbers live.

use wayhop_aodv::{Engine, Params};
use wayhop_core::{Command, Time};
use wayhop_testkit::addr;
use wayhop_wire::aodv::{Message, Rrep, Rreq};

use crate::support::{
    alone, hear, line, line_with_route, ms, reply, request, rerrs, rfc, route, rreps, rreqs, secs, transit,
};

/// When the row for `n` left node 0's forwarding table for the last time.
fn uninstalled(net: &wayhop_testkit::Net, n: usize) -> Option<Time> {
    net.of(0)
        .filter(|r| r.what == wayhop_testkit::EventKind::Uninstalled(addr(n).into()))
        .last()
        .map(|r| r.at)
}

#[test]
fn an_unused_route_expires_after_its_lifetime_with_a_raised_number() {
    let mut net = alone(&rfc());
    let m = Rrep { lifetime_ms: 5_000, ..reply(addr(9), 10, 2, addr(0)) };
    hear(&mut net, 0, addr(4), &Message::Rrep(m));
    net.run_until(secs(5.99));
    assert!(net.route(0, addr(9)).is_some());
    net.run_until(secs(6.2));
    assert!(net.route(0, addr(9)).is_none());
    assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "invalid");
    assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), "11");
    assert_eq!(rerrs(&net, 0).len(), 0);
}

#[test]
fn an_invalid_entry_is_kept_for_delete_period_and_no_longer() {
    let mut net = alone(&rfc());
    let m = Rrep { lifetime_ms: 5_000, ..reply(addr(9), 10, 2, addr(0)) };
    hear(&mut net, 0, addr(4), &Message::Rrep(m));
    // Invalid at about 6.0 s; deleted 50 s later.
    net.run_until(secs(55.9));
    assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), "11");
    net.run_until(secs(56.3));
    assert_eq!(route(&net, 0, addr(9), "seq"), None);
}

#[test]
fn a_packet_for_an_invalid_route_renews_its_delete_period() {
    // Section 6.11. Invalid at about 6.0 s; a packet of 3's comes at 40 s: deleted 50 s after that.
    let mut net = alone(&rfc());
    let m = Rrep { lifetime_ms: 5_000, ..reply(addr(9), 10, 2, addr(0)) };
    hear(&mut net, 0, addr(4), &Message::Rrep(m));
    net.run_until(secs(40.0));
    transit(&mut net, 0, 3, addr(9));
    net.run_until(secs(89.9));
    assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), "11");
    net.run_until(secs(90.3));
    assert_eq!(route(&net, 0, addr(9), "seq"), None);
}

#[test]
fn an_entry_that_is_searched_for_is_kept() {
    // Section 6.4: 2 * NET_TRAVERSAL_TIME = 5.6 s after a request, although DELETE_PERIOD would be over.
    let mut net = alone(&Params { delete_period_ms: Some(3_000), rreq_retries: 0, ..rfc() });
    let m = Rrep { lifetime_ms: 1_000, ..reply(addr(9), 10, 2, addr(0)) };
    hear(&mut net, 0, addr(4), &Message::Rrep(m));
    net.run_until(secs(4.9));
    net.send_to(0, addr(9), 1);
    net.run_until(secs(5.0));
    let last = rreqs(&net, 0)[0].0.at;
    net.run_until(last + ms(5_500));
    assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), "11");
}

#[test]
fn use_refreshes_source_destination_next_hop_and_previous_hop() {
    // Section 6.2, at node 1 and 2 of 0 - 1 - 2 - 3 with one packet every 3 s.
    let mut net = line(4, &rfc());
    net.send_every(secs(1.0), ms(3_000), 12, 0, 3, 1);
    net.run_until(secs(35.0));
    for n in 0..4usize {
        for to in (0..4).filter(|&to| to != n) {
            // Node 3 only receives: it forwards nothing, so it uses nothing.
            let used = n != 3 && (n.abs_diff(to) == 1 || to == 0 || to == 3);
            assert_eq!(net.route(n, addr(to)).is_some(), used, "{n} -> {to}");
        }
    }
    assert_eq!(rreqs(&net, 0).iter().filter(|(s, _)| s.at > secs(3.0)).count(), 0);
    assert_eq!(net.delivered(1).len(), 12);
    // 10 s after the last use everything is gone.
    net.run_until(secs(60.0));
    assert!((0..4).all(|n| net.routes(n).is_empty()));
}

#[test]
fn a_reverse_route_lives_as_section_6_5_says() {
    // 2 * NET_TRAVERSAL_TIME - 2 * hops * NODE_TRAVERSAL_TIME = 5600 - 2 * 3 * 40 = 5360 ms.
    let mut net = alone(&rfc());
    let m = Rreq { hop_count: 2, ..request(1, addr(5), 1, addr(99), None) };
    hear(&mut net, 0, addr(4), &Message::Rreq(m));
    net.run_until(secs(20.0));
    let end = uninstalled(&net, 5).unwrap();
    assert!((secs(6.36)..secs(6.47)).contains(&end), "{end}");
}

#[test]
fn an_answered_request_makes_the_reverse_route_live_on() {
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(5), &Message::Rreq(request(1, addr(5), 1, addr(9), None)));
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 2, addr(5))));
    net.run_until(secs(30.0));
    // ACTIVE_ROUTE_TIMEOUT from the reply.
    let end = uninstalled(&net, 5).unwrap();
    assert!((secs(11.0)..secs(11.2)).contains(&end), "{end}");
}

#[test]
fn after_a_reboot_a_node_keeps_quiet_for_delete_period() {
    let mut net = alone(&Params { wait_after_reboot: true, delete_period_ms: Some(5_000), ..rfc() });
    hear(&mut net, 0, addr(4), &Message::Rreq(request(1, addr(4), 1, addr(99), None)));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(2, addr(4), 2, addr(0), Some(41))));
    net.send_to(0, addr(99), 1);
    net.run_until(secs(4.9));
    assert!(rreqs(&net, 0).is_empty() && rreps(&net, 0).is_empty());
    assert_eq!(route(&net, 0, addr(4), "state").unwrap(), "valid", "it learns meanwhile");
    net.run_until(secs(5.1));
    assert_eq!(rreqs(&net, 0).len(), 1, "then the waiting packet gets its search");
    net.assert_conserved();
}

#[test]
fn transit_data_restarts_the_wait_after_a_reboot() {
    let mut net = alone(&Params { wait_after_reboot: true, delete_period_ms: Some(5_000), ..rfc() });
    net.run_until(secs(4.0));
    transit(&mut net, 0, 3, addr(8));
    assert_eq!(rerrs(&net, 0).len(), 1);
    net.send_to(0, addr(99), 1);
    net.run_until(secs(8.9));
    assert!(rreqs(&net, 0).is_empty());
    net.run_until(secs(9.2));
    assert_eq!(rreqs(&net, 0).len(), 1);
}

#[test]
fn a_rebooted_node_is_found_again() {
    let mut net = line(3, &rfc());
    net.send_every(secs(1.0), ms(500), 40, 0, 2, 1);
    net.run_until(secs(5.1));
    net.stop(2);
    net.run_until(secs(8.0));
    net.restart(2, Box::new(Engine::new(rfc())));
    net.run_until(secs(40.0));
    assert!(net.delivered(1).contains(&39));
    net.assert_conserved();
}

#[test]
fn purged_routes_are_gone_without_a_word_and_their_numbers_stay() {
    let mut net = line_with_route(3, &rfc());
    let number = route(&net, 1, addr(2), "seq").unwrap().parse::<u32>().unwrap();
    let requests = rreqs(&net, 0).len();
    // One destination, then all.
    net.command(1, &Command::PurgeRoutes { destination: Some(addr(2).into()) }).unwrap();
    assert!(net.route(1, addr(2)).is_none() && net.route(1, addr(0)).is_some());
    assert_eq!(route(&net, 1, addr(2), "seq").unwrap(), (number + 1).to_string());
    net.command(0, &Command::PurgeRoutes { destination: None }).unwrap();
    assert!(net.routes(0).is_empty());
    assert!((0..3).all(|n| rerrs(&net, n).is_empty()));
    net.send_at(secs(3.0), 0, 2, 1);
    net.run_until(secs(4.0));
    assert!(rreqs(&net, 0).len() > requests, "a new discovery");
    assert_eq!(net.delivered(1), [0, 1]);
}

#[test]
fn a_reply_of_the_destination_that_the_previous_hop_had_forgotten_is_passed_on() {
    let mut net = line_with_route(3, &rfc());
    for node in [0, 1] {
        net.command(node, &Command::PurgeRoutes { destination: None }).unwrap();
    }
    let requests = rreqs(&net, 0).len();
    net.send_at(secs(3.0), 0, 2, 1);
    net.run_until(secs(4.0));
    // The last distance is 2, so that the first ring reaches. For the node between, the reply proves the neighbour, and has the
    // number that it remembers.
    assert_eq!(rreqs(&net, 0).len(), requests + 1);
    assert_eq!(net.delivered(1), [0, 1]);
}
