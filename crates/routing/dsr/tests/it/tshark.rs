//! What Wireshark makes of our packets.

use std::fs::File;

use crate::common::{
    ACK, ACK_REQUEST, RERR, RREP, RREQ, SOURCE_ROUTE, at, net, options, profile, unreported,
};
use wayhop_core::{Fix, Span};
use wayhop_dsr::Params;
use wayhop_testkit::{EventKind, Link, Net, tshark};

/// A run with everything in it: discoveries, replies from caches, a broken link, errors, salvage, a shortcut.
fn eventful(p: &Params) -> Net {
    let mut net = net(7, p);
    net.line();
    net.up(1, 5);
    net.send_every(at(1.0), Span::from_millis(250), 60, 0, 6, 1);
    net.send_every(at(1.1), Span::from_millis(250), 60, 4, 0, 2);
    net.down_at(at(4.0), 1, 5);
    net.down_at(at(6.0), 3, 4);
    net.up_at(at(6.5), 2, 4);
    net.up_at(at(8.0), 0, 2);
    net.down_at(at(10.0), 2, 4);
    net.up_at(at(12.0), 3, 4);
    net.run_until(at(20.0));
    net.assert_conserved();
    net
}

/// Whether tshark counts as many options of each of these types as were sent; with `clean`, it has no complaint either.
fn assert_counted(net: &Net, kinds: &[u8], clean: bool, what: &str) {
    let capture = std::env::temp_dir().join(format!("wayhop-dsr-{what}-{}.pcap", std::process::id()));
    net.write_pcap(File::create(&capture).unwrap()).unwrap();
    if clean {
        assert_eq!(tshark::complaints(&capture).unwrap(), Vec::<Vec<String>>::new(), "{what}");
    }
    let rows = tshark::fields(&capture, "ip.proto == 48", &["dsr.option.type"]).unwrap();
    for kind in kinds {
        let theirs = rows.iter().filter(|r| r[0].split(',').any(|t| t == kind.to_string())).count();
        let sent = net.record().iter().filter(
            |r| matches!(&r.what, EventKind::Sent { bytes, .. } if options(bytes).iter().any(|o| o.0 == *kind)),
        );
        let ours = sent.count();
        assert!(ours > 0, "{what}: option {kind} should occur");
        assert_eq!(theirs, ours, "{what}: option {kind}");
    }
    std::fs::remove_file(&capture).unwrap();
}

#[test]
fn tshark_finds_nothing_malformed_and_counts_the_messages_that_we_sent() {
    for name in ["rfc", "ns2"] {
        // Flow State headers are left to the octets of the flow tests: tshark reads the flow identifier's high byte only.
        let net = eventful(&Params { flow_state: false, ..profile(name) });
        assert_counted(&net, &[RREQ, RREP, RERR, SOURCE_ROUTE], true, name);
    }
}

#[test]
fn tshark_counts_our_acknowledgements_and_requests_for_them() {
    for located in [false, true] {
        let mut net = unreported(4, &profile("cmu"));
        net.line();
        if located {
            let fix = Fix { latitude_deg: 40.4, longitude_deg: -79.9, heading_deg: 12.0, speed_m_per_s: 9.0 };
            (0..4).for_each(|n| net.tell_position(n, &fix));
        }
        net.send_every(at(1.0), Span::from_millis(300), 20, 0, 3, 1);
        net.set_link_at(at(2.0), 1, 0, Link::lossy(0.5));
        net.run_until(at(12.0));
        net.assert_conserved();
        // The location comes last, and tshark does not know it.
        let what = if located { "acks-located" } else { "acks" };
        assert_counted(&net, &[ACK, ACK_REQUEST, SOURCE_ROUTE], !located, what);
    }
}
