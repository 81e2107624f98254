//! `wayhop collect`, with datagrams as nodes and others send them.

use std::io::{BufRead as _, BufReader};
use std::net::UdpSocket;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::schemas::{check, check_report};
use crate::{folder, run_in, wayhop};

#[test]
fn reports_are_written_down_and_garbage_is_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut collect = wayhop()
        .args(["collect", "--json", "--listen", "127.0.0.1:0", "--out"])
        .arg(folder.path().join("reports"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut said = BufReader::new(collect.stderr.take().expect("piped")).lines();
    let first = said.next().expect("a line").expect("text");

    let address = first.strip_prefix("listening on ").and_then(|r| r.split(',').next()).expect("an address");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    // As docs/reference/control.md has it.
    let report = r#"{"wayhop_report":1,"node":"mesh-3","start_unix_s":1700000000,"number":0,"time_unix_s":1700000000.5,"counters":{"forwarded":7}}"#;
    for datagram in [&b"garbage"[..], &[0xff; 1400], report.as_bytes()] {
        socket.send_to(datagram, address).expect("sent");
    }
    let mut lines = BufReader::new(collect.stdout.take().expect("piped")).lines();
    let line = lines.next().expect("a line").expect("text");
    check("collect", &line);
    let line: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!((&line["report"]["node"], &line["lost"]), (&"mesh-3".into(), &0.into()));
    let pid = collect.id().to_string();
    keeps_nothing(&pid);
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
    assert!(collect.wait().expect("it ends").success());
    let rest: Vec<String> = said.map_while(Result::ok).collect();
    assert!(rest.last().is_some_and(|l| l.contains("2 datagrams were ignored")), "{rest:?}");
    let file = std::fs::read_to_string(folder.path().join("reports/mesh-3_127.0.0.1.jsonl")).expect("a file");
    check_report(&file);
    check_report(report);
    let line: Value = serde_json::from_str(&file).expect("one line");
    assert_eq!((&line["counters"]["forwarded"], &line["from"]), (&7.into(), &"127.0.0.1".into()));
}

#[test]
fn a_folder_that_cannot_be_made_is_said_before_the_first_report_comes() {
    let dir = folder(&[("file", "")]);
    let message =
        run_in(dir.path(), &["collect", "--listen", "127.0.0.1:0", "--out", "file/reports"]).failure(1);
    assert!(message.contains("cannot create file/reports: ") && message.contains("--out"), "{message}");
}

/// No thread of this process has any capability, or a way to one.
fn keeps_nothing(pid: &str) {
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).expect("threads").flatten() {
        let status = std::fs::read_to_string(thread.path().join("status")).expect("a thread");
        for key in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            assert!(status.contains(&format!("{key}:\t0000000000000000\n")), "{status}");
        }
        assert!(status.contains("NoNewPrivs:\t1\n"), "{status}");
    }
}

#[test]
fn a_full_folder_is_said_once_and_new_reports_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let reports = folder.path().join("reports");
    let mut collect = wayhop()
        .args(["collect", "--json", "--limit-mib", "1", "--listen", "127.0.0.1:0", "--out"])
        .arg(&reports)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut said = BufReader::new(collect.stderr.take().expect("piped")).lines();
    let first = said.next().expect("a line").expect("text");
    let address = first.strip_prefix("listening on ").and_then(|r| r.split(',').next()).expect("an address");
    let mut lines = BufReader::new(collect.stdout.take().expect("piped")).lines();
    // Of 4096 octets each: 256 files fill it. One address has 64.
    for n in 0..300 {
        let socket = UdpSocket::bind(format!("127.0.1.{}:0", n / 60 + 1)).expect("a socket");
        let report = format!(
            r#"{{"wayhop_report":1,"node":"mesh-{n}","start_unix_s":1,"number":0,"time_unix_s":1,"counters":{{}}}}"#
        );
        socket.send_to(report.as_bytes(), address).expect("sent");
        lines.next().expect("a line").expect("text");
    }
    let line = said.next().expect("a line").expect("text");
    assert!(line.contains("1 old files deleted to make room, mesh-0_127.0.1.1.jsonl"), "{line}");
    assert!(line.contains("raise --limit-mib, or move files elsewhere"), "{line}");
    collect.kill().expect("it runs");
    collect.wait().expect("it ends");
    assert_eq!(std::fs::read_dir(&reports).expect("a folder").count(), 256);
    assert!(reports.join("mesh-299_127.0.1.5.jsonl").exists());
}
