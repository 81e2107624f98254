//! Captures of runs with each of AODV's mechanisms: tshark finds nothing malformed, and shows in every field of every
//! message what `wayhop decode` says.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use wayhop_testkit::tshark;

use crate::oracle::joined;
use crate::{data, folder, run_in, summary_of, words};

const FIELDS: [&str; 27] = [
    "frame.number",
    "wlan.ta",
    "wlan.ra",
    "ip.src",
    "ip.dst",
    "ip.ttl",
    "ip.len",
    "aodv.type",
    "aodv.flags.rreq_join",
    "aodv.flags.rreq_repair",
    "aodv.flags.rreq_gratuitous",
    "aodv.flags.rreq_destinationonly",
    "aodv.flags.rreq_unknown",
    "aodv.flags.rrep_repair",
    "aodv.flags.rrep_ack",
    "aodv.flags.rerr_nodelete",
    "aodv.prefix_sz",
    "aodv.hopcount",
    "aodv.rreq_id",
    "aodv.dest_ip",
    "aodv.dest_seqno",
    "aodv.orig_ip",
    "aodv.orig_seqno",
    "aodv.lifetime",
    "aodv.destcount",
    "aodv.unreach_dest_ip",
    "aodv.ext_type",
];

fn column(row: &[String], name: &str) -> String {
    let at = FIELDS.iter().position(|f| *f == name).expect("a field");
    row.get(at).cloned().unwrap_or_default()
}

/// A row as [`FIELDS`], from one line of `wayhop decode`.
fn row(m: &Value) -> Vec<String> {
    let text = |v: &Value| match v {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        Value::Bool(b) => u8::from(*b).to_string(),
        other => other.to_string(),
    };
    let (kind, name) = match m["type"].as_str().expect("a type") {
        "rreq" => (1, "rreq"),
        "rrep" | "hello" => (2, "rrep"),
        "rerr" => (3, "rerr"),
        "rrep_ack" => (4, "rrep_ack"),
        other => panic!("{other} is no message of AODV"),
    };
    let list = |of: &str, key: &str| -> Option<String> {
        let all: Vec<String> = m[of].as_array()?.iter().map(|u| text(&u[key])).collect();
        Some(all.join(","))
    };
    let count = m["unreachable"].as_array().map(|l| l.len().to_string());
    let value = |field: &str| match field {
        "frame.number" => text(&m["frame"]),
        "wlan.ta" => text(&m["transmitter"]),
        "wlan.ra" => text(&m["receiver"]),
        "ip.src" => text(&m["src"]),
        "ip.dst" => text(&m["dst"]),
        "ip.ttl" => text(&m["ttl"]),
        "ip.len" => text(&m["ip_bytes"]),
        "aodv.type" => kind.to_string(),
        "aodv.prefix_sz" => text(&m["prefix_size"]),
        "aodv.hopcount" => text(&m["hop_count"]),
        "aodv.rreq_id" => text(&m["id"]),
        "aodv.dest_ip" => text(&m["destination"]),
        "aodv.dest_seqno" => list("unreachable", "seq").unwrap_or_else(|| text(&m["destination_seq"])),
        "aodv.orig_ip" => text(&m["originator"]),
        "aodv.orig_seqno" => text(&m["originator_seq"]),
        "aodv.lifetime" => text(&m["lifetime_ms"]),
        "aodv.destcount" => count.clone().unwrap_or_default(),
        "aodv.unreach_dest_ip" => list("unreachable", "destination").unwrap_or_default(),
        "aodv.ext_type" => list("extensions", "type").unwrap_or_default(),
        flag => {
            let (of, flag) = flag.rsplit_once('.').and_then(|f| f.1.split_once('_')).expect("a flag");
            let ours = match flag {
                "gratuitous" | "join" | "repair" => flag,
                "destinationonly" => "destination_only",
                "unknown" => "unknown_seq",
                "ack" => "ack_required",
                "nodelete" => "no_delete",
                other => panic!("unexpected {other}"),
            };
            if of == name { text(&m[ours]) } else { String::new() }
        }
    };
    FIELDS.map(value).into()
}

/// tshark's values, with RREQ ids, which it shows in hexadecimal notation, in decimal.
fn decimal(value: &str) -> String {
    let hex = value.strip_prefix("0x").and_then(|h| u32::from_str_radix(h, 16).ok());
    hex.map_or_else(|| value.to_owned(), |n| n.to_string())
}

