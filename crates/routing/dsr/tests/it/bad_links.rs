//! Remembered bad links: CMU-CS-99-116 section 9.2. Nodes 0, 1 and 2 are the paper's A, B and C.

use crate::common::{Ip, RREQ, at, error, linked, net, packet, profile, reply, request, sent_with};
use wayhop_core::{Fix, Span};
use wayhop_dsr::{BadLinks, CacheKind, Metric, Params};
use wayhop_testkit::{EventKind, Link, Net, addr};

const MECHANISMS: [BadLinks; 3] = [BadLinks::Timed, BadLinks::UntilMoved, BadLinks::Probability];

fn params(bad_links: BadLinks) -> Params {
    // The signals of the scripted links, -60 dBm, shall speak neither for them nor against them.
    Params { bad_links, bad_link_signal_dbm: -60.0, bad_link_probability: 0.3, ..profile("rfc") }
}

/// Node 0 hears that node 2 answers its request directly.
fn direct_answer(net: &mut Net) {
    net.inject(0, addr(2), false, &packet(&Ip::new(2, 0), &[reply(&[2])], &[]));
}

/// The TTLs of node 0's Route Requests since `from` seconds.
fn requests_since(net: &Net, from: f64) -> Vec<u8> {
    sent_with(net, 0, RREQ).iter().filter(|(r, ..)| *r >= from).map(|(_, _, p)| p[8]).collect()
}

/// The direct link of node 0 to node 2 is answered for, tried with a packet at 1 s, and given up.
fn after_a_failure(p: &Params) -> Net {
    let mut net = net(3, p);
    net.up(1, 2);
    net.set_link(2, 0, Link::UP);
    net.run_until(at(1.0));
    net.tell_position(0, &east(0.0));
    direct_answer(&mut net);
    net.send_at(at(1.0), 0, 2, 1);
    net.run_until(at(1.01));
    assert_eq!(net.notes("link_broken").len(), 1, "the direct link does not work");
    net
}

#[test]
fn without_a_memory_the_bad_direct_answer_ends_the_discovery() {
    let mut net = after_a_failure(&params(BadLinks::None));
    assert_eq!(requests_since(&net, 1.0), [1], "the non-propagating request");
    direct_answer(&mut net);
    net.run_until(at(1.035));
    assert_eq!(net.notes("link_broken").len(), 2, "tried and failed again");
    assert!(!requests_since(&net, 1.0).contains(&255), "no propagating request");
}

#[test]
fn with_a_memory_the_propagating_request_follows_an_answer_over_the_bad_link() {
    for bad_links in MECHANISMS {
        for route_cache in [CacheKind::Path, CacheKind::Link] {
            let p = Params { route_cache, bad_link_last_resort_ms: 0, ..params(bad_links) };
            let mut net = after_a_failure(&p);
            direct_answer(&mut net);
            net.up(0, 1);
            net.run_until(at(1.3));
            assert_eq!(net.notes("link_broken").len(), 1, "{bad_links:?}: not tried again");
            assert_eq!(requests_since(&net, 1.0), [1, 255], "{bad_links:?}");
            assert_eq!(net.delivered(1), [0], "{bad_links:?}: over node 1");
            net.assert_conserved();
        }
    }
}

#[test]
fn a_link_named_in_a_route_error_is_remembered() {
    for bad_links in MECHANISMS {
        let mut net = linked(4, &Params { bad_link_last_resort_ms: 0, ..params(bad_links) }, &[(0, 1)]);
        let route = packet(&Ip::new(3, 0), &[reply(&[1, 3])], &[]);
        net.inject(0, addr(1), false, &route);
        net.inject(0, addr(1), false, &packet(&Ip::new(1, 0), &[error(0, 1, 0, 3)], &[]));
        net.inject(0, addr(1), false, &route);
        net.send_at(at(1.1), 0, 3, 1);
        net.run_until(at(1.2));
        assert!(!requests_since(&net, 1.1).is_empty(), "{bad_links:?}: the route is known, but not used");
        assert_eq!(net.sent_by(0).filter(|(_, to, _)| *to == addr(1)).count(), 0);
    }
}

#[test]
fn a_bad_link_is_not_offered_in_a_cached_reply() {
    for (bad_links, answers) in [(BadLinks::None, 1), (BadLinks::Timed, 0), (BadLinks::Probability, 0)] {
        let mut net = linked(4, &params(bad_links), &[(0, 3)]);
        net.inject(0, addr(1), false, &packet(&Ip::new(1, 0), &[error(0, 0, 0, 2)], &[]));
        direct_answer(&mut net);
        net.inject(0, addr(3), true, &packet(&Ip::broadcast(3, 255), &[request(7, 2, &[])], &[]));
        net.run_until(at(1.1));
        assert_eq!(net.notes("reply_from_cache").len(), answers, "{bad_links:?}");
    }
}

