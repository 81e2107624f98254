//! Section 6.10 on links that acknowledge nothing: next hops are heard, or asked for themselves.

use wayhop_aodv::Params;
use wayhop_testkit::{Net, addr};

use crate::support::{line, ms, rerrs, rreps, rreqs, secs};

fn passive() -> Params {
    Params {
        link_feedback: false,
        passive_ack: true,
        blacklist: false,
        active_route_timeout_ms: 3_000,
        ..Params::rfc()
    }
}
/// 0 - 1 - 2 - 3 without acknowledgements, and a packet from 0 to 3 each 100 ms from 1 s to 7 s.
fn chain() -> Net {
    let mut net = line(4, &passive());
    net.config.acknowledged = false;
    net.send_every(secs(1.0), ms(100), 60, 0, 3, 1);
    net
}
/// When a node asked a neighbour for itself.
fn probes(net: &Net, node: usize, neighbour: usize) -> Vec<wayhop_core::Time> {
    let asked = rreqs(net, node).into_iter().filter(|(s, _)| s.next_hop == addr(neighbour));
    asked
        .map(|(s, m)| {
            assert_eq!((s.ip.dst, s.ip.ttl), (addr(neighbour), 1));
            assert_eq!((m.destination, m.originator, m.hop_count), (addr(neighbour), addr(node), 0));
            s.at
        })
        .collect()
}

#[test]
fn a_next_hop_that_is_heard_passing_packets_on_is_not_asked() {
    let mut net = chain();
    net.run_until(secs(6.95));
    assert_eq!(net.delivered(1).len(), 60);
    assert!(probes(&net, 0, 1).is_empty() && probes(&net, 1, 2).is_empty());
    assert_eq!(net.notes("neighbour_lost").len(), 0);
    // 3 is the destination and says nothing of its own: it is asked each HELLO_INTERVAL (1 s), and answers.
    let asked = probes(&net, 2, 3);
    assert!((5..=6).contains(&asked.len()), "{asked:?}");
    assert_eq!(rreps(&net, 3).iter().filter(|(_, m)| m.originator == addr(2)).count(), asked.len());
}

#[test]
fn a_next_hop_that_is_silent_is_asked_and_then_lost() {
    let mut net = chain();
    net.down_at(secs(3.05), 1, 2);
    net.run_until(secs(3.6));
    // The packet of 3.1 s, in node 1's hands about 1 ms later, is not heard again within NEXT_HOP_WAIT = 50 ms.
    let asked = probes(&net, 1, 2);
    assert_eq!(asked.len(), 1);
    assert!((secs(3.15)..secs(3.16)).contains(&asked[0]), "{}", asked[0]);
    // No answer within RING_TRAVERSAL_TIME = 2 * 40 * (1 + 2) = 240 ms.
    let (s, _, lost) = rerrs(&net, 1).remove(0);
    assert!((secs(3.39)..secs(3.41)).contains(&s.at), "{}", s.at);
    assert!(lost.iter().any(|u| u.destination == addr(3)));
    assert!(net.route(0, addr(3)).is_none());
}

#[test]
fn a_silent_destination_is_lost_too() {
    let mut net = chain();
    net.down_at(secs(3.05), 2, 3);
    net.run_until(secs(6.0));
    let lost = net.notes("neighbour_lost");
    assert_eq!(lost.iter().map(|(n, t)| (n.0, t.about)).collect::<Vec<_>>(), [(2, addr(3).into())]);
    // At most a second to the question, 240 ms for the answer.
    assert!((secs(3.2)..secs(4.5)).contains(&rerrs(&net, 2)[0].0.at));
}
