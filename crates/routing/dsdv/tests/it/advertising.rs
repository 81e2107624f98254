//! Full and incremental updates.

use wayhop_core::BROADCAST;
use wayhop_dsdv::{FullUpdate, Params};
use wayhop_testkit::addr;
use wayhop_wire::dsdv::UNREACHABLE;

use crate::support::{alone, hear, ms, net, own_seq, regular, said, said_since, secs};

#[test]
fn updates_are_broadcast_once_in_datagrams_of_port_269() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8)]);
    net.run_until(secs(14.0));
    for s in said(&net, 0) {
        assert_eq!((s.ip.src, s.ip.dst, s.ip.ttl, s.ip.protocol), (addr(0), BROADCAST, 1, 17));
        // 28 octets of headers; 12 an entry.
        assert_eq!(usize::from(s.ip.payload_len), 8 + 12 * s.entries.len());
    }
    assert_eq!(net.sent_by(0).count(), said(&net, 0).len());
    assert!(net.sent_by(0).all(|(_, next_hop, _)| next_hop == BROADCAST));
}

#[test]
fn full_updates_come_every_period_and_raise_the_own_number_by_two() {
    let mut net = alone(&regular(&Params::rfc()));
    net.run_until(secs(46.0));
    let all: Vec<_> = said(&net, 0).into_iter().map(|s| (s.at.as_secs_f64(), s.entries)).collect();
    let own = |seq| vec![(addr(0), 1, seq)];
    assert_eq!(all, [(0.0, own(2)), (15.0, own(4)), (30.0, own(6)), (45.0, own(8))]);
}

#[test]
fn full_updates_spread_within_their_jitter_and_never_come_later_than_the_period() {
    let mut net = net(20, &Params::rfc());
    net.run_until(secs(900.0));
    let mut waits = Vec::new();
    for node in 0..20 {
        let at: Vec<f64> = said(&net, node).iter().map(|s| s.at.as_secs_f64()).collect();
        assert!(at[0] <= 2.01, "the first within two seconds and the broadcast's jitter");
        waits.extend(at.windows(2).map(|w| w[1] - w[0]));
    }
    // 15 s less U(0, 1.5 s), and two draws of U(0, 10 ms) for the broadcasts.
    assert!(waits.iter().all(|w| (13.49..15.01).contains(w)));
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    // 1,220 draws or so of a standard deviation of 0.433 s: five standard errors.
    assert!((mean - 14.25).abs() < 0.062, "{mean}");
}

#[test]
fn an_incremental_update_tells_this_node_and_what_changed() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100), (addr(51), 3, 100)]);
    net.run_until(secs(16.0));
    let known = said(&net, 0).pop().expect("the full one");
    assert_eq!(known.at, secs(15.0));
    assert_eq!(known.entries.len(), 4);
    // A shorter way to one of them settles for five seconds and is told alone.
    hear(&mut net, 0, addr(2), &[(addr(2), 1, 4), (addr(51), 2, 100)]);
    net.run_until(secs(29.0));
    let later = said_since(&net, 0, secs(15.5));
    assert_eq!(later[0].entries, [(addr(0), 1, 4), (addr(2), 2, 4)], "a new neighbour, at once");
    assert_eq!(later[1].entries, [(addr(0), 1, 4), (addr(2), 2, 4), (addr(51), 3, 100)]);
    assert_eq!(later.len(), 2);
    assert!((later[1].at - secs(16.0)).as_secs_f64() - 5.0 < 0.01);
    assert_eq!(own_seq(&net, 0), 4, "incremental updates leave the number alone");
}