#[test]
fn where_nothing_else_leads_the_bad_link_is_the_last_resort() {
    for (bad_links, wait_ms) in [(BadLinks::Timed, 200), (BadLinks::Probability, 350)] {
        let p = Params { bad_link_last_resort_ms: wait_ms, ..params(bad_links) };
        let mut net = after_a_failure(&p);
        net.set_link(0, 2, Link::UP);
        direct_answer(&mut net);
        // The propagating request leaves 30 ms after the other one, at 1.03 s at the earliest.
        let due = 1.03 + f64::from(wait_ms) / 1e3;
        net.run_until(at(due - 0.005));
        assert_eq!(net.delivered(1).len(), 0, "{bad_links:?}");
        net.run_until(at(due + 0.02));
        assert_eq!(net.delivered(1), [0], "{bad_links:?}");
        net.assert_conserved();
    }
}

/// A place `metres` east of another: at 40 degrees of latitude a degree of longitude is 85 394 m.
fn east(metres: f64) -> Fix {
    Fix { latitude_deg: 40.0, longitude_deg: -80.0 + metres / 85_394.0, heading_deg: 0.0, speed_m_per_s: 0.0 }
}

/// Whether node 0 uses the direct link at a time, having moved.
fn is_used(bad_links: BadLinks, when: f64, moved_m: f64) -> bool {
    let mut net = after_a_failure(&Params { bad_link_last_resort_ms: 0, ..params(bad_links) });
    net.run_until(at(when));
    net.tell_position(0, &east(moved_m));
    net.set_link(0, 2, Link::UP);
    direct_answer(&mut net);
    net.send_at(at(when), 0, 2, 2);
    net.run_until(at(when + 0.02));
    !net.delivered(2).is_empty()
}

#[test]
fn a_mark_ends_as_its_mechanism_says() {
    // The link failed at 1.00 s.
    assert!(!is_used(BadLinks::Timed, 10.9, 100.0));
    assert!(is_used(BadLinks::Timed, 11.1, 0.0));
    // Where node 2 is nobody has said: a minute, or node 0's own motion.
    assert!(!is_used(BadLinks::UntilMoved, 60.9, 20.0));
    assert!(is_used(BadLinks::UntilMoved, 61.1, 0.0));
    assert!(is_used(BadLinks::UntilMoved, 5.0, 30.0));
    // 1 / (2 + 3 * 2^(-t / 10 s)) passes 0.3 at t = 11.7 s.
    assert!(!is_used(BadLinks::Probability, 12.4, 100.0));
    assert!(is_used(BadLinks::Probability, 12.9, 0.0));
}

/// Node 0 sends node 2 a packet every 20 ms for 50 s, on a radio that acknowledges nothing. The links of node 1 are good; the
/// direct one loses this share of frames. How often more than 0.1 s pass between two deliveries.
fn stalls(p: &Params, loss: f64, seed: u64) -> usize {
    let mut net = net(3, p);
    net.config.seed = seed;
    net.config.acknowledged = false;
    net.config.airtime = Span::from_millis(3);
    net.line();
    net.set_link(0, 2, Link::lossy(loss));
    net.set_link(2, 0, Link::lossy(loss));
    net.send_every(at(12.0), Span::from_millis(20), 2_500, 0, 2, 1);
    net.run_until(at(62.0));
    net.assert_conserved();
    let delivered = net.record().iter().filter(|r| matches!(r.what, EventKind::Delivered { .. }));
    let times: Vec<f64> = delivered.map(|r| r.at.as_secs_f64()).collect();
    assert!(times.len() > 2_450, "retransmission and salvaging save most packets: {}", times.len());
    times.windows(2).filter(|w| w[1] - w[0] > 0.1).count()
}

#[test]
fn each_mechanism_and_etx_take_the_stalls_away() {
    let cmu = |bad_links, metric| Params { bad_links, metric, ..profile("cmu") };
    for (loss, seed) in [(0.8, 1), (0.8, 2), (0.9, 3)] {
        let none = stalls(&cmu(BadLinks::None, Metric::Hops), loss, seed);
        assert!(none > 60, "the direct link is tried again and again: {none}");
        for bad_links in MECHANISMS {
            let n = stalls(&cmu(bad_links, Metric::Hops), loss, seed);
            assert!(n * 10 < none, "{bad_links:?}, loss {loss}, seed {seed}: {n} stalls, {none} without");
        }
        assert_eq!(stalls(&cmu(BadLinks::None, Metric::Etx), loss, seed), 0, "loss {loss}, seed {seed}");
    }
}
