//! What the profile `cmu` does as the testbed of Maltz, Broch and Johnson (1999) did, apart from acknowledgements.

use wayhop_core::Span;
use wayhop_testkit::EventKind;

use crate::common::{RREQ, at, net, profile, routes, sent_with, teach};

#[test]
fn the_cmu_profile_looks_at_its_send_buffer_every_thirty_milliseconds() {
    // The second request for a target is due 0.5 s after the first (RequestPeriod) and leaves at the next look, up to 30 ms
    // later, with up to 10 ms of jitter on either.
    let mut late = Vec::new();
    for seed in 1..40 {
        let mut net = net(2, &profile("cmu"));
        net.config.seed = seed;
        net.send_at(at(1.0), 0, 1, 1);
        net.run_until(at(2.0));
        let starts: Vec<_> = sent_with(&net, 0, RREQ).iter().filter(|s| s.2[8] == 1).map(|s| s.0).collect();
        late.push(starts[1] - starts[0] - 0.5);
    }
    assert!(late.iter().all(|l| (-0.010..=0.040).contains(l)), "{late:?}");
    assert!(late.iter().any(|l| *l > 0.012), "not at the moment when it is due: {late:?}");
}

#[test]
fn the_cmu_profile_has_fifteen_hops_on_its_longest_route() {
    for (name, cached) in [("cmu", 15), ("rfc", 20)] {
        let mut net = net(40, &profile(name));
        net.run_until(at(1.0));
        teach(&mut net, 0, &(1..=20).collect::<Vec<_>>());
        assert_eq!(routes(&net, 0)[0].len(), cached + 1, "{name}");
    }
}

#[test]
fn a_node_that_acknowledges_itself_numbers_its_packets_from_one_counter() {
    // The host numbers its packets from 1; requests for a node that is not there go out between them.
    let mut net = net(3, &profile("cmu"));
    net.config.acknowledged = false;
    net.up(0, 1);
    net.run_until(at(0.9));
    teach(&mut net, 0, &[1]);
    net.send_at(at(1.0), 0, 2, 2);
    net.send_every(at(1.0), Span::from_millis(10), 20, 0, 1, 1);
    net.run_until(at(1.4));
    let mut ids: Vec<u16> = net
        .record()
        .iter()
        .filter(|r| r.node.index() == 0)
        .filter_map(|r| match &r.what {
            EventKind::Sent { bytes, .. } => Some(u16::from_be_bytes([bytes[4], bytes[5]])),
            _ => None,
        })
        .collect();
    let first = ids[0];
    // Around the first, in case the counter turns over; one number is with the packet that waits for node 2.
    for id in &mut ids {
        *id = id.wrapping_sub(first).wrapping_add(100);
    }
    ids.sort_unstable();
    let requests = sent_with(&net, 0, RREQ).len();
    assert!(requests >= 2, "{requests}");
    assert_eq!(ids.len(), 20 + requests, "nothing was sent twice");
    assert!(ids.windows(2).all(|w| w[0] < w[1]), "each once: {ids:?}");
    assert!(usize::from(ids[ids.len() - 1] - ids[0]) <= ids.len(), "from one counter: {ids:?}");
}
