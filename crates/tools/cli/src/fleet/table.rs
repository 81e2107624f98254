//! A report as a table for people.

use std::fmt::Write as _;

use wayhop_fleet::{CheckResult, HostReport, Report};
use wayhop_report::columns;

use crate::failure::harmless;

type Cells = fn(&HostReport) -> Vec<String>;

/// A row per host, and the problems below.
pub(super) fn table(report: &Report) -> String {
    let (heads, cells): (Vec<&str>, Cells) = match report.action.as_str() {
        "check" => (vec!["wayhop", "clock ms", "free MiB", "interface", "gps", "root"], |h| {
            checked(h.check.as_ref())
        }),
        "push" => (vec!["sent", "unchanged", "kB", "unpacked kB"], pushed),
        "start" => (vec!["process", "clock ms", "ready"], started),
        "stop" => (vec!["node", "programs"], stopped),
        _ => (vec!["files", "MB", "folder"], fetched),
    };
    let mut rows =
        vec![[&["host", "node", "state"][..], &heads].concat().iter().map(|s| (*s).to_owned()).collect()];
    rows.extend(report.hosts.iter().map(|h| {
        let mut row = vec![h.name.clone(), h.node.clone(), h.state.clone()];
        row.extend(cells(h));
        row.iter().map(|cell| harmless(cell)).collect()
    }));
    let mut text = columns(&rows, usize::MAX);
    for (problem, hosts) in problems(&report.hosts) {
        let _ = writeln!(text, "{}: {}", hosts.join(", "), harmless(problem));
    }
    text
}

/// Each problem once, with the hosts that have it, in the order in which they come.
fn problems(hosts: &[HostReport]) -> Vec<(&str, Vec<&str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for (h, problem) in hosts.iter().flat_map(|h| h.problems.iter().map(move |p| (h, p))) {
        match all.iter_mut().find(|(known, _)| known == problem) {
            Some((_, with)) => with.push(&h.name),
            None => all.push((problem, vec![&h.name])),
        }
    }
    all
}

/// A dash for unknown values.
fn known<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| v.to_string())
}

fn milliseconds(clock: Option<wayhop_fleet::Clock>) -> String {
    clock.map_or_else(|| "-".to_owned(), |c| format!("{:+.1} ± {:.1}", c.offset_s * 1e3, c.error_s * 1e3))
}

fn checked(c: Option<&CheckResult>) -> Vec<String> {
    let Some(c) = c else { return vec!["-".to_owned(); 6] };
    let version = c.version.as_deref().map(|v| v.trim_start_matches("wayhop ").to_owned());
    let interfaces: Vec<String> =
        c.interfaces.iter().map(|(name, state)| format!("{name} {state}")).collect();
    let accuracy = c.gps_accuracy_m.map_or_else(String::new, |m| format!(" {m:.3} m"));
    vec![
        known(version),
        milliseconds(c.clock),
        known(c.free_mib),
        if interfaces.is_empty() { "-".to_owned() } else { interfaces.join(", ") },
        c.gps.as_ref().map_or_else(|| "-".to_owned(), |g| format!("{g}{accuracy}")),
        if c.root { "yes" } else { "no" }.to_owned(),
    ]
}

fn pushed(h: &HostReport) -> Vec<String> {
    let p = h.push.as_ref();
    vec![
        known(p.map(|p| p.sent.len())),
        known(p.map(|p| p.same.len())),
        known(p.map(|p| p.bytes.div_ceil(1000))),
        known(p.map(|p| p.unpacked_bytes.div_ceil(1000))),
    ]
}

fn stopped(h: &HostReport) -> Vec<String> {
    let s = h.stop.as_ref();
    let programs = s.filter(|s| !s.programs.is_empty()).map(|s| {
        let all: Vec<String> = s.programs.iter().map(|p| format!("{} {}", p.name, p.outcome)).collect();
        all.join(", ")
    });
    vec![known(s.map(|s| s.outcome.clone())), known(programs)]
}

fn started(h: &HostReport) -> Vec<String> {
    let s = h.start.as_ref();
    vec![
        known(s.and_then(|s| s.pid)),
        milliseconds(s.and_then(|s| s.clock)),
        known(s.map(|s| if s.ready { "yes" } else { "no" })),
    ]
}

fn fetched(h: &HostReport) -> Vec<String> {
    let f = h.fetch.as_ref();
    vec![
        known(f.map(|f| f.files)),
        known(f.map(|f| format!("{:.1}", f.bytes as f64 / 1e6))),
        known(f.map(|f| if f.complete { f.directory.clone() } else { "incomplete".to_owned() })),
    ]
}
