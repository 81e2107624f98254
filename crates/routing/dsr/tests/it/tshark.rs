//! What Wireshark makes of our packets.

use std::fs::File;

use crate::common::{at, net, options, profile};
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

#[test]
fn tshark_finds_nothing_malformed_and_counts_the_messages_that_we_sent() {
    for name in ["rfc", "ns2"] {
        // Flow State headers are left to the octets of the flow tests: tshark reads the flow identifier's high byte only.
        let net = eventful(&Params { flow_state: false, ..profile(name) });
        let dir = std::env::temp_dir().join(format!("wayhop-dsr-tshark-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let capture = dir.join("all.pcap");
        net.write_pcap(File::create(&capture).unwrap()).unwrap();
        assert_eq!(tshark::complaints(&capture).unwrap(), Vec::<Vec<String>>::new(), "{name}");
        let rows = tshark::fields(&capture, "ip.proto == 48", &["dsr.option.type"]).unwrap();
        let theirs =
            |kind: u8| rows.iter().filter(|r| r[0].split(',').any(|t| t == kind.to_string())).count();
        let ours = |kind: u8| {
            let sent = net.record().iter().filter(|r| match &r.what {
                EventKind::Sent { bytes, .. } => options(bytes).iter().any(|o| o.0 == kind),
                _ => false,
            });
            sent.count()
        };
        for kind in
            [crate::common::RREQ, crate::common::RREP, crate::common::RERR, crate::common::SOURCE_ROUTE]
        {
            assert!(ours(kind) > 0, "{name}: option {kind} should occur");
            assert_eq!(theirs(kind), ours(kind), "{name}: option {kind}");
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}

#[test]
fn tshark_counts_our_acknowledgements_and_requests_for_them() {
    for located in [false, true] {
        let p = profile("cmu");
        let mut net = net(4, &p);
        net.config.acknowledged = false;
        net.line();
        if located {
            let fix = Fix { latitude_deg: 40.4, longitude_deg: -79.9, heading_deg: 12.0, speed_m_per_s: 9.0 };
            (0..4).for_each(|n| net.tell_position(n, &fix));
        }
        net.send_every(at(1.0), Span::from_millis(300), 20, 0, 3, 1);
        net.set_link_at(at(2.0), 1, 0, Link::lossy(0.5));
        net.run_until(at(12.0));
        net.assert_conserved();
        let dir = std::env::temp_dir().join(format!("wayhop-dsr-acks-{located}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let capture = dir.join("all.pcap");
        net.write_pcap(File::create(&capture).unwrap()).unwrap();
        let rows = tshark::fields(&capture, "ip.proto == 48", &["dsr.option.type"]).unwrap();
        for kind in [32, 160, crate::common::SOURCE_ROUTE] {
            let theirs = rows.iter().filter(|r| r[0].split(',').any(|t| t == kind.to_string())).count();
            let sent = net.record().iter().filter(
                |r| matches!(&r.what, EventKind::Sent { bytes, .. } if options(bytes).iter().any(|o| o.0 == kind)),
            );
            let ours = sent.count();
            assert!(ours > 0, "option {kind} should occur");
            assert_eq!(theirs, ours, "option {kind}; the location comes last: {located}");
        }
        if !located {
            assert_eq!(tshark::complaints(&capture).unwrap(), Vec::<Vec<String>>::new());
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
