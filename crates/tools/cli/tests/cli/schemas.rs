//! Output of the commands against `docs/reference/schemas`. Tests of single commands, in their own files, check what they have
//! with [`check`] as well.

use std::fs;
use std::path::PathBuf;

use jsonschema::Validator;
use serde_json::Value;

use crate::{folder, run_in, summary_of, words};

fn pages() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../../docs/reference/schemas"].iter().collect()
}

fn page(name: &str) -> Value {
    let path = pages().join(format!("{name}.schema.json"));
    let text = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).expect("JSON")
}

/// The validator of a schema. Others that it refers to lie beside it.
fn validator(name: &str) -> Validator {
    let others =
        ["summary", "replay"].map(|other| (format!("json-schema:///{other}.schema.json"), page(other)));
    let registry = jsonschema::Registry::new().extend(others).expect("schemas").prepare().expect("schemas");
    jsonschema::options()
        .with_registry(&registry)
        .with_base_uri("json-schema:///")
        .should_validate_formats(true)
        .build(&page(name))
        .expect("a schema")
}

/// Fails unless each line is an object that begins with `wayhop` and that the schema allows, and unless the schema forbids the
/// same object without its version, and with a key of another name.
pub(crate) fn check(name: &str, lines: &str) {
    let validator = validator(name);
    let is_open = page(name)["additionalProperties"] != false && page(name).get("oneOf").is_none();
    assert!(!lines.trim().is_empty(), "{name}: nothing to check");
    for line in lines.lines() {
        let version = concat!("{\"wayhop\":\"", env!("CARGO_PKG_VERSION"), "+");
        assert!(line.starts_with(version), "{name}: {line}");
        let object: Value = serde_json::from_str(line).expect("JSON");
        let undefined = undefined_as_text(&object);
        assert!(undefined.is_empty(), "{name}: text in place of null: {undefined:?}");
        let errors: Vec<String> =
            validator.iter_errors(&object).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}\n{object:#}");
        let mut nameless = object.clone();
        nameless.as_object_mut().expect("an object").remove("wayhop");
        assert!(!validator.is_valid(&nameless), "{name} allows an object without a version");
        let mut other = object;
        other["delivered_pct"] = 99.0.into();
        assert_eq!(validator.is_valid(&other), is_open, "{name}: a key that nobody writes");
    }
}

/// The JSON pointers of numbers that are not defined and say so in words (NaN, inf): null does.
pub(crate) fn undefined_as_text(value: &Value) -> Vec<String> {
    match value {
        Value::String(s) => {
            if s.parse::<f64>().is_ok_and(|v| !v.is_finite()) {
                vec![String::new()]
            } else {
                vec![]
            }
        }
        Value::Array(all) => all.iter().enumerate().flat_map(|(i, v)| beneath(&i.to_string(), v)).collect(),
        Value::Object(all) => all.iter().flat_map(|(key, v)| beneath(key, v)).collect(),
        _ => vec![],
    }
}

fn beneath(key: &str, value: &Value) -> Vec<String> {
    undefined_as_text(value).into_iter().map(|rest| format!("/{key}{rest}")).collect()
}

/// The same of a file that holds one object.
fn check_file(name: &str, dir: &std::path::Path, file: &str) {
    let text = fs::read_to_string(dir.join(file)).expect("a file");
    // Over several lines, with spaces.
    let first = text.trim_start_matches('{').trim_start();
    assert!(first.starts_with("\"wayhop\""), "{file}: {text}");
    let object: Value = serde_json::from_str(&text).expect("JSON");
    let version = object["wayhop"].as_str().expect("a version");
    let mut keys = object.as_object().expect("an object").clone();
    keys.remove("wayhop");
    let rest = Value::Object(keys).to_string();
    check(name, &format!("{{\"wayhop\":\"{version}\",{}", &rest[1..]));
}

/// A node's report: it has a version of its own, which a datagram carries, too.
pub(crate) fn check_report(line: &str) {
    let validator = validator("report");
    let mut report: Value = serde_json::from_str(line).expect("JSON");
    validator.validate(&report).expect("a report");
    report["wayhop_report"] = 2.into();
    assert!(!validator.is_valid(&report), "a report of another version");
}

/// Flows of all kinds that have figures of their own, one that delivers nothing, a battery and a node that goes down.
const ALL_KINDS: &str = r#"
duration_s = 20
nodes.count = 4
movement = { kind = "chain", spacing_m = 200 }
[[traffic]]
kind = "cbr"
src = 0
dst = 2
start_s = 1
[[traffic]]
kind = "ping"
src = 0
dst = 1
start_s = 1
[[traffic]]
kind = "tcp"
src = 1
dst = 2
bytes = 20000
start_s = 1
[[traffic]]
kind = "cbr"
src = 0
dst = 3
start_s = 11
[[outages]]
node = 3
start_s = 10
length_s = 10
"#;

#[test]
fn every_schema_is_one_and_some_test_checks_output_against_it() {
    let folders = ["tests/cli", "tests/real"].map(|f| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(f));
    let files = folders.iter().flat_map(|f| fs::read_dir(f).expect("the tests"));
    let files = files.map(|e| e.expect("an entry").path()).filter(|p| p.is_file());
    let tests: String = files.map(|p| fs::read_to_string(p).expect("a file")).collect();
    let mut names = Vec::new();
    for entry in fs::read_dir(pages()).expect("schemas") {
        let file = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        let name = file.strip_suffix(".schema.json").expect("a schema's name");
        let schema = page(name);
        assert!(jsonschema::meta::is_valid(&schema), "{file}");
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{file}");
        names.push(name.to_owned());
    }
    let is_checked = |n: &&String| {
        tests.contains(&format!("check(\"{n}\""))
            || tests.contains(&format!("check_file(\"{n}\""))
            || tests.contains(&format!("validator(\"{n}\")"))
            || tests.contains(&format!("/schemas/{n}.schema.json\")"))
    };
    let unchecked: Vec<&String> = names.iter().filter(|n| !is_checked(n)).collect();
    assert!(unchecked.is_empty() && names.len() > 20, "{unchecked:?} of {names:?}");
}

