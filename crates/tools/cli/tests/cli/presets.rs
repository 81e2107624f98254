//! `wayhop presets`.

use serde_json::Value;

use crate::{folder, run_in, schemas};

fn json(args: &[&str]) -> Value {
    let dir = folder(&[]);
    let text = run_in(dir.path(), &[&["presets"], args, &["--json"]].concat()).ok();
    schemas::check("presets", &text);
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn all_presets_are_listed_each_in_a_line() {
    let dir = folder(&[]);
    let text = run_in(dir.path(), &["presets"]).ok();
    let all = json(&[]);
    let names: Vec<&str> = all["presets"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|p| p["name"].as_str().expect("a name"))
        .collect();
    for name in ["wavelan-914-cmu", "80211g", "dsr/rfc", "dsr/cmu", "aodv/das", "dsdv/ns2", "tcp/ns2"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for name in names.iter().chain(&["cmu", "holland-vaidya"]) {
        let line =
            text.lines().find(|l| l.starts_with(&format!("  {name} "))).unwrap_or_else(|| panic!("{name}"));
        assert!(line.len() > name.len() + 6, "no word on {name}");
    }
}

#[test]
fn what_is_printed_of_one_is_taken_as_a_scenario() {
    let head = "duration_s = 2\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 100 }\n";
    for (args, section, key, value) in [
        (&["80211g"], "radio", "radio.data_rate_mbps", "24.0"),
        (&["80211G"], "radio", "radio.data_rate_mbps", "24.0"),
        (&["dsr"], "protocol", "protocol.profile", "\"rfc\""),
        (&["das"], "protocol", "protocol.name", "\"aodv\""),
        (&["tcp/ns2"], "traffic", "traffic.0.payload_bytes", "1000"),
    ] {
        let dir = folder(&[]);
        let pasted = run_in(dir.path(), &["presets", args[0]]).ok();
        std::fs::write(dir.path().join("s.toml"), format!("{head}{pasted}")).expect("a file");
        let text = run_in(dir.path(), &["run", "s.toml", "--check", "--json"]).ok();
        let check: Value = serde_json::from_str(&text).expect("JSON");
        let values = check["values"].as_array().expect("values");
        let found = values.iter().find(|v| v["key"] == key).expect("the key");
        assert_eq!(found["value"].to_string(), value, "{key}");
        let preset = json(args);
        for (key, value) in preset["presets"][0]["values"].as_object().expect("values") {
            let full =
                if section == "traffic" { format!("traffic.0.{key}") } else { format!("{section}.{key}") };
            let found = values.iter().find(|v| v["key"] == *full).unwrap_or_else(|| panic!("{full}"));
            assert_eq!(found["value"], *value, "{full}");
        }
    }
}

#[test]
fn a_wrong_name_is_met_with_the_one_that_was_meant() {
    let dir = folder(&[]);
    let failure = |name: &str| run_in(dir.path(), &["presets", name]).failure(2);
    assert_eq!(failure("80211q"), "wayhop: no preset \"80211q\"; did you mean 80211b?\n");
    assert_eq!(failure("dsr/ns"), "wayhop: no preset \"dsr/ns\"; did you mean dsr/ns2?\n");
    assert_eq!(
        failure("ns2"),
        "wayhop: \"ns2\" is ambiguous: give one of dsr/ns2, aodv/ns2, dsdv/ns2, tcp/ns2\n"
    );
    assert!(failure("pran").contains("wayhop reproduce pran"));
    assert_eq!(
        failure("zzzzzzzzzzzzzzzzzzzz"),
        "wayhop: no preset \"zzzzzzzzzzzzzzzzzzzz\"; list them with: wayhop presets\n"
    );
}
