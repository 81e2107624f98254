//! ICMP "host unreachable" for the sources of packets that lose their route.

use wayhop_core::DropReason;
use wayhop_dsdv::Params;
use wayhop_testkit::{Net, addr};

use crate::support::{ms, net, secs};

/// 0 - 1 - 2 - 3, with packets from 0 to 3 ten times a second; a link breaks after 80 seconds.
fn broken(params: &Params, link: (usize, usize)) -> Net {
    let mut net = net(4, params);
    net.line();
    net.send_every(secs(78.0), ms(100), 60, 0, 3, 1);
    net.down_at(secs(80.0), link.0, link.1);
    net.run_until(secs(125.0));
    net
}

#[test]
fn the_node_at_a_broken_link_tells_the_source_over_the_way_back() {
    let params = Params { failure_notices: true, ..Params::rfc() };
    let net = broken(&params, (2, 3));
    let told = net.host_unreachables(0);
    assert_eq!(told.first(), Some(&(addr(2), addr(3))));
    net.assert_conserved();
}

#[test]
fn a_source_whose_packets_waited_in_vain_tells_its_own_stack() {
    let params = Params { failure_notices: true, ..Params::rfc() };
    let net = broken(&params, (0, 1));
    assert_eq!(net.host_unreachables(0).first(), Some(&(addr(0), addr(3))));
}

#[test]
fn nobody_is_told_unless_it_is_asked_for() {
    let net = broken(&Params::rfc(), (2, 3));
    assert!(net.host_unreachables(0).is_empty());
    assert!(net.drops().iter().any(|d| d.1 == DropReason::NoRoute || d.1 == DropReason::MacRetries));
}
