//! Every packet ends delivered, dropped with a reason, or held.

use crate::{mobile, run, scenario};

#[test]
fn no_packet_is_lost_sight_of_by_any_protocol_on_any_radio() {
    for (radio, _) in wayhop_radio::PRESETS {
        for (protocol, profile) in [
            ("dsr", "rfc"),
            ("dsr", "ns2"),
            ("dsr", "cmu"),
            ("aodv", "rfc"),
            ("aodv", "ns2"),
            ("aodv", "das"),
        ] {
            let (summary, audit) = run(&scenario(&mobile(protocol, profile, radio, 20.0, 11)));
            assert_eq!(audit.defect(), None, "{radio} {protocol} {profile}");
            let dropped: u64 = audit.ends.dropped.iter().sum();
            assert_eq!(summary.totals.sent, audit.ends.delivered + dropped + audit.ends.held);
            assert!(summary.totals.received > 0, "{radio} {protocol} {profile}");
        }
    }
}

#[test]
fn an_overload_fills_queues_and_still_every_packet_is_accounted_for() {
    for protocol in ["dsr", "aodv"] {
        let text = format!(
            r#"
duration_s = 20
nodes.count = 6
movement = {{ kind = "chain", spacing_m = 200 }}
protocol = {{ name = "{protocol}" }}
[[traffic]]
kind = "cbr"
src = 0
dst = 5
payload_bytes = 1000
rate_pps = 1000
[[traffic]]
kind = "cbr"
src = 5
dst = 0
payload_bytes = 1000
rate_pps = 1000
"#
        );
        let (summary, audit) = run(&scenario(&text));
        assert_eq!(audit.defect(), None);
        assert!(summary.totals.drops["QUEUE_FULL"] > 1000, "{:?}", summary.totals.drops);
    }
}

#[test]
fn out_of_range_means_no_delivery_and_a_named_cause() {
    for (protocol, reason) in [("dsr", "BUFFER_TIMEOUT"), ("aodv", "DISCOVERY_FAILED")] {
        let text = format!(
            r#"
duration_s = 100
nodes.count = 2
movement = {{ kind = "chain", spacing_m = 251 }}
protocol = {{ name = "{protocol}" }}
[[traffic]]
kind = "cbr"
src = 0
dst = 1
payload_bytes = 64
rate_pps = 1
"#
        );
        let (summary, audit) = run(&scenario(&text));
        assert_eq!(audit.defect(), None);
        assert_eq!(summary.totals.received, 0);
        assert!(summary.totals.drops.contains_key(reason), "{:?}", summary.totals.drops);
    }
}

#[test]
fn a_packet_longer_than_a_frame_is_dropped_as_too_long() {
    // The 28 octets of IP and UDP, and the MSDU of IEEE 802.11 less LLC: 2268 octets of payload fit under AODV, 2269 do not.
    for (payload, fits) in [(2268, true), (2269, false)] {
        let text = format!(
            r#"
duration_s = 5
nodes.count = 2
movement = {{ kind = "chain", spacing_m = 100 }}
protocol = {{ name = "aodv" }}
[[traffic]]
kind = "cbr"
src = 0
dst = 1
payload_bytes = {payload}
rate_pps = 1
"#
        );
        let (summary, audit) = run(&scenario(&text));
        assert_eq!(audit.defect(), None);
        assert_eq!(summary.totals.received > 0, fits, "{payload}");
        assert_eq!(summary.totals.drops.contains_key("TOO_LONG"), !fits, "{payload}");
    }
}
