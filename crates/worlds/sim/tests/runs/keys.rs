//! Nodes with keys: routing works as without, costs what the block costs, and comes back after a reboot.

use wayhop_core::DropReason;

use crate::attacks::with_wormhole;
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
        // DSDV's own numbers restart, too, and its routes need longer than this run, with keys or without.
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

/// A chain of five nodes and a flow from end to end; node 5 hears nodes 0 and 1 and no other, and attacks.
fn beside_a_chain(protocol: &str, rest: &str) -> String {
    format!(
        "duration_s = 120\nmovement = {{ kind = \"static\", positions = [\n\
         {{ x = 0, y = 0 }}, {{ x = 200, y = 0 }}, {{ x = 400, y = 0 }}, {{ x = 600, y = 0 }}, {{ x = 800, y = 0 }},\n\
         {{ x = 100, y = 150 }}] }}\nprotocol = {{ name = \"{protocol}\" }}\n\
         [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 4\nrate_pps = 4\npayload_bytes = 64\nstart_s = 60\n{rest}"
    )
}

#[test]
fn with_keys_only_an_insider_draws_routes() {
    for protocol in PROTOCOLS {
        for kind in ["black-hole", "sybil"] {
            let attack = |insider| format!("[[attacks]]\nkind = \"{kind}\"\nnode = 5\ninsider = {insider}\n");
            let taken = |rest: &str| {
                let (s, audit) = run(&scenario(&beside_a_chain(protocol, rest)));
                assert_eq!(audit.defect(), None, "{protocol} {rest}");
                (
                    audit.ends.dropped[DropReason::Attack as usize],
                    s.flows[0].received.unwrap(),
                    s.flows[0].sent.unwrap(),
                )
            };
            let (kept, ..) = taken(&attack(false));
            assert!(kept > 100, "{protocol} {kind}: without keys it draws packets: {kept}");
            let (kept, received, sent) = taken(&format!("{KEYS}{}", attack(false)));
            assert!(
                kept == 0 && received * 100 >= sent * 97,
                "{protocol} {kind}: {kept}, {received} of {sent}"
            );
            if kind == "black-hole" {
                let (kept, ..) = taken(&format!("{KEYS}{}", attack(true)));
                assert!(kept > 100, "{protocol}: an insider has the keys: {kept}");
            }
        }
    }
}

#[test]
fn with_keys_nobody_passes_an_outsiders_flood_on() {
    for protocol in PROTOCOLS {
        let flood = "[[attacks]]\nkind = \"request-flood\"\nnode = 5\nrate_pps = 30\nat_s = 50\n";
        let routing = |rest: &str| {
            let (s, _) = run(&scenario(&beside_a_chain(protocol, rest)));
            (s.totals.routing_packets, s.flows[0].received.unwrap(), s.flows[0].sent.unwrap())
        };
        let (quiet, ..) = routing(KEYS);
        let (without, ..) = routing(flood);
        let (with, received, sent) = routing(&format!("{KEYS}{flood}"));
        // 30 a second for 70 s are the attacker's own; the few more make up for frames that collide with them.
        let own = 70 * 30;
        assert!(without > quiet + own + own / 4, "{protocol}: without keys it spreads: {without}, {quiet}");
        assert!(with <= quiet + own + 100, "{protocol}: {with}, {quiet} without a flood");
        assert!(received * 100 >= sent * 97, "{protocol}: {received} of {sent}");
    }
}

#[test]
fn keys_do_not_stop_a_wormhole() {
    for protocol in PROTOCOLS {
        let tunnel = format!("{KEYS}[[attacks]]\nkind = \"wormhole\"\nnodes = [8, 9]");
        let (s, _) = run(&with_wormhole(protocol, &tunnel));
        assert!(s.flows[0].hops_mean.is_some_and(|h| h < 1.1), "{protocol}: {:?}", s.flows[0]);
    }
}

#[test]
fn keys_do_not_stop_a_jammer() {
    for protocol in PROTOCOLS {
        let received =
            |rest: &str| run(&scenario(&beside_a_chain(protocol, rest))).0.flows[0].received.unwrap();
        let quiet = received(KEYS);
        let jammed =
            received(&format!("{KEYS}[[attacks]]\nkind = \"jamming\"\nnode = 5\nmode = \"constant\"\n"));
        assert!(quiet > 200 && jammed * 4 < quiet, "{protocol}: {jammed}, {quiet} without a jammer");
    }
}
