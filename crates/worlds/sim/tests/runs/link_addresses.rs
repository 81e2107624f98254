//! How packets wait for the link address of a neighbour that does not answer.

use crate::{mobile, run, scenario};

/// Five packets from 1 s on, 0.1 s apart, to a node out of reach, which without a protocol counts
/// as a neighbour. The packets held and dropped after `seconds`.
fn after(seconds: f64, arp: &str) -> (u64, Vec<(String, u64)>) {
    let text = format!(
        r#"
duration_s = {seconds}
nodes.count = 2
movement = {{ kind = "chain", spacing_m = 5000 }}
protocol.name = "none"
radio.arp = "{arp}"
[[traffic]]
kind = "cbr"
src = 0
dst = 1
rate_pps = 10
start_s = 1
stop_s = 1.45
"#
    );
    let (summary, audit) = run(&scenario(&text));
    assert_eq!(audit.defect(), None, "{arp} {seconds}");
    assert_eq!(summary.totals.sent, 5, "{arp} {seconds}");
    let drops = summary.totals.drops.iter().filter(|(_, n)| **n > 0);
    (summary.totals.held.unwrap_or_default(), drops.map(|(cause, n)| (cause.clone(), *n)).collect())
}

#[test]
fn a_host_gives_all_its_packets_up_three_seconds_after_it_first_asked() {
    // RFC 1122, section 2.3.2.1 (a request a second at most) and Linux (three of them).
    assert_eq!(after(3.99, "host"), (5, vec![]));
    assert_eq!(after(4.01, "host"), (0, vec![("ARP_FAILED".to_owned(), 5)]));
}

#[test]
fn ns2s_arp_holds_one_packet_for_ever() {
    // `ARPTable::arpresolve`: each of the second and third packet pushes the one before out, the
    // fourth gives up with the third, and the fifth starts again.
    let drops = vec![("ARP_FAILED".to_owned(), 2), ("ARP_FULL".to_owned(), 2)];
    assert_eq!(after(900.0, "hold-one"), (1, drops));
}

#[test]
fn who_heard_a_neighbours_routing_message_asks_nobody_for_its_link_address() {
    // As on a real node. Each of the three hears its next hop before it sends to it, so that no request is on the air: the run is
    // the one without ARP.
    for protocol in ["dsr", "aodv", "dsdv"] {
        let hash = |arp: &str| {
            let text = mobile(protocol, "rfc", "wavelan-914-cmu", 20.0, 3);
            let mut s = scenario(&text);
            s.interfaces.radios[0].config.arp = match arp {
                "host" => wayhop_radio::Arp::Host,
                "hold-one" => wayhop_radio::Arp::HoldOne,
                _ => wayhop_radio::Arp::None,
            };
            let (summary, audit) = run(&s);
            assert_eq!(audit.defect(), None, "{protocol} {arp}");
            summary.trace_hash
        };
        assert_eq!(hash("host"), hash("none"), "{protocol}");
        assert_ne!(hash("host"), hash("hold-one"), "{protocol}");
    }
}
