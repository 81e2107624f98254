//! `wayhop diff`: two captures of one run, and user errors.

use crate::schemas::check;
use crate::{folder, run_in};

/// Two nodes that part: 100 m between them at first, out of range from the twentieth second on.
const PARTING: &str = r#"
duration_s = 40
nodes.count = 2
protocol = { name = "dsr" }
captures.all = true
[movement]
kind = "ns2"
path = "m.tcl"
[[traffic]]
kind = "cbr"
src = 0
dst = 1
rate_pps = 10
payload_bytes = 64
start_s = 1
"#;

const MOVEMENT: &str = "\
$node_(0) set X_ 0.0
$node_(0) set Y_ 10.0
$node_(1) set X_ 100.0
$node_(1) set Y_ 10.0
$ns_ at 10.0 \"$node_(1) setdest 1000.0 10.0 45.0\"
";

#[test]
fn the_losses_of_a_run_are_found_with_their_place() {
    let dir = folder(&[("parting.toml", PARTING), ("m.tcl", MOVEMENT)]);
    run_in(dir.path(), &["run", "parting.toml", "--out", "r", "--quiet"]).ok();
    let args =
        ["diff", "r/captures/0.pcapng", "r/captures/1.pcapng", "--window", "1", "--positions", "r", "--json"];
    let told = run_in(dir.path(), &args).ok();
    check("diff", &told);
    let v: serde_json::Value = serde_json::from_str(&told).expect("one JSON object");
    assert!(v["lost"].as_u64().unwrap() > 0 && v["received"].as_u64().unwrap() > 80, "{v}");
    assert_eq!(v["sent"], v["lost"].as_u64().unwrap() + v["received"].as_u64().unwrap());
    let burst = &v["bursts"][0];
    assert_eq!(burst["sender"]["x_m"], 0.0);
    // The receiver leaves the 250 m of the radio's range.
    assert!(burst["receiver"]["x_m"].as_f64().unwrap() > 240.0, "{burst}");
    let text = run_in(dir.path(), &["diff", "r/captures/0.pcapng", "r/captures/1.pcapng"]).ok();
    assert!(
        text.starts_with(&format!("sent {}, received {}, lost {} (", v["sent"], v["received"], v["lost"]))
    );
}

#[test]
fn what_cannot_be_compared_is_said_with_the_remedy() {
    let dir = folder(&[("parting.toml", PARTING), ("m.tcl", MOVEMENT), ("text", "no capture at all")]);
    run_in(dir.path(), &["run", "parting.toml", "--duration", "2", "--out", "r", "--quiet"]).ok();
    let (a, b) = ("r/captures/0.pcapng", "r/captures/1.pcapng");
    for (args, message) in [
        (vec!["diff", "none.pcapng", b], "cannot read none.pcapng"),
        (vec!["diff", a, "text"], "text: at byte 4: neither a pcap nor a pcapng file"),
        (vec!["diff", a, b, "--sender", "me"], "--sender me: give a MAC address"),
        (vec!["diff", a, b, "--sender", "10.0.0.9"], "contains no frames sent by 10.0.0.9"),
        (vec!["diff", a, a], "is given twice; give the receiver's capture as the second"),
        (vec!["diff", a, b, "--window", "0"], "give a number of seconds above zero"),
        (vec!["diff", a, b, "--threshold", "200"], "give a number from 0 to 100"),
        (vec!["diff", a, b, "--positions", "nowhere"], "nowhere"),
    ] {
        let e = run_in(dir.path(), &args).failure(2);
        assert!(e.contains(message), "{args:?}: {e}");
    }
    std::fs::copy(dir.path().join(a), dir.path().join("other.pcapng")).expect("a copy");
    let e = run_in(dir.path(), &["diff", "other.pcapng", b, "--positions", "r"]).failure(2);
    assert!(e.contains("the run in r has no node `other`"), "{e}");
    let silent = ["--set", "traffic=[]", "--duration", "2", "--out", "s", "--quiet"];
    run_in(dir.path(), &[&["run", "parting.toml"][..], &silent].concat()).ok();
    let e = run_in(dir.path(), &["diff", "s/captures/0.pcapng", b]).failure(2);
    assert!(e.contains("contains no frames sent to a receiver"), "{e}");
}
