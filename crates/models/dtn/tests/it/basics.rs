//! Bundles over one contact and several, of each convergence layer.

use wayhop_core::{BundleEventKind, Span};
use wayhop_dtn::routing::{Epidemic, StaticRoutes};
use wayhop_dtn::{DropCause, Input, Request};

use crate::common::{Layer, Net, inbox, request};

const LAYERS: [Layer; 3] = [Layer::Tcpcl, Layer::Ltp, Layer::Udpcl(1_372)];

/// Static routes along a line: towards lower and higher numbers.
pub(crate) fn along_a_line(count: usize) -> Box<dyn Fn(usize) -> Box<dyn wayhop_dtn::routing::Routing>> {
    Box::new(move |n| {
        let via = |to: usize| if to < n { n - 1 } else { n + 1 };
        let routes: Vec<String> = (0..count)
            .filter(|to| *to != n)
            .map(|to| format!("dtn://n{to}/* via dtn://n{}/", via(to)))
            .collect();
        Box::new(StaticRoutes::parse(routes.iter().map(String::as_str)).unwrap())
    })
}

fn line(count: usize, layer: Layer) -> Net {
    Net::new(count, layer, along_a_line(count), &|c| c)
}

#[test]
fn a_bundle_reaches_a_neighbour_over_each_layer() {
    for layer in LAYERS {
        let mut net = line(2, layer);
        net.link(0, 1);
        net.settle(2, 1 << 20);
        net.send(0, 1, b"hello".to_vec(), false);
        net.settle(3, 1 << 20);
        assert_eq!(net.inbox(1).len(), 1, "{layer:?}");
        assert_eq!(net.inbox(1)[0].1, b"hello");
        // Its copy at the sender is gone: the neighbour has acknowledged it, or a datagram went.
        assert_eq!(net.agent(0).statistics().bundles, 0, "{layer:?}");
    }
}

#[test]
fn a_bundle_waits_at_a_node_between_until_the_next_contact() {
    for layer in LAYERS {
        let mut net = line(3, layer);
        net.link(0, 1);
        net.send(0, 2, vec![7; 500], false);
        net.settle(3, 1 << 20);
        net.cut(0, 1);
        assert_eq!(net.agent(1).held().len(), 1, "{layer:?}");
        assert_eq!(net.inbox(2).len(), 0);
        net.link(1, 2);
        net.settle(3, 1 << 20);
        assert_eq!(net.inbox(2).len(), 1, "{layer:?}");
        assert_eq!(net.count(1, BundleEventKind::Forward), 1);
    }
}

#[test]
fn a_bundle_larger_than_a_datagram_goes_in_fragments_and_arrives_whole() {
    let mut net = line(3, Layer::Udpcl(500));
    net.link(0, 1);
    net.link(1, 2);
    let payload: Vec<u8> = (0..20_000_u32).map(|i| (i * 7) as u8).collect();
    net.send(0, 2, payload.clone(), false);
    net.settle(5, 1 << 20);
    assert_eq!(net.inbox(2).len(), 1);
    assert_eq!(net.inbox(2)[0].1, payload);
    assert!(net.inbox(2)[0].0.fragment.is_none());
    assert!(net.count(2, BundleEventKind::Reassembled) > 20);
}

#[test]
fn a_bundle_ends_with_its_lifetime() {
    let mut net = line(2, Layer::Tcpcl);
    let short = Request { lifetime: Span::from_secs(10), ..request(0, 1, vec![1]) };
    net.tell(0, Input::Send(short));
    net.settle(11, 1 << 20);
    let dropped = net.nodes[0].rows.iter().find(|row| row.event == BundleEventKind::Drop).unwrap();
    assert_eq!(dropped.reason, Some(DropCause::LifetimeExpired));
    net.link(0, 1);
    net.settle(2, 1 << 20);
    assert_eq!(net.inbox(1).len(), 0);
}

#[test]
fn a_bundle_in_a_loop_of_routes_ends_with_its_hops() {
    // Each of two nodes believes that the way to n9 is by the other one.
    let routing: Box<crate::common::NewRouting> = Box::new(|n| {
        let route = format!("dtn://n9/* via dtn://n{}/", (n + 1) % 3);
        Box::new(StaticRoutes::parse([&route[..]]).unwrap())
    });
    let mut net = Net::new(3, Layer::Tcpcl, routing, &|mut c| {
        c.hop_limit = 7;
        c
    });
    net.send(0, 9, vec![1], true);
    // A neighbour gets a bundle once a contact: the loop continues with the next ones.
    for _ in 0..8 {
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            net.link(a, b);
        }
        net.settle(3, 1 << 20);
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            net.cut(a, b);
        }
    }
    let causes: Vec<_> = net.nodes.iter().flat_map(|n| &n.rows).filter_map(|row| row.reason).collect();
    assert!(causes.contains(&DropCause::HopLimit), "{causes:?}");
}

#[test]
fn an_application_that_comes_later_gets_what_waits_and_once() {
    let mut net = line(2, Layer::Tcpcl);
    net.tell(1, Input::Unregister { endpoint: inbox(1) });
    net.link(0, 1);
    net.send(0, 1, vec![5], false);
    net.settle(3, 1 << 20);
    assert_eq!(net.inbox(1).len(), 0);
    net.tell(1, Input::Register { endpoint: inbox(1), got: 0 });
    assert_eq!(net.inbox(1).len(), 1);
    net.kill(1);
    net.boot(1);
    net.settle(3, 1 << 20);
    assert_eq!(net.inbox(1).len(), 1);
}

#[test]
fn a_store_that_is_full_refuses_and_keeps_what_it_has_promised() {
    let mut net = Net::new(3, Layer::Tcpcl, along_a_line(3), &|mut c| {
        if c.node == crate::common::eid(1) {
            c.limits.octets = 3_000;
        }
        c
    });
    net.link(0, 1);
    for _ in 0..4 {
        net.send(0, 2, vec![1; 900], true);
    }
    net.settle(5, 1 << 20);
    let held = net.agent(1).statistics();
    assert!(held.octets <= 3_000 && held.in_custody > 0, "{held:?}");
    let (first, second) = (held.in_custody, net.agent(0).statistics().in_custody);
    assert_eq!(first + second, 4, "each bundle has one custodian");
    // Without custody there is no promise: new ones may replace old ones.
    net.link(1, 2);
    net.settle(200, 1 << 20);
    assert_eq!(net.missing(), []);
    assert_eq!(net.inbox(2).len(), 4);
}

#[test]
fn copies_make_room_for_newer_ones_oldest_first() {
    let mut net = Net::new(3, Layer::Tcpcl, Box::new(|_| Box::new(Epidemic)), &|mut c| {
        if c.node == crate::common::eid(1) {
            c.limits.bundles = 3;
        }
        c
    });
    net.link(0, 1);
    for _ in 0..6 {
        net.send(0, 2, vec![1; 100], false);
    }
    net.settle(5, 1 << 20);
    let newest: Vec<_> = net.nodes[0].application.sent[3..].to_vec();
    let held: Vec<_> = net.agent(1).held().into_iter().map(|held| held.id).collect();
    assert_eq!(held, newest);
    let evicted = net.nodes[1].rows.iter().filter(|row| row.reason == Some(DropCause::Evicted)).count();
    assert_eq!(evicted, 3);
}