/// Runs the walk, compares every message in the captures, and returns tshark's rows.
fn agreed(args: &[&str]) -> Vec<Vec<String>> {
    let dir = folder(&[]);
    let walk = data("walk.toml");
    let all = [walk.as_str(), "--protocol", "aodv", "--captures", "--out", "r"];
    summary_of(dir.path(), &[&all, args].concat());
    let captures = fs::read_dir(dir.path().join("r/captures")).expect("captures");
    let mut files: Vec<PathBuf> = captures.map(|e| e.expect("an entry").path()).collect();
    files.sort();
    let all = joined(&files, dir.path());
    assert_eq!(tshark::complaints(&all).expect("tshark"), Vec::<Vec<String>>::new(), "{args:?}");
    let theirs = tshark::fields(&all, "aodv", &FIELDS).expect("tshark");
    let printed = run_in(dir.path(), &["decode", all.to_str().expect("UTF-8")]).ok();
    let ours = printed.lines().map(|line| row(&serde_json::from_str(line).expect("JSON")));
    let mut n = 0;
    for (ours, theirs) in ours.zip(&theirs) {
        let mut theirs: Vec<String> = theirs.iter().map(|v| decimal(v)).collect();
        theirs.resize(FIELDS.len(), String::new());
        assert_eq!(ours, theirs, "{args:?}");
        n += 1;
    }
    assert_eq!((n, printed.lines().count()), (theirs.len(), theirs.len()), "as many messages");
    theirs
}

/// How many rows have this value in this column.
fn count(rows: &[Vec<String>], field: &str, value: &str) -> usize {
    rows.iter().filter(|r| column(r, field) == value).count()
}

#[test]
fn with_gratuitous_replies_every_request_has_flag_g_and_every_field_is_tsharks() {
    let rows = agreed(&["--profile", "rfc", "--set", "protocol.gratuitous_rrep=true"]);
    let requests = count(&rows, "aodv.type", "1");
    assert!(requests > 100 && count(&rows, "aodv.type", "2") > 10 && count(&rows, "aodv.type", "3") > 0);
    assert_eq!(count(&rows, "aodv.flags.rreq_gratuitous", "1"), requests);
}

#[test]
fn with_flag_d_no_reply_comes_from_a_table_and_every_field_is_tsharks() {
    let rows = agreed(&["--profile", "rfc", "--set", "protocol.destination_only=true"]);
    let requests = count(&rows, "aodv.type", "1");
    assert_eq!(count(&rows, "aodv.flags.rreq_destinationonly", "1"), requests);
    let replies: Vec<_> = rows.iter().filter(|r| column(r, "aodv.type") == "2").collect();
    assert!(replies.len() > 10);
    // Only the destination answers: a reply begins with hop count 0, and the lifetime is
    // MY_ROUTE_TIMEOUT all the way (section 6.6.1).
    assert!(replies.iter().all(|r| column(r, "aodv.lifetime") == "20000"));
}

#[test]
fn with_hellos_and_no_acknowledgements_every_field_is_tsharks() {
    let rows = agreed(&words(
        "--profile das --radio wavelan-i --set protocol.hello=always --set protocol.hello_interval_ms=700",
    ));
    let hellos: Vec<_> = rows
        .iter()
        .filter(|r| column(r, "aodv.type") == "2" && column(r, "ip.dst") == "255.255.255.255")
        .collect();
    assert!(hellos.len() > 100);
    for h in hellos {
        // Section 6.9; another interval than one second is told (section 9.1): 20 + 8 + 20 + 6 octets.
        assert_eq!((column(h, "aodv.hopcount"), column(h, "ip.ttl")), ("0".into(), "1".into()));
        assert_eq!(column(h, "aodv.dest_ip"), column(h, "ip.src"));
        assert_eq!((column(h, "aodv.lifetime"), column(h, "aodv.ext_type")), ("1400".into(), "1".into()));
        assert_eq!(column(h, "ip.len"), "54");
    }
}

#[test]
fn with_local_repair_route_errors_with_flag_n_occur_and_every_field_is_tsharks() {
    let rows = agreed(&["--profile", "rfc", "--set", "protocol.local_repair=within_ttl"]);
    assert!(count(&rows, "aodv.flags.rerr_nodelete", "1") > 0, "a repaired route is longer");
    assert!(count(&rows, "aodv.flags.rerr_nodelete", "0") > 0, "a repair fails");
}

#[test]
fn with_acknowledged_replies_over_a_silent_radio_every_field_is_tsharks() {
    let rows = agreed(&["--profile", "das", "--radio", "wavelan-i", "--set", "protocol.rrep_ack=true"]);
    let asked = rows
        .iter()
        .filter(|r| column(r, "aodv.flags.rrep_ack") == "1" && column(r, "ip.dst") != "255.255.255.255");
    assert!(asked.count() > 10);
    let acks: Vec<_> = rows.iter().filter(|r| column(r, "aodv.type") == "4").collect();
    assert!(acks.len() > 10);
    // Section 5.4: two octets in UDP in IP.
    assert!(acks.iter().all(|r| column(r, "ip.len") == "30"));
}
