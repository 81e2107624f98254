//! The documented ways to read a run's tables give the summary's numbers.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{Ran, folder, run_in, summary_of};

/// Hidden stations in the middle of a chain: acknowledgements get lost, so that packets arrive twice; routes break, and
/// routing packets are dropped, too; and some packets are under way at the end.
const BUSY: &str = "duration_s = 30.02\nnodes.count = 30\narea = { x_m = 1500, y_m = 300 }\n\
    movement = { kind = \"random-waypoint\", speed_max_mps = 20 }\nradio.preset = \"wavelan-914-ns2\"\n\
    [[traffic]]\nkind = \"cbr-random\"\nconnections = 12\nrate_pps = 8\nstart_max_s = 2\n\
    [[traffic]]\nkind = \"poisson\"\nsrc = 0\ndst = 9\nrate_pps = 20\n";

fn text(path: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../..", path].iter().collect();
    std::fs::read_to_string(path).expect("a page")
}

/// The blocks of Python in a page.
fn python_blocks(page: &str) -> Vec<String> {
    let blocks = page.split("```python").skip(1).filter_map(|b| b.split_once('\n'));
    blocks.filter_map(|(_, b)| b.split("```").next()).map(str::to_owned).collect()
}

fn run_python(python: &Path, script: &str, args: &[&str], dir: &Path) -> String {
    std::fs::write(dir.join("script.py"), script).expect("written");
    let mut command = Command::new(python);
    command.arg("script.py").args(args).current_dir(dir).env("PYTHONPATH", dir);
    Ran::of(&command.output().expect("Python")).ok()
}

#[test]
fn the_examples_for_polars_and_pandas_give_the_summarys_numbers() {
    let python = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../target/python/bin/python3"));
    if !python.is_file() {
        assert!(std::env::var_os("CI").is_none(), "polars and pandas are missing: run .ci/install fixtures");
        return;
    }
    let dir = folder(&[("s.toml", BUSY)]);
    let n = |v: &Value| v.as_f64().expect("a number");
    // A run in which all that makes rows and packets differ happens: copies arrive, routing packets and copies are dropped, and
    // some packets are under way at the end.
    let totals = (1..=40).find_map(|seed| {
        let args = ["s.toml", "--out", "DIR", "--seed", &seed.to_string()];
        let totals = summary_of(dir.path(), &args)["totals"].clone();
        let rows = run_in(dir.path(), &["export", "csv", "DIR", "packets"]).ok();
        let count = |event: &str| rows.lines().filter(|l| l.split(',').nth(2) == Some(event)).count() as f64;
        let differ = count("deliver") > n(&totals["received"]) && count("drop") > n(&totals["dropped"]);
        (differ && n(&totals["dropped"]) > 0.0 && n(&totals["held"]) > 0.0).then_some(totals)
    });
    let totals = totals.expect("one of 40 seeds");

    let examples = python_blocks(&text("docs/reference/run-directory.md"));
    let told = [
        "import json\nprint(json.dumps([dict(fates.rows()), {k: v for k, v in causes.rows() if k}, mean_ms]))\n",
        "import json\nprint(json.dumps([fates.to_dict(), causes.to_dict(), mean_ms]))\n",
    ];
    assert_eq!(examples.len(), told.len(), "polars and pandas");
    for (example, told) in examples.iter().zip(told) {
        let found = run_python(&python, &format!("{example}\n{told}"), &[], dir.path());
        let found: Value = serde_json::from_str(&found).expect("JSON");
        for (outcome, total) in [("delivered", "received"), ("dropped", "dropped"), ("held", "held")] {
            assert_eq!(found[0][outcome], totals[total], "{outcome}\n{example}");
        }
        assert_eq!(found[1], totals["drops"], "{example}");
        let mean_ms = n(&totals["latency_ms"]["mean"]);
        assert!((n(&found[2]) - mean_ms).abs() < 1e-3, "{} and {mean_ms} ms\n{example}", found[2]);
    }
}

/// The rows of a table, each as a map from the heads.
fn table(dir: &Path, name: &str) -> Vec<std::collections::HashMap<String, String>> {
    let text = run_in(dir, &["export", "csv", "DIR", name]).ok();
    let mut lines = text.lines();
    let heads: Vec<String> = lines.next().expect("heads").split(',').map(str::to_owned).collect();
    lines.map(|l| heads.iter().cloned().zip(l.split(',').map(str::to_owned)).collect()).collect()
}