#[test]
fn new_numbers_alone_wait_for_the_next_update_and_are_told_once() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8)]);
    net.run_until(secs(16.0));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 10)]);
    net.run_until(secs(18.0));
    assert_eq!(said_since(&net, 0, secs(15.5)).len(), 0);
    hear(&mut net, 0, addr(2), &[(addr(2), 1, 6)]);
    net.run_until(secs(19.0));
    assert_eq!(
        said_since(&net, 0, secs(15.5))[0].entries,
        [(addr(0), 1, 4), (addr(1), 2, 10), (addr(2), 2, 6)]
    );
    hear(&mut net, 0, addr(3), &[(addr(3), 1, 6)]);
    net.run_until(secs(21.0));
    let next = said_since(&net, 0, secs(19.0)).remove(0);
    // New distances are told until the next full update, new numbers once.
    assert_eq!(next.entries, [(addr(0), 1, 4), (addr(2), 2, 6), (addr(3), 2, 6)]);
}

#[test]
fn triggered_updates_keep_a_second_apart_and_one_serves_all_that_asked() {
    let mut net = alone(&regular(&Params::rfc()));
    net.run_until(secs(3.0));
    for k in 0..40 {
        hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(100 + k), 2, 100)]);
        net.run_for(ms(49));
    }
    // Forty new destinations in two seconds.
    let at: Vec<f64> = said_since(&net, 0, secs(2.0)).iter().map(|s| s.at.as_secs_f64()).collect();
    assert!(at.windows(2).all(|w| w[1] - w[0] >= 0.999), "{at:?}");
    assert_eq!(at.len(), 3, "{at:?}");
    net.run_until(secs(9.0));
    let last = said(&net, 0).pop().expect("an update");
    assert_eq!(last.entries.len(), 42);
}

#[test]
fn what_does_not_fit_into_a_packet_follows_in_others_and_makes_the_update_a_full_one() {
    // 28 octets of headers and 10 entries.
    let p = Params { mtu_bytes: 148, ..regular(&Params::rfc()) };
    let mut net = alone(&p);
    let many = |n: usize, seq| (0..n).map(|k| (addr(100 + k), 2, seq)).collect::<Vec<_>>();
    hear(&mut net, 0, addr(1), &many(9, 100));
    net.run_until(secs(3.0));
    let changes = said_since(&net, 0, secs(0.5));
    assert_eq!(changes.iter().map(|s| s.entries.len()).collect::<Vec<_>>(), [10]);
    assert_eq!(changes[0].entries[0], (addr(0), 1, 2), "incremental: the number is as it was");
    hear(&mut net, 0, addr(2), &[(addr(200), 2, 4)]);
    net.run_until(secs(6.0));
    let full = said_since(&net, 0, secs(3.0));
    assert_eq!(full.iter().map(|s| s.entries.len()).collect::<Vec<_>>(), [10, 1]);
    assert_eq!(full[0].entries[0], (addr(0), 1, 4), "a full one");
    assert!(full.iter().all(|s| s.ip.payload_len <= 128));
    // The period restarts.
    net.run_until(secs(17.9));
    assert_eq!(own_seq(&net, 0), 4);
    net.run_until(secs(18.5));
    assert_eq!(own_seq(&net, 0), 6);
}

#[test]
fn more_than_a_third_of_the_table_makes_a_full_update_where_that_is_the_rule() {
    let p = Params { full_update: FullUpdate::ThirdChanged, ..regular(&Params::rfc()) };
    for (changes, full) in [(3, false), (4, true)] {
        let mut net = alone(&p);
        let all: Vec<_> = (0..changes).map(|k| (addr(100 + k), 2, 100)).collect();
        hear(&mut net, 0, addr(1), &all);
        net.run_until(secs(3.0));
        assert_eq!(own_seq(&net, 0), if full { 4 } else { 2 }, "{changes} changes");
    }
}

#[test]
fn lost_destinations_are_in_full_updates_too() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100)]);
    hear(&mut net, 0, addr(1), &[(addr(50), UNREACHABLE, 101)]);
    net.run_until(secs(31.0));
    for full in said_since(&net, 0, secs(14.0)) {
        assert!(full.entries.contains(&(addr(50), UNREACHABLE, 101)), "{full:?}");
    }
}
