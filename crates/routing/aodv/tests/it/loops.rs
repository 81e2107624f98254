//! Following next hops never leads in a circle, whatever links do and whichever messages are lost.

use proptest::prelude::*;
use wayhop_aodv::{Engine, Hello, LocalRepair, OwnNumber, Params, RerrNumber};
use wayhop_testkit::{Link, Net, addr};
use wayhop_wire::aodv::{Message, Rreq};

use crate::support::{hear, ms, net, own_seq, request};

const NODES: usize = 7;

/// The circle that the forwarding tables send packets for `to` into, if there is one.
fn circle(net: &Net, to: usize, nodes: usize) -> Option<Vec<usize>> {
    for start in 0..nodes {
        let mut path = vec![start];
        let mut at = start;
        while let Some(r) = net.route(at, addr(to)).filter(|_| at != to) {
            at = (0..nodes).find(|&n| addr(n) == r.next_hop)?;
            if path.contains(&at) {
                path.push(at);
                return Some(path);
            }
            path.push(at);
        }
    }
    None
}

#[derive(Clone, Debug)]
enum Step {
    Link(usize, usize, u8),
    Send(usize, usize),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let node = 0..NODES;
    prop_oneof![
        3 => (node.clone(), node.clone(), 0u8..5).prop_map(|(a, b, q)| Step::Link(a, b, q)),
        3 => (node.clone(), node).prop_map(|(a, b)| Step::Send(a, b)),
        2 => prop_oneof![1u64..30, 30u64..400, 400u64..12_000].prop_map(Step::Wait),
    ]
}

fn run(p: &Params, steps: &[Step], seed: u64) -> Result<(), TestCaseError> {
    let mut net = net(NODES, p);
    net.config.seed = seed;
    net.line();
    for s in steps {
        match *s {
            Step::Link(a, b, q) if a != b => {
                let link = match q {
                    0 => Link::DOWN,
                    1 => Link::lossy(0.3),
                    2 => Link::lossy(0.7),
                    _ => Link::UP,
                };
                net.set_link(a, b, link);
                net.set_link(b, a, link);
            }
            Step::Send(a, b) if a != b => net.send_at(net.now(), a, b, 1),
            Step::Wait(n) => {
                let slice = (n / 20).max(1);
                for _ in 0..n / slice {
                    net.run_for(ms(slice));
                    for to in 0..NODES {
                        let found = circle(&net, to, NODES);
                        prop_assert!(found.is_none(), "to {} at {}: {:?}", to, net.now(), found);
                    }
                }
            }
            _ => {}
        }
    }
    net.assert_conserved();
    Ok(())
}

#[test]
fn a_copy_of_a_request_that_comes_after_a_reboot_makes_no_circle() {
    // 0 - 1 - 2: all learn the way to 0, node 1 forgets it and hears of it again from 2, which sends by node 1.
    let mut p = Params::rfc();
    (p.active_route_timeout_ms, p.delete_period_ms, p.wait_after_reboot) = (3_000, Some(5_000), true);
    (p.ttl_start, p.rreq_retries) = (p.net_diameter, 0);
    let mut net = net(3, &Params { wait_after_reboot: false, ..p.clone() });
    net.line();
    net.send_to(0, addr(9), 1);
    net.run_for(ms(500));
    assert_eq!(net.route(2, addr(0)).unwrap().next_hop, addr(1));
    let seq = own_seq(&net, 0);
    net.stop(1);
    net.restart(1, Box::new(Engine::new(p)));
    net.run_for(ms(1));
    let copy = Rreq { hop_count: 2, ..request(1, addr(0), seq, addr(9), None) };
    hear(&mut net, 1, addr(2), &Message::Rreq(copy));
    // What node 1 sends keeps the way that leads back to it in use at 2.
    for _ in 0..8 {
        net.send_to(1, addr(0), 2);
        for _ in 0..10 {
            net.run_for(ms(100));
            assert_eq!(circle(&net, 0, 3), None, "at {}", net.now());
        }
    }
    net.assert_conserved();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn with_link_feedback(steps in proptest::collection::vec(step(), 10..80), seed: u64) {
        run(&Params::rfc(), &steps, seed)?;
    }

    #[test]
    fn with_local_repair(steps in proptest::collection::vec(step(), 10..80), seed: u64) {
        let mut p = Params::rfc();
        p.local_repair = LocalRepair::WithinTtl;
        run(&p, &steps, seed)?;
    }

    #[test]
    fn with_hellos(steps in proptest::collection::vec(step(), 10..60), seed: u64) {
        let mut p = Params::das();
        p.hello = Hello::Always;
        run(&p, &steps, seed)?;
    }

    #[test]
    fn with_a_subnet(steps in proptest::collection::vec(step(), 10..60), seed: u64) {
        // Nodes 0 to 2 are in 10.0.0.0/30, and node 1 answers for them.
        let p = Params { subnet_routers: vec!["10.0.0.2/30".to_owned()], ..Params::rfc() };
        run(&p, &steps, seed)?;
    }

    #[test]
    fn whichever_route_errors_count(steps in proptest::collection::vec(step(), 10..60), seed: u64) {
        let p = Params { rerr_number: RerrNumber::Any, own_number: OwnNumber::IncrementIfNext, ..Params::rfc() };
        run(&p, &steps, seed)?;
    }
}

#[test]
fn a_way_back_that_no_packet_comes_by_is_not_kept() {
    // Node 0 sends to 4 by 2 and 3. Then node 3 hears of the way to 0 by 1, which loses its own way to 0 and, in time, all memory of it.
    // What 0 sends by 2 says nothing of the way by 1: kept alive by it, that way would lead node 1's packets back to node 1.
    let mut net = net(5, &Params { rreq_retries: 0, ttl_start: Params::rfc().net_diameter, ..Params::rfc() });
    let set = |net: &mut Net, a, b, link: Link| {
        net.set_link(a, b, link);
        net.set_link(b, a, link);
    };
    for (a, b) in [(0, 1), (0, 2), (2, 3), (3, 4)] {
        set(&mut net, a, b, Link::UP);
    }
    net.send_to(0, addr(4), 1);
    net.run_for(ms(1_000));
    assert_eq!(net.route(3, addr(0)).unwrap().next_hop, addr(2));
    // The next request of 0 reaches 3 by 1 alone.
    set(&mut net, 1, 3, Link::UP);
    set(&mut net, 2, 3, Link::DOWN);
    net.send_to(0, addr(9), 1);
    net.run_for(ms(500));
    assert_eq!(net.route(3, addr(0)).unwrap().next_hop, addr(1));
    set(&mut net, 2, 3, Link::UP);
    set(&mut net, 0, 1, Link::DOWN);
    for _ in 0..75 {
        net.send_to(0, addr(4), 1);
        net.run_for(ms(1_000));
        assert_eq!(net.route(0, addr(4)).unwrap().next_hop, addr(2));
    }
    net.send_to(1, addr(0), 1);
    net.run_for(ms(500));
    assert_eq!(circle(&net, 0, 5), None, "at {}", net.now());
    net.assert_conserved();
}
