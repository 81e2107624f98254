//! Gateways: exits besides the nodes, and rows in the host's table for outside addresses.

use std::net::Ipv4Addr;

use wayhop_core::{Command, Outside, Prefix};
use wayhop_dsdv::Params;
use wayhop_testkit::{Net, addr};
use wayhop_wire::dsdv::UNREACHABLE;

use crate::support::{hear, held, line, ms, net, regular, said, secs, way};

const OUT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 7);

fn exit(n: usize) -> Ipv4Addr {
    let [_, b, c, d] = addr(n).octets();
    Ipv4Addr::new(250, b, c, d)
}

/// Tells every node which addresses are the mesh's, and gateways that they lead to all others.
fn outside(net: &mut Net, nodes: usize, gateways: &[usize]) {
    for n in 0..nodes {
        let reaches =
            if gateways.contains(&n) { vec![Prefix::around(Ipv4Addr::UNSPECIFIED, 0)] } else { vec![] };
        let what = Outside { mesh: Prefix::around(addr(0), 24), reaches };
        net.command(n, &Command::SetOutside(what)).unwrap();
    }
}

fn settled(mut net: Net, nodes: usize, gateways: &[usize]) -> Net {
    net.run_until(secs(1.0));
    outside(&mut net, nodes, gateways);
    net.run_until(secs(60.0));
    net
}

#[test]
fn a_gateway_tells_of_its_exit_under_its_own_number_and_packets_for_the_outside_go_there() {
    let mut net = settled(line(3, &regular(&Params::rfc())), 3, &[2]);
    let last = said(&net, 2).into_iter().rev().find(|s| s.entries.len() > 1).unwrap();
    let of = |a| last.entries.iter().find(|e| e.0 == a).copied().unwrap();
    assert_eq!((of(exit(2)).1, of(exit(2)).2), (1, of(addr(2)).2));
    assert_eq!(way(&net, 0, exit(2)), way(&net, 0, addr(2)), "the same way and number");
    net.send_to(0, OUT, 1);
    net.run_for(ms(500));
    assert_eq!(net.delivered(1), [0]);
    assert_eq!(net.route(0, OUT).unwrap().next_hop, addr(1), "a row for the whole address");
    assert!(net.route(0, exit(2)).is_none(), "and none for the exit");
    net.assert_conserved();
}

#[test]
fn the_nearest_exit_is_taken_and_the_next_one_when_it_closes() {
    // Gateway 1 beside node 0, gateway 4 behind nodes 2 and 3.
    let mut net = net(5, &regular(&Params::rfc()));
    for (a, b) in [(0, 1), (0, 2), (2, 3), (3, 4)] {
        net.up(a, b);
    }
    let mut net = settled(net, 5, &[1, 4]);
    net.send_to(0, OUT, 1);
    net.run_for(ms(500));
    assert_eq!(net.route(0, OUT).unwrap().next_hop, addr(1));
    outside(&mut net, 5, &[4]);
    net.run_for(ms(2_000));
    assert_eq!(net.route(0, OUT).unwrap().next_hop, addr(2), "within two seconds, by triggered updates");
    net.send_to(0, OUT, 1);
    net.run_for(ms(500));
    assert_eq!(net.delivered(1), [0, 1]);
    outside(&mut net, 5, &[1, 4]);
    net.run_for(ms(40_000));
    assert_eq!(net.route(0, OUT).unwrap().next_hop, addr(1), "and back when it is open again");
}

/// With one word of it, node 0 would send to gateway 1 until its next periodic update, 14 s later, and get its packets back.
#[test]
fn who_does_not_hear_that_an_exit_is_closed_hears_of_it_a_second_later() {
    let mut net = net(5, &regular(&Params::rfc()));
    for (a, b) in [(0, 1), (0, 2), (2, 3), (3, 4)] {
        net.up(a, b);
    }
    let mut net = settled(net, 5, &[1, 4]);
    net.send_to(0, OUT, 1);
    net.run_for(ms(1_000));
    net.down(0, 1);
    outside(&mut net, 5, &[4]);
    net.run_for(ms(50));
    net.up(0, 1);
    assert_eq!(net.route(0, OUT).unwrap().next_hop, addr(1), "the broadcast was lost");
    net.run_for(ms(1_000));
    assert_eq!(net.route(0, OUT).unwrap().next_hop, addr(2));
    net.send_to(0, OUT, 1);
    net.run_for(ms(500));
    assert_eq!(net.delivered(1), [0, 1]);
}

#[test]
fn a_closed_exit_is_told_of_three_times_and_starts_no_storm() {
    let mut net = settled(line(3, &regular(&Params::rfc())), 3, &[2]);
    net.run_for(ms(5_000));
    let from = net.now();
    outside(&mut net, 3, &[]);
    net.run_for(ms(9_000));
    // At once, and two more that need not be missed.
    let told =
        said(&net, 2).into_iter().filter(|s| s.at >= from && s.entries[1].0 == exit(2)).collect::<Vec<_>>();
    let times: Vec<u64> = told.iter().map(|s| s.at.since(from).as_millis()).collect();
    assert_eq!(times, [0, 1_000, 2_000], "{told:?}");
    assert!(
        told.iter().all(|s| (s.entries[1].1, s.entries[1].2) == (UNREACHABLE, s.entries[0].2 + 1)),
        "{told:?}"
    );
    net.run_for(ms(19_000));
    let from = net.now();
    net.run_for(ms(60_000));
    let updates = (0..3).map(|n| said(&net, n).iter().filter(|s| s.at >= from).count()).max().unwrap();
    // A full update each 15 s, and an incremental one for each of the other two nodes' numbers.
    assert!(updates <= 16, "{updates} updates in 60 s");
    assert_eq!(net.route(0, OUT), None);
}

#[test]
fn without_an_exit_a_packet_waits_and_a_lost_node_of_the_mesh_is_not_sought_outside() {
    let mut net = settled(line(2, &regular(&Params::rfc())), 2, &[]);
    net.send_to(0, OUT, 1);
    assert_eq!(held(&net, 0), 0, "not before it runs");
    net.run_for(ms(10));
    assert_eq!(held(&net, 0), 1);
    outside(&mut net, 2, &[1]);
    net.run_for(ms(3_000));
    assert_eq!(net.delivered(1), [0]);
    net.send_to(0, addr(77), 2);
    net.run_for(ms(10));
    assert_eq!((held(&net, 0), net.route(0, addr(77))), (1, None));
}

#[test]
fn what_others_say_of_the_own_exit_is_corrected() {
    let mut net = settled(line(2, &regular(&Params::rfc())), 2, &[0]);
    let before = said(&net, 0).len();
    // A loss under a number far ahead.
    hear(&mut net, 0, addr(1), &[(exit(0), 0xff, 9_001)]);
    net.run_for(ms(3_000));
    let last = said(&net, 0).pop().unwrap();
    assert!(said(&net, 0).len() > before);
    let own = last.entries.iter().find(|e| e.0 == exit(0)).unwrap();
    assert_eq!((own.1, own.2), (1, 9_002));
}
