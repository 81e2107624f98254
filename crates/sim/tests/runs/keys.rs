//! Nodes with keys: routing works as without, costs what the block costs, and comes back after a reboot.

use wayhop_core::DropReason;

use crate::{mobile, run, scenario};

const PROTOCOLS: [&str; 3] = ["dsr", "aodv", "dsdv"];
const KEYS: &str = "[security]\nkeys = [{ id = 1, key = \"000102030405060708090a0b0c0d0e0f\" }]\n";

/// 0 - 1 - 2 - 3, and a flow from one end to the other that begins when every protocol is ready.
fn chain(protocol: &str, rest: &str) -> String {
    format!(
        "duration_s = 120\nnodes.count = 4\nmovement = {{ kind = \"chain\", spacing_m = 200 }}\n\
         protocol = {{ name = \"{protocol}\" }}\n[[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 3\n\
         rate_pps = 4\npayload_bytes = 64\nstart_s = 40\n{rest}"
    )
}

#[test]
fn a_chain_with_keys_delivers_what_one_without_does() {
    for protocol in PROTOCOLS {
        let (without, _) = run(&scenario(&chain(protocol, "")));
        let (with, _) = run(&scenario(&chain(protocol, KEYS)));
        assert_eq!(without.totals.drops.keys().filter(|k| k.starts_with("AUTH")).count(), 0);
        assert!(with.totals.received > 300, "{protocol}: {}", with.totals.received);
        assert!(
            with.totals.received + 2 >= without.totals.received,
            "{protocol}: {} of {}",
            with.totals.received,
            without.totals.received
        );
        assert_ne!(with.trace_hash, without.trace_hash, "{protocol}: the block takes air time");
    }
}

#[test]
fn a_node_that_lost_its_memory_is_back_after_a_challenge() {
    for protocol in PROTOCOLS {
        let outage = format!("{KEYS}[[outages]]\nnode = 1\nstart_s = 60\nlength_s = 5\n");
        let text = chain(protocol, &outage);
        // RFC 3561's wait of 50 s is another test's.
        let text = match protocol {
            "aodv" => text.replace("\"aodv\" }", "\"aodv\", wait_after_reboot = false }"),
            _ => text,
        };
        let (s, _) = run(&scenario(&text));
        let (o, _) = run(&scenario(&text.replace(KEYS, "")));
        let [with, without] = [s, o].map(|s| s.totals.received);
        // DSDV's own numbers begin anew, too, and its routes need longer than this run, with keys or without.
        assert!(protocol == "dsdv" || with > 300, "{protocol}: {with}");
        assert!(with + 2 >= without, "{protocol}: {with} of {without}");
    }
}

#[test]
fn no_packet_is_lost_unseen_among_mobile_nodes_with_keys() {
    for protocol in PROTOCOLS {
        let text = format!(
            "{}\n{KEYS}",
            mobile(protocol, if protocol == "dsdv" { "ns2" } else { "rfc" }, "wavelan-914-cmu", 30.0, 1)
        );
        let (summary, audit) = run(&scenario(&text));
        assert_eq!(audit.defect(), None, "{protocol}");
        assert!(
            summary.totals.received > 0 && !summary.totals.drops.contains_key(DropReason::AuthFailed.name())
        );
    }
}
