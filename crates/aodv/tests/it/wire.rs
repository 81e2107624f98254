//! The bytes on the air, by hand and by tshark.

use std::fs::File;

use wayhop_aodv::{Hello, Params};
use wayhop_testkit::{addr, tshark};

use crate::support::{line, ms, rreqs, secs};

#[test]
fn a_first_request_is_these_52_octets() {
    let mut p = Params::rfc();
    p.gratuitous_rrep = false;
    let mut net = line(2, &p);
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
    let mut p = Params::rfc();
    p.hello = Hello::Always;
    p.hello_interval_ms = 700;
    p.rrep_ack = true;
    let mut net = line(4, &p);
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