#[test]
fn a_run_and_its_files() {
    let dir = folder(&[("s.toml", ALL_KINDS), ("c.csv", "hops,bps\n1,1000000\n")]);
    let args = words("run s.toml --out r --json --quiet --topology --chains c.csv --record-inputs");
    let text = run_in(dir.path(), &args).ok();
    check("summary", &text);
    let told: Value = serde_json::from_str(&text).expect("JSON");
    // What the schema allows to be missing or null is there once, and is missing or null once.
    assert!(told["flows"][0]["latency_ms"].is_object() && told["flows"][3]["latency_ms"].is_null(), "{told}");
    assert!(told["flows"][2]["tcp"].is_object() && told["outages"][0]["down_s"] == 10.0, "{told}");
    check_file("summary", dir.path(), "r/summary.json");
    check_file("manifest", dir.path(), "r/manifest.json");
    let log = fs::read_to_string(dir.path().join("r/inputs/0.jsonl")).expect("a log");
    check("inputs", log.lines().next().expect("a header"));
    let validator = validator("inputs");
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert!(validator.is_valid(&line), "{line}");
    }
    assert!(!validator.is_valid(&serde_json::json!({"at": 0, "id": 0})), "an input without an input");
}

#[test]
fn a_run_without_flows_has_null_figures() {
    let dir = folder(&[(
        "s.toml",
        "duration_s = 2\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 200 }\n",
    )]);
    let text = run_in(dir.path(), &["run", "s.toml", "--no-out", "--json", "--quiet"]).ok();
    check("summary", &text);
    let told: Value = serde_json::from_str(&text).expect("JSON");
    assert!(told["totals"]["delivery_ratio"].is_null() && told["totals"]["latency_ms"].is_null(), "{told}");
}

#[test]
fn comparisons_geometry_and_messages() {
    let dir = folder(&[("s.toml", ALL_KINDS), ("c.csv", "hops,bps\n1,1000000\n")]);
    for (seed, out) in [("1", "a/1"), ("2", "a/2"), ("1", "b/1"), ("2", "b/2")] {
        let protocol = if out.starts_with('a') { "dsr" } else { "aodv" };
        summary_of(
            dir.path(),
            &["s.toml", "--seed", seed, "--protocol", protocol, "--out", out, "--captures"],
        );
    }
    check("compare", &run_in(dir.path(), &["compare", "a", "b", "--json"]).ok());
    for args in [&["--json"][..], &["--json", "--chains", "c.csv"], &["--json", "--src", "0", "--dst", "3"]] {
        check("topology", &run_in(dir.path(), &[&["topology", "s.toml"], args].concat()).ok());
    }
    for run in ["a/1", "b/1"] {
        check("decode", &run_in(dir.path(), &["decode", &format!("{run}/captures/0.pcapng")]).ok());
    }
}

#[test]
fn a_sweep_and_its_files() {
    let plan = "scenario = \"s.toml\"\nseeds = { count = 2 }\n\
                [[axis]]\nname = \"protocol\"\nkey = \"protocol.name\"\nvalues = [\"dsr\", \"aodv\"]\n";
    let dir = folder(&[("s.toml", ALL_KINDS), ("plan.toml", plan)]);
    check("sweep", &run_in(dir.path(), &["sweep", "plan.toml", "--json", "--out", "o"]).ok());
    check("sweep-run", &fs::read_to_string(dir.path().join("o/runs.jsonl")).expect("lines"));
    check_file("sweep-plan", dir.path(), "o/sweep.json");
    // A name that the figure has had elsewhere.
    let old = format!("metrics = [\"totals.delivered_pct\"]\n{plan}");
    fs::write(dir.path().join("plan.toml"), old).expect("written");
    let message = run_in(dir.path(), &["sweep", "plan.toml", "--out", "p"]).failure(2);
    assert!(message.contains("did you mean \"totals.delivery_ratio\"?"), "{message}");
}

#[test]
fn every_figure_that_compare_takes_from_summaries_has_the_summarys_name() {
    let dir = folder(&[("s.toml", ALL_KINDS)]);
    let summary = summary_of(dir.path(), &["s.toml", "--out", "r"]);
    let told = run_in(dir.path(), &["compare", "r", "r", "--json"]).json();
    let at = |from: &Value, way: &str| way.split('.').fold(from.clone(), |v, part| v[part].clone());
    let mut found = 0;
    for row in told["rows"].as_array().expect("rows") {
        let (about, quantity) =
            (row["about"].as_str().expect("words"), row["quantity"].as_str().expect("a name"));
        let from = match about.split(' ').collect::<Vec<_>>()[..] {
            ["flow", id, ..] => summary["flows"][id.parse::<usize>().expect("a number")].clone(),
            ["searches" | "clock"] => continue,
            _ => summary["totals"].clone(),
        };
        if quantity == "first_search_ms" {
            continue;
        }
        assert_eq!(row["values"][0]["mean"].as_f64(), at(&from, quantity).as_f64(), "{about}: {quantity}");
        found += 1;
    }
    assert!(found > 20, "{told}");
}
