//! What is printed where, and exit statuses.

use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;

use crate::{data, folder, run_in, wayhop};

#[test]
fn json_is_alone_on_standard_output() {
    let dir = folder(&[]);
    let ran = run_in(dir.path(), &["run", &data("walk.toml"), "--json", "--duration", "3"]);
    assert_eq!(ran.out.lines().count(), 1);
    let summary: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let stored = std::fs::read(dir.path().join("runs/walk-dsr-1/summary.json")).expect("a summary");
    assert_eq!(summary, serde_json::from_slice::<serde_json::Value>(&stored).expect("JSON"));
    assert_eq!(summary["simulated_s"], 3.0);
    for key in [
        "wayhop",
        "scenario",
        "seed",
        "world",
        "protocol",
        "wall_s",
        "events",
        "trace_hash",
        "flows",
        "totals",
    ] {
        assert!(!summary[key].is_null(), "{key}");
    }
}

#[test]
fn quiet_prints_nothing_at_all() {
    let dir = folder(&[]);
    let ran = run_in(dir.path(), &["run", &data("walk.toml"), "--quiet", "--duration", "3"]);
    assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
}

#[test]
fn the_table_names_flows_totals_and_the_place_of_the_files() {
    let dir = folder(&[]);
    let table = run_in(dir.path(), &["run", &data("walk.toml"), "--out", "here"]).ok();
    for word in [
        "walk  dsr  sim  seed 1",
        "\ndelivered  ",
        "\nlatency    ",
        "\nrouting    ",
        "\nspeed      20.0 s simulated",
    ] {
        assert!(table.contains(word), "{word}: {table}");
    }
    assert!(table.ends_with("saved in   here\n"), "{table}");
    assert!(table.lines().all(|l| l.len() <= 100), "{table}");
    assert!(!table.contains('\u{1b}'), "no colours in a file");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let dir = folder(&[]);
    run_in(dir.path(), &["run", &data("walk.toml"), "--captures", "--out", "r", "--quiet"]).ok();
    for args in [
        &["export", "csv", "r", "packets"][..],
        &["decode", "r/captures/1.pcapng"],
        &["run", &data("walk.toml"), "--no-out"],
        &["export", "ns2", &data("walk.toml")],
        &["completions", "bash"],
    ] {
        let mut child = wayhop()
            .args(args)
            .current_dir(dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        // Closed before a word is read, as by `| true`.
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("text");
        assert_eq!((child.wait().expect("an end").code(), err.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn an_output_that_is_full_is_a_failed_run() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let output = wayhop()
        .args(["run", &data("walk.toml"), "--no-out", "--json", "--quiet", "--duration", "1"])
        .stdout(full)
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.starts_with("wayhop: cannot write to standard output: No space left"), "{err}");
}

#[test]
fn without_arguments_the_help_says_how_to_begin() {
    let ran = run_in(Path::new("/"), &[]);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.err.contains("Usage: wayhop <COMMAND>") && ran.err.contains("wayhop run scenarios/first.toml")
    );
    assert_eq!(run_in(Path::new("/"), &["help"]).ok(), run_in(Path::new("/"), &["--help"]).ok());
}

#[test]
fn run_without_a_scenario_says_what_to_give() {
    let message = run_in(Path::new("/"), &["run"]).failure(2);
    assert!(
        message.contains("give a scenario file, or ns-2 files with --movement and --traffic"),
        "{message}"
    );
}

#[test]
fn the_help_of_run_shows_examples_that_the_parser_accepts() {
    let help = run_in(Path::new("/"), &["run", "--help"]).ok();
    let examples: Vec<&str> = help.lines().filter_map(|l| l.trim().strip_prefix("wayhop ")).collect();
    assert!(examples.len() >= 3, "{help}");
    for example in examples {
        let words = std::iter::once("wayhop").chain(example.split_whitespace());
        wayhop_cli::command().try_get_matches_from(words).unwrap_or_else(|e| panic!("{example}: {e}"));
    }
}

#[test]
fn a_paragraph_of_help_is_one_line_for_the_terminal_to_fold() {
    fn paragraphs(command: &clap::Command) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines: Vec<&str> = help.lines().collect();
        for pair in lines.windows(2) {
            let prose = |l: &str| !l.is_empty() && !l.starts_with(' ');
            assert!(!(prose(pair[0]) && prose(pair[1])), "{}: {}", command.get_name(), pair[1]);
        }
        command.get_subcommands().for_each(paragraphs);
    }
    paragraphs(&wayhop_cli::command());
}

#[test]
fn the_command_line_of_the_contract_is_accepted() {
    for line in [
        "run S.toml --seed 3 --out D --set a.b=1 --set c=2 --captures --json --quiet",
        "run --movement M.tcl --traffic T.tcl --protocol dsr --profile ns2 --radio wavelan-914-cmu --duration 900",
        "run --movement M.tcl --protocol aodv",
        "decode C.pcapng --json",
        "import ns2 --movement M.tcl",
        "export ns2 S.toml",
        "matrix solve S.toml --json",
        "matrix solve --random-layouts 100 --area 1000 --radios 12 --buses 4 --json",
        #[cfg(target_os = "linux")]
        "matrix drive S.toml --box 10.0.0.9:23",
        "matrix calibrate M.csv --radios 12",
        #[cfg(target_os = "linux")]
        "matrix fake --radios 12",
    ] {
        let words = std::iter::once("wayhop").chain(line.split_whitespace());
        wayhop_cli::command().try_get_matches_from(words).unwrap_or_else(|e| panic!("{line}: {e}"));
    }
}

#[test]
fn the_version_is_the_package_s_with_the_commit() {
    let said = run_in(Path::new("/"), &["--version"]).ok();
    let commit = said.trim().strip_prefix(concat!("wayhop ", env!("CARGO_PKG_VERSION"), "+")).unwrap();
    let (commit, mark) = commit.split_once('.').unwrap_or((commit, "modified"));
    let is_commit = commit.len() == 12 && commit.bytes().all(|b| b.is_ascii_hexdigit());
    assert!((is_commit || commit == "unknown") && mark == "modified", "{said}");
}

#[test]
fn completions_know_the_options() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run_in(Path::new("/"), &["completions", shell]).ok();
        assert!(script.contains("ns2-trace") && script.contains("decode"), "{shell}");
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let walk = data("walk.toml");
    for args in [
        &["run", &walk, "--movement", "m.tcl"][..],
        &["run", "--traffic", "t.tcl"],
        &["run", &walk, "--no-out", "--captures"],
        &["run", &walk, "--no-out", "--out", "x"],
        &["run", &walk, "another.toml"],
        &["run", &walk, "--duration", "0"],
        &["run", &walk, "--duration", "-5"],
        &["run", &walk, "--duration", "nan"],
        &["run", &walk, "--duration", "inf"],
        &["run", &walk, "--duration", "long"],
        &["run", &walk, "--seed", "-1"],
        &["run", &walk, "--seed", "18446744073709551615"],
        &["run", &walk, "--out"],
        &["walk", &walk],
        &["import", "ns2", &walk],
        &["export", "csv", "r"],
    ] {
        let message = run_in(Path::new("/"), args).failure(2);
        assert!(message.starts_with("error: ") && message.contains("--help"), "{args:?}: {message}");
    }
}

#[test]
fn a_flow_that_begins_too_late_is_warned_of_unless_quiet() {
    let dir = folder(&[]);
    let args = ["run", &data("walk.toml"), "--no-out", "--duration", "0.001", "--json"];
    let ran = run_in(dir.path(), &args);
    assert!(
        ran.err.starts_with("warning: 6 of 6 flows begin after the end of the run (0.001 s)"),
        "{}",
        ran.err
    );
    assert_eq!(run_in(dir.path(), &[&args[..], &["--quiet"]].concat()).err, "");
    ran.ok();
}
