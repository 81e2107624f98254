//! Network-layer acknowledgements of packets that travel on flows: RFC 4728 sections 3.5.8, 7.4, 8.6.1, 8.6.3 and 8.6.4.

use crate::common::flow::{announcement, on_flow, params, with_flow_header};
use crate::common::{
    ACK, ACK_REQUEST, Ip, RERR, UDP, addrs, at, option, option_of, options, packet, sent_with, unreported,
};
use wayhop_core::Span;
use wayhop_testkit::{Net, addr};

/// Four nodes in a line over radios that acknowledge nothing; node 1 knows flow 5 of node 0 to node 3.
fn silent_radios() -> Net {
    let mut net = unreported(4, &params());
    net.line();
    net.run_until(at(1.0));
    net.inject(1, addr(0), false, &announcement(5, &[1, 2], 3));
    net.run_until(at(2.0));
    net
}

#[test]
fn the_next_hop_of_a_flow_answers_the_request_of_the_node_that_the_option_names() {
    let mut net = silent_radios();
    let request = option(ACK_REQUEST, &[vec![0x12, 0x34], addrs(&[1])].concat());
    // As node 1 forwards it: it names itself, because nothing else does (7.4.1).
    net.inject(2, addr(1), false, &with_flow_header(packet(&Ip::new(0, 3), &[request], &UDP), 1, 5));
    net.run_for(Span::from_millis(20));
    let acks = sent_with(&net, 2, ACK);
    assert_eq!(acks[0].1, addr(1));
    assert_eq!(option_of(&acks[0].2, ACK).unwrap(), [vec![0x12, 0x34], addrs(&[2, 1])].concat());
    // The request ended here; the last hop gets one of node 2's own.
    let onward = sent_with(&net, 2, ACK_REQUEST).into_iter().rfind(|(_, to, _)| *to == addr(3)).unwrap();
    assert_eq!(option_of(&onward.2, ACK_REQUEST).unwrap()[2..], addrs(&[2]));
    assert_eq!(options(&onward.2).len(), 1);
    net.assert_conserved();
}

#[test]
fn a_forwarder_of_a_flow_names_itself_in_its_request_behind_the_flow_state_header() {
    let mut net = silent_radios();
    net.down(1, 2);
    net.inject(1, addr(0), false, &on_flow(Some((0, 5)), &Ip { id: 0x99, ..Ip::new(0, 3) }));
    net.run_for(Span::from_secs(3));
    let asked: Vec<_> =
        sent_with(&net, 1, ACK_REQUEST).into_iter().filter(|(_, to, _)| *to == addr(2)).collect();
    assert!(!asked.is_empty());
    for (_, _, p) in &asked {
        assert_eq!(p[20..24], [48, 0x81, 0, 5], "the Options header stands behind it");
        let found = options(p);
        assert_eq!(found.len(), 1, "no route and no Timeout");
        assert_eq!(found[0].1[2..], addrs(&[1]), "ACK Request Source Address");
    }
    assert_eq!(net.notes("link_broken").len(), 1, "Route Maintenance goes on without link-layer feedback");
    net.assert_conserved();
}

#[test]
fn flows_work_over_radios_that_acknowledge_nothing() {
    let mut net = unreported(4, &params());
    net.line();
    net.send_every(at(1.0), Span::from_millis(100), 20, 0, 3, 1);
    net.run_until(at(10.0));
    assert_eq!(net.delivered(1), (0..20).collect::<Vec<_>>(), "each once");
    assert!(net.notes("link_broken").is_empty());
    assert!(net.notes("flow_unknown").is_empty());
    net.assert_conserved();
}

#[test]
fn an_error_about_a_flow_is_acknowledged_hop_by_hop_too() {
    let mut net = silent_radios();
    net.inject(2, addr(1), false, &on_flow(Some((1, 7)), &Ip { id: 0x99, ..Ip::new(0, 3) }));
    net.run_for(Span::from_secs(3));
    assert_eq!(sent_with(&net, 2, RERR).last().unwrap().1, addr(1));
    assert_eq!(net.notes("link_broken").len(), 0, "node 1 confirms that it has the error");
    net.assert_conserved();
}
