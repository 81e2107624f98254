//! The parameters: RFC 4728 section 9.

mod common;

use common::{at, net, profile};
use wayhop_dsr::Params;

#[test]
fn the_default_is_section_9_of_the_rfc() {
    let p = Params::default();
    assert_eq!(Some(&p), Params::profile("rfc").as_ref());
    assert_eq!(p.discovery_hop_limit, 255);
    assert_eq!(p.broadcast_jitter_ms, 10);
    assert_eq!(p.route_cache_timeout_s, 300);
    assert_eq!(p.send_buffer_timeout_s, 30);
    assert_eq!(p.request_table_size, 64);
    assert_eq!(p.request_table_ids, 16);
    assert_eq!(p.max_request_rexmt, 16);
    assert_eq!(p.max_request_period_ms, 10_000);
    assert_eq!(p.request_period_ms, 500);
    assert_eq!(p.nonprop_request_timeout_ms, 30);
    assert_eq!(p.grat_reply_holdoff_ms, 1_000);
    assert_eq!(p.max_salvage_count, 15);
}

#[test]
fn an_unknown_profile_is_none() {
    assert_eq!(Params::profile("ns3"), None);
}

#[test]
fn values_out_of_range_are_brought_into_it() {
    let p = Params {
        max_route_hops: 0,
        max_salvage_count: 200,
        request_table_size: 0,
        request_table_ids: 0,
        request_period_ms: 0,
        request_backoff_factor: 0,
        max_request_period_ms: 0,
        send_buffer_packets: 0,
        send_buffer_check_min_ms: 50,
        send_buffer_check_max_ms: 1,
        cache_primary_routes: 0,
        cache_secondary_routes: 0,
        grat_table_size: 0,
        discovery_hop_limit: 0,
        control_ttl: 0,
        flow_table_size: 0,
        flow_timeout_s: 0,
        flow_state: true,
        ..profile("rfc")
    };
    let mut net = net(3, &p);
    net.line();
    net.send_at(at(1.0), 0, 1, 1);
    net.send_at(at(1.1), 1, 2, 2);
    net.run_until(at(3.0));
    assert_eq!((net.delivered(1), net.delivered(2)), (vec![0], vec![0]));
    net.assert_conserved();
}
