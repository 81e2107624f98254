//! `wayhop doctor` on whatever machine the tests run.

use std::path::Path;

use serde_json::Value;

use crate::run_in;
use crate::schemas::check;

#[test]
fn simulation_works_everywhere() {
    assert!(run_in(Path::new("."), &["doctor", "sim"]).ok().starts_with("sim: works here\n"));
}

#[test]
fn the_exit_status_is_the_verdict_and_whatever_is_missing_has_a_remedy() {
    for world in ["emulate", "lab", "node", "tools"] {
        let ran = run_in(Path::new("."), &["doctor", world, "--json"]);
        check("doctor", &ran.out);
        let json: Value = serde_json::from_str(&ran.out).expect("JSON");
        let verdict = &json["worlds"][world];
        assert_eq!(ran.status, Some(i32::from(verdict["works"] != true)), "{json}");
        let checks = verdict["checks"].as_array().expect("checks");
        assert!(
            checks.iter().all(|c| c["there"] == true || c["remedy"].as_str().is_some_and(|r| !r.is_empty()))
        );
        let is_missing = checks.iter().any(|c| c["needed"] == true && c["there"] == false);
        assert_eq!(verdict["works"], !is_missing);
    }
}

#[test]
fn the_tools_for_video_are_among_those_that_are_looked_for() {
    let json: Value =
        serde_json::from_str(&run_in(Path::new("."), &["doctor", "tools", "--json"]).out).expect("JSON");
    let checks = json["worlds"]["tools"]["checks"].as_array().expect("checks");
    for tool in ["ffmpeg", "socat"] {
        let check = checks.iter().find(|c| c["what"] == tool).unwrap_or_else(|| panic!("no {tool}"));
        let remedy = check["remedy"].as_str().unwrap_or_default();
        assert!(check["there"] == true || remedy.contains(&format!("apt-get install {tool}")), "{check}");
    }
}

#[test]
fn without_a_world_all_are_shown() {
    let text = run_in(Path::new("."), &["doctor"]).ok();
    for world in ["sim:", "emulate:", "lab:", "node:", "tools:"] {
        assert!(text.lines().any(|l| l.starts_with(world)), "{text}");
    }
}
