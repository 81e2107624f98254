//! Bytes from anyone: no panic, bounded tables, nothing lost; and the effects of forged updates.

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, DropReason, Time};
use wayhop_dsdv::Params;
use wayhop_testkit::addr;
use wayhop_wire::dsdv::UNREACHABLE;

use crate::support::{alone, datagram, frame, hear, line, ms, net, own_seq, regular, said, secs, way};

#[test]
fn malformed_messages_are_dropped_as_such() {
    let sound = frame(addr(4), &[(addr(4), 1, 2)]);
    let with = |at: usize, value: u8| {
        let mut b = sound.clone();
        b[at] = value;
        b
    };
    let cases = [
        with(10, 0xff), // IP checksum
        with(36, 0xff), // an octet under UDP's checksum
        datagram(addr(4), &[]),
        datagram(addr(4), &[0; 11]),
        datagram(addr(4), &[0; 13]),
        frame(addr(0), &[(addr(4), 1, 2)]), // this node itself
        frame(BROADCAST, &[(addr(4), 1, 2)]),
        frame(Ipv4Addr::UNSPECIFIED, &[(addr(4), 1, 2)]),
    ];
    let mut net = alone(&regular(&Params::rfc()));
    for b in &cases {
        net.inject(0, addr(4), true, b);
    }
    net.run_for(ms(50));
    let drops: Vec<_> = net.drops().into_iter().filter(|d| d.0 == wayhop_core::NodeId(0)).collect();
    assert_eq!(drops.len(), cases.len());
    assert!(drops.iter().all(|d| d.1 == DropReason::Malformed), "{drops:?}");
    assert_eq!(net.inspect(0).table("routes").count(), 0);
    net.assert_conserved();
}

#[test]
fn a_flood_of_destinations_fills_no_more_than_the_limit_and_leaves_what_is_known() {
    let mut net = alone(&Params { max_routes: 100, ..regular(&Params::rfc()) });
    hear(&mut net, 0, addr(4), &[(addr(4), 1, 10), (addr(9), 3, 10)]);
    for n in 0..20 {
        let many: Vec<_> = (0..100).map(|k| (addr(1_000 + 100 * n + k), 2, 4)).collect();
        hear(&mut net, 0, addr(5), &many);
    }
    assert_eq!(net.inspect(0).table("routes").count(), 100);
    assert_eq!(way(&net, 0, addr(9)), "10.0.0.5 3 10");
    assert_eq!(way(&net, 0, addr(5)), "10.0.0.6 1 0", "room is kept for who speaks");
    // A neighbour for whom there is no room is not believed: its silence would go unnoticed.
    hear(&mut net, 0, addr(6), &[(addr(6), 1, 2), (addr(9), 2, 12)]);
    assert_eq!(way(&net, 0, addr(9)), "10.0.0.5 3 10");
    // When the flood ends, its destinations are lost and replaced by others.
    net.run_until(secs(40.0));
    hear(&mut net, 0, addr(4), &[(addr(4), 1, 12), (addr(9), 3, 12)]);
    net.run_until(secs(47.0));
    hear(&mut net, 0, addr(6), &[(addr(6), 1, 4), (addr(60), 2, 12)]);
    assert_eq!(way(&net, 0, addr(60)), "10.0.0.7 2 12");
    assert_eq!(way(&net, 0, addr(9)), "10.0.0.5 3 12");
    assert_eq!(net.inspect(0).table("routes").count(), 100);
    net.assert_conserved();
}

#[test]
fn a_storm_of_forged_losses_makes_one_update_a_second() {
    let mut net = alone(&regular(&Params::rfc()));
    for n in 0..100u32 {
        hear(
            &mut net,
            0,
            addr(4),
            &[(addr(4), 1, 10), (addr(0), UNREACHABLE, 2 * n + 3), (addr(9), 2, 4 * n)],
        );
        hear(&mut net, 0, addr(5), &[(addr(5), 1, 10), (addr(9), UNREACHABLE, 4 * n + 1)]);
        net.run_for(ms(48));
    }
    // Five seconds.
    let times: Vec<Time> = said(&net, 0).iter().map(|s| s.at).collect();
    assert!(times.len() <= 7, "{times:?}");
}

#[test]
fn an_update_that_a_neighbour_forwarded_is_nobodys() {
    let mut net = net(1, &Params::rfc());
    for (from, believed) in [(addr(5), false), (addr(7), true)] {
        net.inject(0, from, false, &frame(addr(7), &[(addr(8), 2, 8)]));
        net.run_for(ms(5));
        assert_eq!(net.route(0, addr(8)).is_some(), believed, "from {from}");
    }
}

#[test]
fn a_forged_number_is_overtaken_by_its_owner() {
    let mut net = line(3, &Params::rfc());
    net.run_until(secs(60.0));
    // The largest lead that counts as newer.
    let forged = own_seq(&net, 2).wrapping_add((1 << 31) - 2) & !1;
    hear(&mut net, 0, addr(7), &[(addr(2), 1, forged)]);
    assert_eq!(net.route(0, addr(2)).map(|r| r.next_hop), Some(addr(7).into()), "it is believed");
    net.run_until(secs(110.0));
    assert_eq!(net.route(0, addr(2)).map(|r| r.next_hop), Some(addr(1).into()));
    assert!(own_seq(&net, 2) >= forged);
}

#[test]
fn a_forged_neighbour_is_gone_after_three_periods() {
    let mut net = net(2, &regular(&Params::rfc()));
    net.up(0, 1);
    net.run_until(secs(1.0));
    hear(&mut net, 0, addr(7), &[(addr(7), 1, 8), (addr(8), 2, 8)]);
    net.run_until(secs(30.0));
    assert!(net.route(1, addr(8)).is_some(), "and its neighbours believe it too");
    net.run_until(secs(50.0));
    assert_eq!((net.route(0, addr(8)), net.route(1, addr(8))), (None, None));
    assert!(net.route(0, addr(1)).is_some());
}
