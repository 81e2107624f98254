//! Following next hops never leads in a circle, whatever links do and whichever messages are lost.

use proptest::prelude::*;
use wayhop_aodv::{Hello, LocalRepair, OwnNumber, Params, RerrNumber};
use wayhop_testkit::{Link, Net, addr};

use crate::support::{ms, net};

const NODES: usize = 7;

/// The circle that the forwarding tables send packets for `to` into, if there is one.
fn circle(net: &Net, to: usize) -> Option<Vec<usize>> {
    for start in 0..NODES {
        let mut path = vec![start];
        let mut at = start;
        while let Some(r) = net.route(at, addr(to)).filter(|_| at != to) {
            at = (0..NODES).find(|&n| addr(n) == r.next_hop)?;
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
                        let found = circle(&net, to);
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
        let mut p = Params::rfc();
        p.rerr_number = RerrNumber::Any;
        p.own_number = OwnNumber::IncrementIfNext;
        run(&p, &steps, seed)?;
    }
}
