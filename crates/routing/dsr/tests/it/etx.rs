//! Routes by expected transmission count: De Couto et al. 2003, in DSR as LQSR has it.

use crate::common::{RREP, RREQ, addrs, at, net, option_of, options, profile, sent_with};
use wayhop_core::{BROADCAST, Span};
use wayhop_dsr::{CacheKind, Metric, Params};
use wayhop_testkit::{Link, Net, addr};

const EXPERIMENT: u8 = 30;

fn params() -> Params {
    Params { metric: Metric::Etx, ..profile("rfc") }
}

/// The data of the option of type 30 with this subtype.
fn experiment(p: &[u8], subtype: u8) -> Option<Vec<u8>> {
    let found = options(p).into_iter().find(|(kind, data)| *kind == EXPERIMENT && data[0] == subtype);
    found.map(|o| o.1)
}
fn costs(p: &[u8]) -> Vec<u32> {
    let data = experiment(p, 3).expect("link metrics");
    data[2..].chunks(4).map(|c| u32::from_be_bytes(c.try_into().expect("four octets"))).collect()
}

#[test]
fn a_probe_is_broadcast_each_second_and_says_how_many_were_heard() {
    let mut net = net(3, &params());
    net.up(0, 1);
    net.set_link(2, 0, Link::UP);
    net.run_until(at(30.0));
    let probes = sent_with(&net, 0, EXPERIMENT);
    // The first within a second, the others 0.9 s to 1.1 s apart.
    assert!((28..=33).contains(&probes.len()), "{}", probes.len());
    let gaps: Vec<f64> = probes.windows(2).map(|w| w[1].0 - w[0].0).collect();
    assert!(gaps.iter().all(|g| (0.899..1.101).contains(g)) && gaps.iter().any(|g| (g - 1.0).abs() > 0.02));
    let (_, to, p) = probes.last().expect("a probe");
    assert_eq!((*to, p[8]), (BROADCAST, 1), "to the neighbours");
    let data = experiment(p, 2).expect("a probe");
    assert_eq!((data[4..6].to_vec(), data.len()), (vec![0, 2], 2 + 2 * 5));
    assert_eq!((data[2..6].to_vec(), data[7..11].to_vec()), (addrs(&[1]), addrs(&[2])));
    assert!((9..=10).contains(&data[6]) && (9..=10).contains(&data[11]), "of ten each: {data:?}");
    // Node 2 hears nobody: its link is known to work one way only.
    let tables = net.inspect(0);
    assert_eq!(tables.cell("etx", "neighbour", &addr(2).to_string(), "df"), Some("0"));
    let etx: f64 = tables
        .cell("etx", "neighbour", &addr(1).to_string(), "etx")
        .expect("a row")
        .parse()
        .expect("a number");
    assert!((1.0..1.3).contains(&etx), "{etx}");
    net.assert_conserved();
}

#[test]
fn requests_and_replies_carry_what_their_links_cost() {
    let mut net = net(3, &params());
    net.line();
    net.send_at(at(15.0), 0, 2, 1);
    net.run_until(at(16.0));
    assert_eq!(net.delivered(1), [0]);
    let first = &sent_with(&net, 0, RREQ)[0].2;
    assert_eq!((costs(first), first[8]), (vec![], 255), "the initiator knows none; the request propagates");
    let passed_on = costs(&sent_with(&net, 1, RREQ)[0].2);
    assert!(passed_on.len() == 1 && (1024..1300).contains(&passed_on[0]), "{passed_on:?}");
    let reply = &sent_with(&net, 2, RREP)[0].2;
    assert_eq!(option_of(reply, RREP).expect("a reply")[1..], addrs(&[1, 2]));
    let both = costs(reply);
    assert!(both.len() == 2 && both.iter().all(|c| (1024..1300).contains(c)), "{both:?}");
    assert_eq!(both[0], passed_on[0]);
    net.assert_conserved();
}

/// How many of node 0's 1 000 packets for node 2 it sends over the bad direct link, nodes 0, 1 and 2 being the A, B and C
/// of CMU-CS-99-116 section 9.2.
fn sent_directly(p: &Params, seed: u64) -> usize {
    let mut net: Net = net(3, p);
    net.config.seed = seed;
    net.line();
    net.set_link(0, 2, Link::lossy(0.7));
    net.set_link(2, 0, Link::lossy(0.7));
    net.send_every(at(12.0), Span::from_millis(20), 1_000, 0, 2, 1);
    net.run_until(at(33.0));
    net.assert_conserved();
    assert_eq!(net.delivered(1).len(), 1_000);
    net.sent_by(0)
        .filter(|(r, to, p)| *to == addr(2) && r.at >= at(12.0) && p[9] == 48 && p[20] == 17)
        .count()
}

#[test]
fn the_bad_direct_link_is_avoided_by_its_cost() {
    for seed in 1..=3 {
        let hops = sent_directly(&Params { route_cache: CacheKind::Link, ..profile("rfc") }, seed);
        let etx = sent_directly(&params(), seed);
        assert!(hops > 60 && etx < 10, "seed {seed}: {hops} packets by hops, {etx} by ETX");
    }
}

#[test]
fn nodes_that_do_not_measure_pass_over_the_options() {
    // Node 1 compares hops.
    let mut net = Net::new(3, |n| {
        let p = if n.0 == 1 { profile("rfc") } else { params() };
        Box::new(wayhop_dsr::Engine::new(p))
    });
    net.line();
    net.send_at(at(15.0), 0, 2, 1);
    net.run_until(at(16.0));
    assert_eq!(net.delivered(1), [0]);
    assert!(sent_with(&net, 1, EXPERIMENT).iter().all(|(_, _, p)| experiment(p, 2).is_none()), "no probes");
    net.assert_conserved();
}
