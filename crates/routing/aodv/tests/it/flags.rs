//! Sections 2, 5, 6.5: what is forwarded unchanged, and to whom.

use std::net::Ipv4Addr;

use wayhop_aodv::Params;
use wayhop_testkit::addr;
use wayhop_wire::aodv::{Message, Rrep, Rreq};

use crate::support::{alone, hear, ms, reply, request, route, rreps, rreqs, secs};

const GROUP: Ipv4Addr = Ipv4Addr::new(239, 1, 2, 3);

#[test]
fn the_repair_flag_of_a_reply_travels_on() {
    let mut net = alone(&Params::rfc());
    hear(&mut net, 0, addr(5), &Message::Rreq(request(1, addr(5), 1, addr(9), None)));
    hear(&mut net, 0, addr(4), &Message::Rrep(Rrep { repair: true, ..reply(addr(9), 10, 2, addr(5)) }));
    net.run_for(ms(20));
    assert!(rreps(&net, 0)[0].1.repair);
}

#[test]
fn a_request_for_a_group_is_treated_like_any_other() {
    let mut net = alone(&Params::rfc());
    hear(&mut net, 0, addr(5), &Message::Rreq(request(1, addr(5), 1, GROUP, None)));
    net.run_for(ms(20));
    assert_eq!(rreqs(&net, 0)[0].1.destination, GROUP);
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(GROUP, 10, 2, addr(5))));
    net.run_for(ms(20));
    assert_eq!(rreps(&net, 0)[0].0.next_hop, addr(5), "its answer comes back the same way");
    assert_eq!(net.route(0, GROUP).unwrap().next_hop, addr(4));
    hear(&mut net, 0, addr(6), &Message::Rreq(request(1, addr(6), 1, GROUP, None)));
    net.run_for(ms(20));
    assert_eq!(rreps(&net, 0)[1].1.hop_count, 3, "and serves the next one who asks");
}

#[test]
fn an_own_request_that_comes_back_proves_the_neighbour() {
    let mut net = alone(&Params::rfc());
    net.send_to(0, addr(99), 1);
    net.run_for(ms(5));
    let own = rreqs(&net, 0)[0].1;
    hear(&mut net, 0, addr(4), &Message::Rreq(Rreq { hop_count: 1, ..own }));
    assert_eq!(route(&net, 0, addr(4), "state").unwrap(), "valid", "section 6.5: first of all");
    assert_eq!(route(&net, 0, addr(4), "seq").unwrap(), "-");
    assert_eq!(route(&net, 0, addr(0), "state"), None, "and no route to oneself");
    assert_eq!(rreqs(&net, 0).len(), 1);
}

#[test]
fn what_is_passed_on_waits_up_to_ten_milliseconds() {
    let mut net = alone(&Params::rfc());
    let mut waits = Vec::new();
    for id in 0..60 {
        let heard = net.now();
        hear(&mut net, 0, addr(4), &Message::Rreq(request(id, addr(4), id + 1, addr(99), None)));
        net.run_for(ms(50));
        waits.push(rreqs(&net, 0).last().unwrap().0.at.since(heard).as_micros());
    }
    assert_eq!(rreqs(&net, 0).len(), 60);
    assert!(waits.iter().all(|&w| w <= 10_000), "{waits:?}");
    // Sixty draws of U(0, 10 ms): a quarter of them or so on each side.
    assert!(waits.iter().any(|&w| w < 2_500) && waits.iter().any(|&w| w > 7_500), "{waits:?}");
    let mut net = alone(&Params { broadcast_jitter_ms: 0, ..Params::rfc() });
    let heard = net.now();
    hear(&mut net, 0, addr(4), &Message::Rreq(request(1, addr(4), 1, addr(99), None)));
    net.run_until(secs(2.0));
    assert_eq!(rreqs(&net, 0)[0].0.at, heard);
}

#[test]
fn a_hello_to_one_node_only_is_not_sent_back() {
    let mut net = alone(&Params::rfc());
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(4), 7, 0, addr(4))));
    net.run_for(ms(50));
    assert_eq!(route(&net, 0, addr(4), "seq").unwrap(), "7");
    assert_eq!(net.sent_by(0).count(), 0);
}
