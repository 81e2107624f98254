//! Packets that wait for a route.

use wayhop_core::{DropReason, NodeId};
use wayhop_dsdv::Params;
use wayhop_testkit::{Net, TestPacket, addr, data_packet};

use crate::support::{alone, hear, held, ms, regular, secs};

fn drops(net: &Net, reason: DropReason) -> usize {
    net.drops().iter().filter(|d| **d == (NodeId(0), reason)).count()
}
/// A packet of 3's for `to`, to be forwarded by node 0.
fn transit(net: &mut Net, to: usize) {
    let t = TestPacket { source: addr(3), destination: addr(to), ttl: 64, ident: 1, port: 9_000 };
    net.inject(0, addr(3), false, &data_packet(t, &[0; 10]));
    net.run_for(ms(10));
}

#[test]
fn five_packets_wait_for_a_destination_and_the_oldest_gives_way() {
    let mut net = alone(&regular(&Params::rfc()));
    for k in 0..8 {
        net.send_at(secs(1.0 + 0.01 * f64::from(k)), 0, 50, 1);
        net.send_at(secs(1.0 + 0.01 * f64::from(k)), 0, 51, 2);
    }
    net.run_until(secs(2.0));
    assert_eq!((held(&net, 0), drops(&net, DropReason::BufferFull)), (10, 6));
    hear(&mut net, 0, addr(1), &[(addr(50), 2, 100)]);
    net.run_for(ms(100));
    let sent = net.sent_by(0).filter(|(_, to, _)| *to == addr(1)).count();
    assert_eq!((sent, held(&net, 0)), (5, 5), "in order, at once");
    net.assert_conserved();
}

#[test]
fn all_destinations_together_have_a_limit() {
    let mut net = alone(&Params { buffer_packets: 7, ..regular(&Params::rfc()) });
    for to in 50..60 {
        net.send_at(secs(1.0), 0, to, 1);
    }
    net.run_until(secs(2.0));
    assert_eq!((held(&net, 0), drops(&net, DropReason::BufferFull)), (7, 3));
    net.assert_conserved();
}

#[test]
fn packets_wait_for_thirty_seconds() {
    let mut net = alone(&regular(&Params::rfc()));
    net.send_at(secs(2.0), 0, 50, 1);
    net.run_until(secs(31.9));
    assert_eq!(held(&net, 0), 1);
    net.run_until(secs(32.1));
    assert_eq!((held(&net, 0), drops(&net, DropReason::BufferTimeout)), (0, 1));
    net.assert_conserved();
}

#[test]
fn packets_of_others_wait_only_where_told() {
    let mut net = alone(&regular(&Params::rfc()));
    transit(&mut net, 50);
    assert_eq!((held(&net, 0), drops(&net, DropReason::NoRoute)), (0, 1));
    let mut net = alone(&Params { buffer_transit: true, ..regular(&Params::rfc()) });
    transit(&mut net, 50);
    assert_eq!((held(&net, 0), drops(&net, DropReason::NoRoute)), (1, 0));
}

#[test]
fn what_no_node_has_for_an_address_is_dropped_at_once() {
    let mut net = alone(&regular(&Params::rfc()));
    net.send_to(0, std::net::Ipv4Addr::new(224, 0, 0, 5), 1);
    net.run_for(ms(10));
    assert_eq!(drops(&net, DropReason::NoRoute), 1);
}
