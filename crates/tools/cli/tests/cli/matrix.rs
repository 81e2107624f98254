//! `wayhop matrix`: its output and its errors.

use serde_json::Value;

use crate::schemas::check;
use crate::{data, folder, run_in};

const STAR: &str = "duration_s = 2\nnodes.count = 3\nmovement = { kind = \"chain\", spacing_m = 100 }\n";

#[test]
fn settings_of_a_scenario_and_of_random_layouts() {
    let dir = folder(&[("star.toml", STAR)]);
    let text = run_in(dir.path(), &["matrix", "solve", "star.toml", "--buses", "2", "--json"]).ok();
    check("matrix-solve", &text);
    let one: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(one["settings_db"].as_array().unwrap().len(), 3);
    assert!(one["mean_error_db"].as_f64().unwrap() < 0.5 && one["false_links"] == 0, "{one}");
    let args = "matrix solve --random-layouts 2 --radios 5 --buses 3 --area 500 --follow 2 --anneal --json";
    let text = run_in(dir.path(), &args.split(' ').collect::<Vec<_>>()).ok();
    check("matrix-solve", &text);
    let two: Value = serde_json::from_str(&text).unwrap();
    assert!(two["settings_db"].is_null() && two["layouts"] == 2 && two["follow"]["seconds"] == 2, "{two}");
    let words = run_in(dir.path(), &["matrix", "solve", "star.toml", "--buses", "2"]).ok();
    assert!(words.contains("3 radios, 2 buses") && words.contains("bus 1, dB"), "{words}");
}

#[test]
fn two_switches_take_more_radios_than_one_has_inputs() {
    let dir = folder(&[("star.toml", STAR)]);
    let args = ["matrix", "solve", "star.toml", "--switches", "2x3,3x2", "--joined", "1"];
    let text = run_in(dir.path(), &[&args[..], &["--json"]].concat()).ok();
    check("matrix-solve", &text);
    let one: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(one["inputs"], serde_json::json!(["0", "1", "bus 0", "2"]));
    let widths: Vec<_> =
        one["settings_db"].as_array().unwrap().iter().map(|r| r.as_array().unwrap().len()).collect();
    assert_eq!(widths, [3, 3, 2, 2]);
    assert!(one["mean_error_db"].as_f64().unwrap() < 0.5 && one["false_links"] == 0, "{one}");
    let words = run_in(dir.path(), &args).ok();
    assert!(words.contains("two switches, 1 of 3 buses joined") && words.contains("bus 0 "), "{words}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_scenario_is_driven_second_by_second_and_logged() {
    let dir = folder(&[("star.toml", STAR)]);
    let args = ["matrix", "drive", "star.toml", "--buses", "2", "--json", "--out", "log"];
    let text = run_in(dir.path(), &args).ok();
    check("matrix-drive", &text);
    // At 0, 1 and 2 s; a busy machine may miss a second.
    let seconds: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let times: Vec<u64> = seconds.iter().map(|s| s["time_s"].as_u64().unwrap()).collect();
    // Free of the solver: nodes 100 m apart ask for the same, twice.
    let wanted: Vec<f64> = serde_json::from_value(seconds[0]["wanted_db"].clone()).unwrap();
    assert!(wanted.len() == 3 && wanted[0] == wanted[2] && wanted[1] > wanted[0] + 6.0, "{wanted:?}");
    assert_eq!(seconds[0]["made_db"].as_array().unwrap().len(), 3);
    assert_eq!(seconds[0]["inputs"], serde_json::json!(["0", "1", "2"]));
    assert!(times[0] == 0 && times.is_sorted() && times.iter().all(|t| *t <= 2), "{text}");
    assert_eq!(std::fs::read_to_string(dir.path().join("log/matrix.jsonl")).unwrap(), text);
    let feed = "{\"nodes\": [{\"node\": 1, \"x\": 100, \"y\": 0}]}\n<positions/>\nnonsense\n";
    std::fs::write(dir.path().join("feed.txt"), feed).unwrap();
    let ran = run_in(
        dir.path(),
        &["matrix", "drive", "--feed", "feed.txt", "--radios", "2", "--buses", "1", "--json"],
    );
    assert!(ran.err.contains("feed.txt:3:") && ran.err.contains("<positions>"), "{}", ran.err);
    check("matrix-drive", &ran.out);
    assert!(ran.out.contains("[100.0,0.0,0.0]"), "{}", ran.out);
}

#[test]
fn ports_are_calibrated_from_measurements() {
    // IL of 20, 25 and 30 dB, all attenuators of one bus at 10 dB.
    let dir = folder(&[("m.csv", "# i,j,dB\n0,1,65\n0, 2, 70\n1,2,75\n"), ("star.toml", STAR)]);
    let args = ["matrix", "calibrate", "m.csv", "--radios", "3", "--buses", "1", "--setting", "10"];
    let json = run_in(dir.path(), &args).ok();
    let ports: Value = serde_json::from_str(&json).unwrap();
    for (port, truth) in ports["insertion_db"].as_array().unwrap().iter().zip([20.0, 25.0, 30.0]) {
        assert!((port.as_f64().unwrap() - truth).abs() < 1e-4, "{ports}");
    }
    std::fs::write(dir.path().join("c.json"), &json).unwrap();
    run_in(dir.path(), &["matrix", "solve", "star.toml", "--calibration", "c.json"]).ok();
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let dir =
        folder(&[("star.toml", STAR), ("m.csv", "0,1,65\n0,2\n"), ("c.json", "{\"insertion_db\": [1]}")]);
    let two_radios = data("walk.toml");
    for (args, told) in [
        ("solve", "no scenario"),
        ("solve star.toml --step 0", "steps of 0.05 to 10 dB"),
        ("solve star.toml --buses 0", "from 1 to 64"),
        ("solve star.toml --at -1", "from 0 to 1e9 s"),
        ("solve star.toml --calibration c.json", "c.json: 1 insertion losses for 3 inputs"),
        ("solve star.toml --switches 2x4", "give two, such as 16x4,8x2"),
        ("solve star.toml --switches 2x4,ax2", "such as 16x4"),
        ("solve star.toml --switches 2x4,2x2", "inputs for 2"),
        ("solve star.toml --switches 2x4,3x2 --buses 4", "--buses"),
        ("calibrate m.csv --radios 3 --switches 2x4,3x2", "calibrate each one"),
        ("solve --random-layouts 3", "--radios"),
        ("calibrate m.csv --radios 3 --buses 1", "m.csv:2:"),
        ("calibrate m.csv --radios 3 --setting 0.5", "do not have this setting"),
        #[cfg(target_os = "linux")]
        ("drive", "--run NAME or --feed FILE"),
        #[cfg(target_os = "linux")]
        ("drive star.toml --box nowhere", "HOST:PORT"),
        #[cfg(target_os = "linux")]
        ("drive star.toml --box 127.0.0.1:1", "127.0.0.1:1"),
        #[cfg(target_os = "linux")]
        ("drive --run nobody", "nobody"),
    ] {
        let all: Vec<&str> = ["matrix"].into_iter().chain(args.split(' ')).collect();
        let ran = run_in(dir.path(), &all);
        assert!(ran.status == Some(2) || ran.status == Some(1), "{args}: {:?}", ran.status);
        assert!(ran.err.contains(told), "{args}: {}", ran.err);
    }
    let many = run_in(dir.path(), &["matrix", "solve", &two_radios, "--at", "3"]);
    assert_eq!(many.status, Some(0), "{}", many.err);
}
