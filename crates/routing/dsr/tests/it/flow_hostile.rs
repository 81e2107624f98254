//! Flow state and input from outside: no panic, no packet lost track of, bounded tables.

use crate::common::flow::{announcement, change, on_flow, params, with_flow_header};
use crate::common::{Ip, RERR, UDP, addrs, fix_checksum, line_of, option, packet, profile};
use proptest::prelude::*;
use wayhop_core::Span;
use wayhop_dsr::Params;
use wayhop_testkit::{Net, addr};

/// Four nodes in a line; node 1 is shown everything.
fn victim(p: &Params) -> Net {
    line_of(4, p)
}

fn node() -> impl Strategy<Value = usize> {
    prop_oneof![6 => 0usize..4, 1 => Just(200)]
}

/// Packets of flows as a network has them, and as it should not have them.
fn any_packet() -> impl Strategy<Value = Vec<u8>> {
    let ends = || (node(), node(), any::<u8>());
    let ip = |(from, to, ttl): (usize, usize, u8)| Ip { ttl, ..Ip::new(from, to) };
    let state = proptest::option::of((0u8..128, 0u8..8));
    let error = (prop_oneof![Just(129u8), Just(130), Just(2)], node(), node(), node(), 0u8..8);
    prop_oneof![
        (0u8..8, proptest::collection::vec(node(), 0..4), node())
            .prop_map(|(id, between, to)| announcement(id, &between, to)),
        (state, ends()).prop_map(move |(state, e)| on_flow(state, &ip(e))),
        (ends(), 0u8..128, 0u8..8, proptest::collection::vec((0u8..8, node()), 1..12)).prop_map(
            move |(e, hops, id, changes)| {
                let options: Vec<_> = changes.into_iter().map(|(id, to)| change(id, to)).collect();
                with_flow_header(packet(&ip(e), &options, &UDP), hops, id)
            }
        ),
        (ends(), error, any::<bool>()).prop_map(move |(e, (kind, from, tell, about, id), data)| {
            let info = [vec![kind, 0], addrs(&[from, tell, about]), vec![0, id]].concat();
            packet(&ip(e), &[option(RERR, &info)], if data { &UDP } else { &[] })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn packets_of_flows_of_any_kind_neither_stop_a_node_nor_vanish(
        packets in proptest::collection::vec((any_packet(), 0usize..4, any::<bool>()), 1..30),
        ns2 in any::<bool>(),
    ) {
        let p = if ns2 { profile("ns2") } else { params() };
        let mut net = victim(&p);
        for (p, from, broadcast) in packets {
            net.inject(1, addr(from), broadcast, &p);
            net.run_for(Span::from_millis(3));
        }
        net.send_to(1, addr(3), 1);
        net.run_for(Span::from_secs(40));
        net.assert_conserved();
    }
}

#[test]
fn the_flow_table_is_bounded_whatever_neighbours_announce() {
    let mut net = victim(&Params { flow_table_size: 40, ..params() });
    for k in 0..2_000usize {
        let mut p = announcement((k % 250) as u8, &[1], 2);
        // From as many sources.
        p[14..16].copy_from_slice(&(k as u16 + 300).to_be_bytes());
        fix_checksum(&mut p);
        net.inject(1, [10, 0, p[14], p[15]].into(), false, &p);
        if k % 20 == 0 {
            net.run_for(Span::from_millis(1));
        }
    }
    net.run_for(Span::from_millis(1));
    assert_eq!(net.inspect(1).table("flows").count(), 40);
}
