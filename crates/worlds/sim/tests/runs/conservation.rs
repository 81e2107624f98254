//! Every packet ends delivered, dropped with a reason, or held.

use crate::{cbr, chain, mobile, run, scenario};

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
        let flows = cbr(0, 5, 1000, 1000.0, "") + &cbr(5, 0, 1000, 1000.0, "");
        let (summary, audit) = run(&scenario(&chain(6, 200, protocol, 20.0, &flows)));
        assert_eq!(audit.defect(), None);
        assert!(summary.totals.drops["QUEUE_FULL"] > 1000, "{:?}", summary.totals.drops);
    }
}

#[test]
fn out_of_range_means_no_delivery_and_a_named_cause() {
    for (protocol, reason) in [("dsr", "BUFFER_TIMEOUT"), ("aodv", "DISCOVERY_FAILED")] {
        let text = chain(2, 251, protocol, 100.0, &cbr(0, 1, 64, 1.0, ""));
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
        let text = chain(2, 100, "aodv", 5.0, &cbr(0, 1, payload, 1.0, ""));
        let (summary, audit) = run(&scenario(&text));
        assert_eq!(audit.defect(), None);
        assert_eq!(summary.totals.received > 0, fits, "{payload}");
        assert_eq!(summary.totals.drops.contains_key("TOO_LONG"), !fits, "{payload}");
    }
}
