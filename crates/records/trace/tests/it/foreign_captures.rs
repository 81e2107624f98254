//! Captures of routing daemons and of ns-3's models decode to what tshark shows.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wayhop_testkit::tshark;

use crate::captures::{decimal, decode};

fn capture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../captures").join(name)
}

/// tshark's row for each frame, the values of a field in a list.
fn rows(capture: &Path, filter: &str, fields: &[&str]) -> Vec<Vec<Vec<String>>> {
    let rows = tshark::fields(capture, filter, fields).expect("tshark answers");
    let row = |row: Vec<String>| {
        let mut row: Vec<Vec<String>> = row
            .iter()
            .map(|all| all.split(',').filter(|v| !v.is_empty()).map(|v| decimal(v.to_owned())).collect())
            .collect();
        row.resize(fields.len(), Vec::new());
        row
    };
    rows.into_iter().map(row).collect()
}

/// The values of a key in the messages of a frame that have it.
fn values(messages: &[&Value], key: &str) -> Vec<String> {
    let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    messages.iter().filter_map(|m| m.get(key)).map(text).collect()
}

#[test]
fn ns_3s_olsr() {
    let path = capture("ns3/ns3-olsr.pcap");
    let fields = [
        "frame.number",
        "olsr.message_type",
        "olsr.origin_addr",
        "olsr.ttl",
        "olsr.hop_count",
        "olsr.message_seq_num",
        "olsr.willingness",
        "olsr.ansn",
        "ip.src",
        "ip.ttl",
    ];
    let decoded = decode(&path);
    let of_tshark = rows(&path, "olsr", &fields);
    assert_eq!(decoded.len(), of_tshark.iter().map(|row| row[1].len()).sum::<usize>());
    for row in of_tshark {
        let all: Vec<&Value> =
            decoded.iter().filter(|m| Some(m["frame"].to_string()).as_ref() == row[0].first()).collect();
        let kinds: Vec<&str> = row[1]
            .iter()
            .map(|kind| ["", "hello", "tc", "mid", "hna"][kind.parse::<usize>().unwrap()])
            .collect();
        assert_eq!(values(&all, "type"), kinds);
        for (i, key) in
            ["originator", "message_ttl", "hop_count", "seq", "willingness", "ansn"].iter().enumerate()
        {
            assert_eq!(values(&all, key), row[i + 2], "{key} in frame {}", row[0][0]);
        }
        for m in all {
            assert_eq!((&m["src"], &m["protocol"]), (&json!(row[8][0]), &json!("olsr")));
            assert_eq!((m["ttl"].to_string(), &m["malformed"]), (row[9][0].clone(), &Value::Null));
        }
    }
    // Frame 25, whose fields tshark -V shows: what two nodes said, sent by one of them.
    let of_25: Vec<&Value> = decoded.iter().filter(|m| m["frame"] == 25).collect();
    assert_eq!(of_25[0]["advertised"], json!(["10.1.1.1", "10.1.2.2"]));
    assert_eq!(of_25[1]["interfaces"], json!(["10.1.2.1"]));
    assert_eq!((&of_25[2]["validity_s"], &of_25[2]["hello_interval_s"]), (&json!(6.0), &json!(2.0)));
    let link = |neighbour| json!({ "code": 6, "link": "symmetric", "neighbour": "symmetric", "neighbours": [neighbour] });
    assert_eq!(of_25[2]["links"], json!([link("10.1.2.2"), link("10.1.1.1")]));
    assert_eq!(of_25[3]["networks"], json!([{ "address": "192.168.7.0", "netmask": "255.255.255.0" }]));
    assert_eq!(of_25[3]["validity_s"], 15.0);
}

#[test]
fn ns_3s_dsdv() {
    let decoded = decode(&capture("ns3/ns3-dsdv.pcap"));
    assert_eq!(decoded.len(), 10);
    assert!(
        decoded.iter().all(|m| m["protocol"] == "dsdv" && m["type"] == "update" && m["malformed"].is_null())
    );
    // Octets of frame 3: 0a010102 00000001 00000002, 0a010202 00000002 00000002, 0a010101 00000002 00000002.
    let entry =
        |destination, hop_count| json!({ "destination": destination, "hop_count": hop_count, "seq": 2 });
    assert_eq!(
        decoded[2]["entries"],
        json!([entry("10.1.1.2", 1), entry("10.1.2.2", 2), entry("10.1.1.1", 2)])
    );
}

#[test]
fn babeld() {
    const KINDS: [&str; 11] = [
        "",
        "",
        "ack_request",
        "ack",
        "hello",
        "ihu",
        "router_id",
        "next_hop",
        "update",
        "route_request",
        "seqno_request",
    ];
    let fields = [
        "frame.number",
        "babel.message.type",
        "babel.message.seqno",
        "babel.message.rxcost",
        "babel.message.metric",
        "babel.message.omitted",
        "ipv6.src",
    ];
    for name in ["babeld/line-a-b.pcap", "babeld/line-b-c.pcap"] {
        let path = capture(name);
        let decoded = decode(&path);
        let of_tshark = rows(&path, "babel", &fields);
        assert_eq!(decoded.len(), of_tshark.iter().map(|row| row[1].len()).sum::<usize>());
        for row in of_tshark {
            let all: Vec<&Value> =
                decoded.iter().filter(|m| Some(m["frame"].to_string()).as_ref() == row[0].first()).collect();
            let kinds: Vec<&str> = row[1].iter().map(|kind| KINDS[kind.parse::<usize>().unwrap()]).collect();
            assert_eq!(values(&all, "type"), kinds);
            for (i, key) in ["seqno", "rxcost", "metric", "omitted"].iter().enumerate() {
                assert_eq!(values(&all, key), row[i + 2], "{key} in frame {} of {name}", row[0][0]);
            }
            for m in all {
                let header = (&m["src"], &m["dst"], &m["ttl"], &m["ip_id"]);
                assert_eq!(header, (&json!(row[6][0]), &json!("ff02::1:6"), &json!(1), &Value::Null));
            }
        }
    }
    // A packet from b to c with a compressed prefix, one octet behind the default prefix fd00::3, as tshark -V shows it.
    let decoded = decode(&capture("babeld/line-b-c.pcap"));
    let updates: Vec<&Value> = decoded.iter().filter(|m| m["frame"] == 9 && m["type"] == "update").collect();
    assert_eq!(
        values(&updates, "prefix"),
        ["fd00::3/128", "10.0.0.3/32", "fd00::1/128", "10.0.0.1/32", "192.168.9.1/32"]
    );
    assert_eq!(updates[2]["router_id"], "7c:d7:34:ae:38:20:96:51");
    assert_eq!(updates[2]["next_hop"], updates[2]["src"]);
    assert_eq!((&updates[3]["via_ipv6"], &updates[2]["via_ipv6"]), (&json!(true), &Value::Null));
}
