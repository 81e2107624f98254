//! The bytes on the air, by hand and by tshark.

use std::fs::File;

use wayhop_aodv::{Hello, LocalRepair, Params};
use wayhop_core::BROADCAST;
use wayhop_testkit::{EventKind, Link, Net, addr, tshark};

use crate::support::{Kind, Said, kind, line, ms, own_seq, route, rreqs, secs};

#[test]
fn a_first_request_is_these_52_octets() {
    let mut net = line(2, &Params { gratuitous_rrep: false, ..Params::rfc() });
    net.send_at(secs(1.0), 0, 1, 1);
    net.run_until(secs(2.0));
    let bytes = net.sent_by(0).next().unwrap().2;
    #[rustfmt::skip]
    let expected = [
        // RFC 791: version 4, 20 octets; length 52; id 1; TTL 1, UDP; checksum; 10.0.0.1 -> 255.255.255.255
        0x45, 0, 0, 52, 0, 1, 0, 0, 1, 17, bytes[10], bytes[11], 10, 0, 0, 1, 255, 255, 255, 255,
        // RFC 768: port 654 to 654, 32 octets
        0x02, 0x8e, 0x02, 0x8e, 0, 32, bytes[26], bytes[27],
        // RFC 3561 section 5.1: type 1, U, hop count 0; id 1; destination, number 0; originator, number 1
        1, 0x08, 0, 0, 0, 0, 0, 1, 10, 0, 0, 2, 0, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 1,
    ];
    assert_eq!(bytes, expected);
}

#[test]
fn tshark_reads_every_message_as_it_was_meant() {
    let mut net =
        line(4, &Params { hello: Hello::Always, hello_interval_ms: 700, rrep_ack: true, ..Params::rfc() });
    net.send_every(secs(1.0), ms(100), 40, 0, 3, 1);
    net.down_at(secs(3.0), 2, 3);
    net.run_until(secs(6.0));
    let file = tempfile::NamedTempFile::new().unwrap();
    net.write_pcap(File::create(file.path()).unwrap()).unwrap();

    assert_eq!(tshark::complaints(file.path()).unwrap(), Vec::<Vec<String>>::new());
    let fields = ["aodv.type", "ip.ttl", "aodv.rreq_id", "aodv.orig_ip", "aodv.dest_ip"];
    let rows = tshark::fields(file.path(), "aodv", &fields).unwrap();
    let count = |kind: &str| rows.iter().filter(|r| r[0] == kind).count();
    let ours: Vec<_> = (0..4).flat_map(|n| crate::support::said(&net, n)).collect();
    assert_eq!(rows.len(), ours.len());
    assert!(count("1") > 0 && count("2") > 10 && count("3") > 0 && count("4") > 0, "every type occurs");
    let requests: usize = (0..4).map(|n| rreqs(&net, n).len()).sum();
    assert_eq!(count("1"), requests);
    let first = rows.iter().find(|r| r[0] == "1").unwrap();
    let (a0, a3) = (addr(0).to_string(), addr(3).to_string());
    assert_eq!(first[1..], ["1", "1", a0.as_str(), a3.as_str()]);
    let bad = "aodv && (ip.checksum.status == 0 || udp.checksum.status == 0)";
    assert_eq!(tshark::fields(file.path(), bad, &["frame.number"]).unwrap(), Vec::<Vec<String>>::new());
}

