//! The parameters: RFC 4728 section 9.

use crate::common::{at, net, profile};
use wayhop_dsr::Params;

#[test]
fn every_variable_of_section_9_is_a_parameter_with_its_default() {
    let p = Params::default();
    assert_eq!(Some(&p), Params::profile("rfc").as_ref());
    // The list of section 9, in its order and units, and at its end the protocol constant.
    let table: [(&str, u64, u64); 17] = [
        ("DiscoveryHopLimit, hops", 255, p.discovery_hop_limit.into()),
        ("BroadcastJitter, ms", 10, p.broadcast_jitter_ms.into()),
        ("RouteCacheTimeout, s", 300, p.route_cache_timeout_s.into()),
        ("SendBufferTimeout, s", 30, p.send_buffer_timeout_s.into()),
        ("RequestTableSize, nodes", 64, p.request_table_size.into()),
        ("RequestTableIds, identifiers", 16, p.request_table_ids.into()),
        ("MaxRequestRexmt, retransmissions", 16, p.max_request_rexmt.into()),
        ("MaxRequestPeriod, ms", 10_000, p.max_request_period_ms.into()),
        ("RequestPeriod, ms", 500, p.request_period_ms.into()),
        ("NonpropRequestTimeout, ms", 30, p.nonprop_request_timeout_ms.into()),
        ("RexmtBufferSize, packets", 50, p.rexmt_buffer_packets.into()),
        ("MaintHoldoffTime, ms", 250, p.maint_holdoff_ms.into()),
        ("MaxMaintRexmt, retransmissions", 2, p.max_maint_rexmt.into()),
        ("TryPassiveAcks, attempts", 1, p.try_passive_acks.into()),
        ("PassiveAckTimeout, ms", 100, p.passive_ack_timeout_ms.into()),
        ("GratReplyHoldoff, ms", 1_000, p.grat_reply_holdoff_ms.into()),
        ("MAX_SALVAGE_COUNT, salvages", 15, p.max_salvage_count.into()),
    ];
    for (name, section_9, ours) in table {
        assert_eq!(ours, section_9, "{name}");
    }
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
