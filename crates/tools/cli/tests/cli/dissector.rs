//! The dissector for Wireshark (`wayhop export dissector`) in tshark: no frame of ours is malformed, and each field is what
//! `wayhop decode` says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{data, folder, run_in, summary_of};

/// Of a capture: (frame, field) and the values in their order.
type Shown = BTreeMap<(u64, String), Vec<String>>;

/// What `decode` puts on each message beside its fields.
const COMMON: &[&str] = &[
    "wayhop",
    "frame",
    "time_ns",
    "sent",
    "transmitter",
    "receiver",
    "retry",
    "signal_dbm",
    "src",
    "dst",
    "ttl",
    "ip_id",
    "ip_bytes",
    "protocol",
    "type",
    "truncated",
    "malformed",
    "next_header",
    "dsr_payload_len",
    // The name of `error_type`.
    "error",
];

fn plugin(dir: &Path) -> PathBuf {
    let path = dir.join("wayhop.lua");
    run_in(dir, &["export", "dissector", "--out", "wayhop.lua"]).ok();
    path
}

/// tshark with the dissector; one row a packet.
fn tshark(capture: &Path, plugin: &Path, arguments: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-X", &format!("lua_script:{}", plugin.display()), "-n", "-r"]).arg(capture);
    command.args(["-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]).args(arguments);
    let done = command.output().expect("tshark (.ci/install test)");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && !said.to_lowercase().contains("lua"), "{}: {said}", capture.display());
    let text = String::from_utf8(done.stdout).expect("UTF-8");
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The fields that the dissector has.
fn fields(plugin: &Path) -> Vec<String> {
    let done = Command::new("tshark")
        .args(["-G", "fields", "-X", &format!("lua_script:{}", plugin.display())])
        .output()
        .expect("tshark (.ci/install test)");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let names = text.lines().filter(|l| l.starts_with("F\t")).filter_map(|l| l.split('\t').nth(2));
    let mut names: Vec<String> =
        names.filter(|n| n.starts_with("wayhop_") && n.contains('.')).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

fn by_tshark(capture: &Path, plugin: &Path, fields: &[String]) -> Shown {
    let mut arguments = vec![
        "-Y",
        "(wayhop_dsr || wayhop_dsdv || wayhop_aodv || wayhop_auth) && !(radiotap.flags.badfcs == 1)",
    ];
    // `decode` looks at the first fragment of a packet, too.
    arguments.extend(["-o", "ip.defragment:FALSE", "-e", "frame.number"]);
    let kept: Vec<&String> =
        fields.iter().filter(|f| f.rsplit('.').next() != Some("cut") && !is_of_header(f)).collect();
    for field in &kept {
        arguments.extend(["-e", field]);
    }
    let mut shown = Shown::new();
    for row in tshark(capture, plugin, &arguments) {
        let frame = row[0].parse().expect("a number");
        for (field, value) in kept.iter().zip(&row[1..]) {
            for value in value.split(',').filter(|v| !v.is_empty()) {
                shown.entry((frame, (*field).clone())).or_default().push(normal(field, value));
            }
        }
    }
    shown
}

/// What the header of a packet says, which `decode` repeats with each message.
fn is_of_header(field: &str) -> bool {
    let last = field.rsplit('.').next().unwrap_or_default();
    // The count of challenges is the length of a list in `decode`.
    ["next_header", "payload_len", "count"].contains(&last)
}

/// Fields that are shown as hexadecimal digits.
const OCTETS: &[&str] = &["data", "info", "index", "nonce", "answer", "tag"];

/// A value as both would write it: numbers with the same digits.
fn normal(field: &str, value: &str) -> String {
    let key = field.rsplit('.').next().unwrap_or_default();
    if OCTETS.contains(&key) {
        return value.replace(':', "");
    }
    match (value, value.parse::<f64>()) {
        (_, Ok(number)) => format!("{number:.9}"),
        // Of later versions of tshark.
        ("True", _) => format!("{:.9}", 1.0),
        ("False", _) => format!("{:.9}", 0.0),
        _ => value.to_owned(),
    }
}

fn by_decode(capture: &Path, dir: &Path) -> Shown {
    let mut shown = Shown::new();
    for line in run_in(dir, &["decode", capture.to_str().expect("UTF-8")]).ok().lines() {
        let m: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let (frame, kind) = (m["frame"].as_u64().expect("a frame"), m["type"].as_str().expect("a type"));
        let protocol = format!("wayhop_{}", m["protocol"].as_str().expect("a protocol"));
        let message = match kind {
            "authentication" => "wayhop_auth.block".to_owned(),
            // Wireshark's own dissector reads these, but for their extensions.
            _ if protocol == "wayhop_aodv" => {
                for e in m["extensions"].as_array().into_iter().flatten() {
                    shown
                        .entry((frame, format!("{protocol}.type")))
                        .or_default()
                        .push("extensions".to_owned());
                    for (key, value) in e.as_object().expect("an object") {
                        values(frame, &format!("{protocol}.extensions"), key, value, &mut shown);
                    }
                }
                continue;
            }
            _ => format!("{protocol}.{kind}"),
        };
        let of_type =
            if kind == "authentication" { "wayhop_auth.type".to_owned() } else { format!("{protocol}.type") };
        let name = if kind == "authentication" { "block" } else { kind };
        shown.entry((frame, of_type)).or_default().push(name.to_owned());
        for (key, value) in m.as_object().expect("an object") {
            // The block names its transmitter by its address, where others have that of the link.
            let of_block = kind == "authentication" && key == "transmitter";
            let own = of_block || !COMMON.contains(&key.as_str());
            if own {
                values(frame, &message, key, value, &mut shown);
            }
        }
    }
    shown
}

/// A value of `decode`, flattened: of an object in a list the dissector has the keys.
fn values(frame: u64, message: &str, key: &str, value: &serde_json::Value, shown: &mut Shown) {
    use serde_json::Value;
    let text = match value {
        Value::Null => return,
        Value::Array(list) => {
            for v in list {
                match v {
                    Value::Object(o) => o.iter().for_each(|(k, v)| {
                        // The nonce of an answer is not that of the exchange.
                        let k = if key == "answers" && k == "nonce" { "answer" } else { k };
                        values(frame, message, k, v, shown);
                    }),
                    v => values(frame, message, key, v, shown),
                }
            }
            return;
        }
        Value::Bool(b) => u8::from(*b).to_string(),
        Value::String(s) => match (key, s.as_str()) {
            ("kind", "message") => "0".to_owned(),
            ("kind", "exchange") => "1".to_owned(),
            ("data" | "info", "") => return,
            (_, s) => s.to_owned(),
        },
        other => other.to_string(),
    };
    let field = format!("{message}.{key}");
    let text = normal(&field, &text);
    shown.entry((frame, field)).or_default().push(text);
}

/// No frame of the capture is malformed, and both say the same.
fn agree(capture: &Path, dir: &Path, plugin: &Path, fields: &[String]) -> Shown {
    let complaints = tshark(
        capture,
        plugin,
        &[
            "-Y",
            "_ws.malformed || _ws.expert.severity == error",
            "-e",
            "frame.number",
            "-e",
            "_ws.expert.message",
        ],
    );
    assert_eq!(complaints, Vec::<Vec<String>>::new(), "{}", capture.display());
    let shown = by_tshark(capture, plugin, fields);
    // OLSR and Babel have dissectors in Wireshark; what those say is compared in the tests of `wayhop-trace`.
    let has_own = |field: &str| ["wayhop_olsr", "wayhop_babel"].iter().any(|p| field.starts_with(p));
    let mut expected = by_decode(capture, dir);
    expected.retain(|(_, field), _| !has_own(field));
    for (key, values) in &expected {
        assert_eq!(shown.get(key), Some(values), "{key:?} in {}", capture.display());
    }
    assert_eq!(
        shown.len(),
        expected.len(),
        "{}: only tshark: {:?}",
        capture.display(),
        shown.keys().filter(|k| !expected.contains_key(k)).collect::<Vec<_>>()
    );
    shown
}

#[test]
fn a_dissector_shows_what_decode_says_of_every_capture_of_the_repository() {
    let dir = folder(&[]);
    let plugin = plugin(dir.path());
    let fields = fields(&plugin);
    assert!(fields.len() > 50, "{fields:?}");
    let top = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../captures"));
    let folders = fs::read_dir(top).expect("captures").map(|e| e.expect("an entry").path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).expect("captures"));
    let mut captures: Vec<PathBuf> = files.map(|e| e.expect("an entry").path()).collect();
    captures.retain(|f| f.extension().is_some_and(|e| e == "pcap" || e == "pcapng"));
    captures.sort();
    assert!(captures.len() >= 40, "{captures:?}");
    // One after the other in one file: each start of tshark with a plugin takes a quarter of a second.
    let all = dir.path().join("all.pcapng");
    let merged = Command::new("mergecap").args(["-a", "-w"]).arg(&all).args(&captures).status();
    assert!(merged.expect("mergecap (.ci/install test)").success());
    agree(&all, dir.path(), &plugin, &fields);
}

/// Runs the walk with captures; the dissector has to know these fields of it.
fn fresh(args: &[&str], expected: &[&str]) {
    let dir = folder(&[]);
    let plugin = plugin(dir.path());
    let fields = fields(&plugin);
    summary_of(dir.path(), &[&[data("walk.toml").as_str(), "--captures", "--out", "r"], args].concat());
    let folder = fs::read_dir(dir.path().join("r/captures")).expect("captures");
    let files: Vec<PathBuf> = folder.map(|e| e.expect("an entry").path()).collect();
    let all = crate::oracle::joined(&files, dir.path());
    let shown = agree(&all, dir.path(), &plugin, &fields);
    for field in expected {
        assert!(shown.keys().any(|(_, f)| f == field), "the run is too quiet: no {field}");
    }
}

const KEYS: &[&str] = &["--set", r#"security.keys=[{id=1,key="000102030405060708090a0b0c0d0e0f"}]"#];

#[test]
fn a_dissector_shows_what_decode_says_of_dsr_with_keys() {
    fresh(
        &[&["--protocol", "dsr"], KEYS].concat(),
        &[
            "wayhop_auth.block.tag",
            "wayhop_auth.block.challenges",
            "wayhop_auth.block.answer",
            "wayhop_dsr.rreq.addresses",
            "wayhop_dsr.source_route.segments_left",
        ],
    );
}

#[test]
fn a_dissector_shows_what_decode_says_of_dsr_with_flow_state_and_keys() {
    fresh(
        &[&["--protocol", "dsr", "--profile", "ns2"], KEYS].concat(),
        &["wayhop_dsr.flow_state.flow_id", "wayhop_auth.block.counter"],
    );
}

#[test]
fn a_dissector_shows_what_decode_says_of_the_cmu_profile() {
    fresh(
        &["--protocol", "dsr", "--profile", "cmu"],
        &["wayhop_dsr.ack.ack_source", "wayhop_dsr.ack_request.id", "wayhop_dsr.location.latitude_deg"],
    );
}

#[test]
fn a_dissector_shows_what_decode_says_of_etx_probes() {
    fresh(
        &["--protocol", "dsr", "--set", "protocol.metric=\"etx\""],
        &["wayhop_dsr.probe.heard", "wayhop_dsr.link_metrics.etx"],
    );
}

#[test]
fn a_dissector_shows_what_decode_says_of_dsdv() {
    fresh(&["--protocol", "dsdv"], &["wayhop_dsdv.update.seq"]);
    fresh(
        &[&["--protocol", "dsdv"], KEYS].concat(),
        &["wayhop_dsdv.update.seq", "wayhop_auth.block.transmitter"],
    );
}

#[test]
fn a_dissector_shows_the_blocks_of_aodv_with_keys() {
    fresh(&[&["--protocol", "aodv"], KEYS].concat(), &["wayhop_auth.block.nonce", "wayhop_auth.block.tag"]);
}
