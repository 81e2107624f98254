use wayhop_core::{NodeContext, NodeId, Time};
use wayhop_scenario::after_reboot;

use super::*;
use crate::node::power::Power;
use crate::node::test_hosts::{self, IFACE, address, at, data, mac};

/// A node with AODV and these outages, as (from, until, tables), in seconds.
fn host(n: u8, outages: &[(u64, u64, Tables)]) -> Host {
    let (mut h, aodv, section) = test_hosts::host("aodv", n);
    h.parameters = aodv.values().into();
    let outage = |&(from, until, tables)| {
        let time = |s: u64| Time::from_secs_f64(s as f64);
        Outage { node: NodeId(NODE), from: time(from), until: time(until), tables }
    };
    let all: Vec<Outage> = outages.iter().map(outage).collect();
    h.power = Power::new(&all, after_reboot(&aodv, &section), NodeContext::default());
    h.start();
    h
}

fn dropped(h: &Host, why: &str) -> u64 {
    h.around.counters.by_name().get(&format!("drop.{why}")).copied().unwrap_or(0)
}

/// All frames that wait, sent and forgotten.
fn sent(h: &mut Host) -> Vec<Vec<u8>> {
    let frames = h.frames(IFACE).map(|(header, f)| [&header[..], f.packet.bytes()].concat()).collect();
    while let Some((frame, status)) = h.sent(IFACE) {
        h.finished(frame, status);
    }
    frames
}

/// Both know a route to the other: the first has asked, the second has answered.
fn met() -> (Host, Host) {
    let (mut a, mut b) = (host(1, &[]), host(2, &[]));
    for ms in 0..200 {
        at(&mut a, ms);
        at(&mut b, ms);
        if ms == 10 {
            data(&mut a, 1);
        }
        for f in sent(&mut a) {
            b.frame_in(IFACE, &f, false, f32::NAN);
        }
        for f in sent(&mut b) {
            a.frame_in(IFACE, &f, false, f32::NAN);
        }
        a.learn(IFACE, address(2), mac(2));
        b.learn(IFACE, address(1), mac(1));
    }
    assert!(!a.around.routes.is_empty(), "AODV has a route");
    a.around.route_changes.clear();
    (a, b)
}

#[test]
fn outages_of_the_scenario_come_and_go_by_the_clock() {
    let mut h = host(1, &[(1, 2, Tables::Kept), (5, 6, Tables::Lost)]);
    let mut seen = Vec::new();
    let mut was_up = true;
    for ms in (0..8_000).step_by(100) {
        at(&mut h, ms);
        if h.node.is_up() != was_up {
            was_up = !was_up;
            seen.push((ms, was_up));
        }
    }
    assert_eq!(seen, [(1_000, false), (2_000, true), (5_000, false), (6_000, true)]);
    let all = h.power.summary(h.now());
    assert_eq!((all.len(), all[0].outages, all[0].down_s), (1, 2, 2.0));
}

#[test]
fn the_loop_wakes_for_an_outage_and_for_its_end() {
    let mut h = host(1, &[(3, 4, Tables::Kept)]);
    assert_eq!(h.power.next(), Some(Time::from_secs_f64(3.0)));
    assert!(h.next_deadline() <= Some(Time::from_secs_f64(3.0)));
    at(&mut h, 3_000);
    assert!(h.next_deadline() <= Some(Time::from_secs_f64(4.0)));
}

#[test]
fn a_node_that_is_down_sends_nothing_and_its_packets_end() {
    let (mut a, _) = met();
    a.take_down(None, false).expect("it is up");
    data(&mut a, 1);
    for ms in 200..5_000 {
        at(&mut a, ms);
        assert_eq!(a.queued(), 0, "at {ms} ms");
    }
    assert_eq!(dropped(&a, "NODE_DOWN"), 1);
    assert!(a.take_down(None, false).is_err(), "it is down already");
    a.bring_up().expect("it is down");
    assert!(a.bring_up().is_err(), "it is up");
}

#[test]
fn kept_tables_leave_the_kernel_and_come_back() {
    let (mut a, _) = met();
    let own: Vec<_> = a.around.routes.keys().copied().collect();
    a.take_down(None, false).expect("it is up");
    let gone: Vec<_> = a.around.route_changes.drain(..).map(|c| c.expect_err("a route that goes")).collect();
    assert_eq!(gone, own);
    assert_eq!(a.node.table().rows().count(), own.len(), "the node keeps them");
    a.bring_up().expect("it is down");
    let back: Vec<_> = a.around.route_changes.drain(..).map(|c| c.expect("a route").destination).collect();
    assert_eq!(back, own);
}

#[test]
fn lost_tables_are_lost_and_the_node_waits_as_its_protocol_says() {
    let (mut a, _) = met();
    a.take_down(None, true).expect("it is up");
    assert!(a.around.routes.is_empty() && a.node.table().is_empty());
    assert!(a.around.route_changes.drain(..).all(|c| c.is_err()));
    let waits = |h: &Host| h.parameters.values()["wait_after_reboot"].clone();
    assert_eq!(waits(&a), false);
    at(&mut a, 1_000);
    a.bring_up().expect("it is down");
    // RFC 3561, section 6.13.
    assert_eq!(waits(&a), true);
    assert!(a.node.is_up());
}

#[test]
fn an_order_ends_by_itself_and_outages_that_should_have_begun_meanwhile_do_not() {
    let mut h = host(1, &[(2, 8, Tables::Kept), (20, 21, Tables::Kept)]);
    at(&mut h, 1_000);
    h.take_down(Some(3.0), false).expect("it is up");
    at(&mut h, 3_999);
    assert!(!h.node.is_up());
    for ms in [4_000, 5_000, 19_000] {
        at(&mut h, ms);
        assert!(h.node.is_up(), "at {ms} ms");
    }
    at(&mut h, 20_000);
    assert!(!h.node.is_up());
}