#[test]
fn loads_are_what_the_tables_give() {
    const PAYLOAD: u64 = 100;
    let text = BUSY.replace("rate_pps", &format!("payload_bytes = {PAYLOAD}\nrate_pps"));
    for protocol in ["dsr", "aodv", "dsdv"] {
        let dir = folder(&[("s.toml", &text)]);
        let name = format!("protocol.name={protocol}");
        let totals = summary_of(dir.path(), &["s.toml", "--out", "DIR", "--set", &name])["totals"].clone();
        let n = |v: &str| v.parse::<u64>().expect("a number");
        let packets = table(dir.path(), "packets");
        // A node hands a packet to its interface: it made it, or forwards it.
        let handed = || packets.iter().filter(|r| r["event"] == "send" || r["event"] == "forward");
        let routing: Vec<u64> =
            handed().filter(|r| !r["protocol"].is_empty()).map(|r| n(&r["bytes"])).collect();
        let data: Vec<u64> = handed().filter(|r| !r["flow"].is_empty()).map(|r| n(&r["bytes"])).collect();
        let delivered: std::collections::HashSet<_> =
            packets.iter().filter(|r| r["event"] == "deliver").map(|r| (&r["flow"], &r["seq"])).collect();
        let count = |of: &[&str]| -> u64 {
            let counters = table(dir.path(), "counters");
            let ours = counters.iter().filter(|r| r["layer"] == "mac" && of.contains(&r["name"].as_str()));
            ours.map(|r| n(&r["value"])).sum()
        };
        let transmitted: Vec<_> = packets.iter().filter(|r| r["event"] == "transmit").collect();
        let routing_frames = transmitted.iter().filter(|r| !r["protocol"].is_empty()).count() as u64;
        // What is neither a routing nor a data packet is address resolution.
        let resolution = count(&["data", "broadcast"]) - transmitted.len() as u64;
        let packets_received = delivered.len() as f64;
        let octets_received = packets_received * PAYLOAD as f64;
        let sum = |of: &[u64]| of.iter().sum::<u64>();
        let payload = data.len() as u64 * PAYLOAD;
        // 20 octets of IP and 8 of UDP.
        let source_routes = sum(&data) - payload - data.len() as u64 * 28;
        assert_eq!(source_routes > 0, protocol == "dsr");
        let control = count(&["rts", "cts", "ack"]) + routing_frames + resolution;
        let per = |part: u64, whole: f64| part as f64 / whole;
        for (key, expected) in [
            ("/received_bytes", octets_received),
            ("/overhead_frames/resolution", resolution as f64),
            ("/normalised_routing_load", per(routing.len() as u64, packets_received)),
            ("/routing_bytes_per_byte", per(sum(&routing) + source_routes, octets_received)),
            ("/normalised_mac_load", per(control, packets_received)),
            ("/rfc2501/data_bits_per_bit", per(payload, octets_received)),
            ("/rfc2501/control_bits_per_bit", per(sum(&routing) + sum(&data) - payload, octets_received)),
            ("/rfc2501/packets_per_packet", per((routing.len() + data.len()) as u64, packets_received)),
        ] {
            let ours =
                totals.pointer(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("{key}: {totals}"));
            assert!(
                (ours - expected).abs() <= 1e-12 * expected,
                "{protocol} {key}: {ours}, of the tables {expected}"
            );
        }
    }
}

#[test]
fn the_tutorials_plot_shows_the_share_that_arrived() {
    let dir = folder(&[("s.toml", BUSY)]);
    let totals = summary_of(dir.path(), &["s.toml", "--out", "run"])["totals"].clone();
    let table = run_in(dir.path(), &["export", "csv", "run", "packets"]).ok();
    std::fs::write(dir.path().join("packets.csv"), table).expect("written");
    // Instead of matplotlib, something that says what is drawn.
    let stub = "def semilogx(x, y, **_): print(len(x), max(y))\ndef __getattr__(name): return lambda *a, **k: None\n";
    std::fs::create_dir(dir.path().join("matplotlib")).expect("made");
    std::fs::write(dir.path().join("matplotlib/__init__.py"), "").expect("written");
    std::fs::write(dir.path().join("matplotlib/pyplot.py"), stub).expect("written");
    let script = &python_blocks(&text("docs/tutorials/figure-for-a-paper.md"))[0];
    let drawn = run_python(Path::new("python3"), script, &["packets.csv"], dir.path());
    let mut drawn = drawn.split_whitespace();
    assert_eq!(drawn.next(), Some(totals["received"].to_string().as_str()));
    let share: f64 = drawn.next().expect("a share").parse().expect("a number");
    assert!(
        (share - 100.0 * totals["delivery_ratio"].as_f64().expect("sent")).abs() < 1e-9,
        "{share}: {totals}"
    );
}
