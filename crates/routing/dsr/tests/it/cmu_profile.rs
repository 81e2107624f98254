//! What the profile `cmu` does as the testbed of Maltz, Broch and Johnson (1999) did, apart from acknowledgements.

use wayhop_core::Span;

use crate::common::{RREQ, at, isolated, profile, routes, sent_with, teach, unreported};

#[test]
fn the_cmu_and_ns2_profiles_have_fifteen_hops_on_their_longest_route() {
    for (name, hops, cached) in [("cmu", 20, 15), ("ns2", 20, 15), ("ns2", 15, 15), ("rfc", 20, 20)] {
        let mut net = isolated(40, &profile(name));
        teach(&mut net, 0, &(1..=hops).collect::<Vec<_>>());
        assert_eq!(routes(&net, 0)[0].len(), cached + 1, "{name}, {hops} hops");
    }
}

#[test]
fn a_node_that_acknowledges_itself_numbers_its_packets_from_one_counter() {
    // The host numbers its packets from 1; requests for a node that is not there go out between them.
    let mut net = unreported(3, &profile("cmu"));
    net.up(0, 1);
    net.run_until(at(0.9));
    teach(&mut net, 0, &[1]);
    net.send_at(at(1.0), 0, 2, 2);
    net.send_every(at(1.0), Span::from_millis(10), 20, 0, 1, 1);
    net.run_until(at(1.4));
    let mut ids: Vec<u16> = net.sent_by(0).map(|(_, _, p)| u16::from_be_bytes([p[4], p[5]])).collect();
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