/// What tshark has to show of a message: type, hop count, destinations, their numbers, and the IP destination, by the
/// tables of the node that just sent it.
fn by_tables(net: &Net, node: usize, s: &Said) -> Vec<String> {
    let cell = |to, column| route(net, node, to, column).unwrap_or_else(|| "no route".to_owned());
    let number = |to| if to == addr(node) { own_seq(net, node).to_string() } else { cell(to, "seq") };
    let row = |kind: &str, hops: String, to: String, seq: String, dst: String| {
        vec![kind.into(), hops, to, seq, dst]
    };
    match &s.what {
        Kind::Rreq(m) => {
            let own = m.originator == addr(node);
            let hops = if own { "0".to_owned() } else { cell(m.originator, "hops") };
            let known: Option<u32> = number(m.destination).parse().ok();
            // One that is passed on has the larger of the request's number and the own (section 6.5).
            let seq = if own { known.unwrap_or(0) } else { known.unwrap_or(0).max(m.destination_seq) };
            assert!(!own || m.unknown_seq == known.is_none(), "U says that no number is known");
            let seq = seq.to_string();
            row("1", hops, m.destination.to_string(), seq, BROADCAST.to_string())
        }
        Kind::Rrep(m) => {
            let own = m.destination == addr(node);
            let hops = if own { "0".to_owned() } else { cell(m.destination, "hops") };
            let dst =
                if s.next_hop == BROADCAST { BROADCAST.to_string() } else { cell(m.originator, "next_hop") };
            row("2", hops, m.destination.to_string(), number(m.destination), dst)
        }
        Kind::Rerr { unreachable, .. } => {
            let list = |f: &dyn Fn(std::net::Ipv4Addr) -> String| -> String {
                unreachable.iter().map(|u| f(u.destination)).collect::<Vec<_>>().join(",")
            };
            // A number that nobody told is reported as 0.
            let seq = list(&|to| cell(to, "seq").replace('-', "0"));
            row("3", String::new(), list(&|to| to.to_string()), seq, s.next_hop.to_string())
        }
        Kind::Ack => row("4", String::new(), String::new(), String::new(), s.next_hop.to_string()),
    }
}

#[test]
fn what_tshark_shows_in_a_message_is_what_its_senders_tables_say() {
    let mut net = line(
        6,
        &Params {
            hello: Hello::Always,
            rrep_ack: true,
            local_repair: LocalRepair::WithinTtl,
            broadcast_jitter_ms: 0,
            ..Params::rfc()
        },
    );
    net.config.airtime = wayhop_core::Span::from_micros(100);
    net.send_every(secs(1.0), ms(97), 80, 0, 5, 1);
    net.send_every(secs(1.5), ms(131), 50, 4, 1, 2);
    net.set_link(3, 2, Link::lossy(0.2));
    net.set_link(2, 3, Link::lossy(0.2));
    net.down_at(secs(4.0), 4, 5);
    net.up_at(secs(4.05), 3, 5);
    net.down_at(secs(6.0), 3, 5);
    let mut expected = Vec::new();
    let mut read = 0;
    while net.now() < secs(9.0) {
        net.run_for(wayhop_core::Span::from_micros(100));
        for r in &net.record()[read..] {
            if let EventKind::Sent { next_hop, bytes, .. } = &r.what
                && let Some((ip, what)) = kind(bytes)
            {
                let s = Said {
                    at: r.at,
                    next_hop: next_hop.v4().expect("AODV sends to IPv4 addresses only"),
                    ip,
                    what,
                };
                expected.push(by_tables(&net, r.node.0 as usize, &s));
            }
        }
        read = net.record().len();
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    net.write_pcap(File::create(file.path()).unwrap()).unwrap();
    assert_eq!(tshark::complaints(file.path()).unwrap(), Vec::<Vec<String>>::new());
    let fields =
        ["aodv.type", "aodv.hopcount", "aodv.dest_ip", "aodv.unreach_dest_ip", "aodv.dest_seqno", "ip.dst"];
    let shown: Vec<Vec<String>> = tshark::fields(file.path(), "aodv", &fields)
        .unwrap()
        .into_iter()
        .map(|mut r| {
            let lost = r.remove(3);
            r[2].push_str(&lost);
            r
        })
        .collect();
    for k in ["1", "2", "3", "4"] {
        assert!(shown.iter().filter(|r| r[0] == k).count() > 3, "type {k} occurs");
    }
    assert_eq!(shown.len(), expected.len());
    for (i, (shown, expected)) in shown.iter().zip(&expected).enumerate() {
        assert_eq!(shown, expected, "message {i}");
    }
}
