//! `wayhop studio` as a command. What it serves is tested in its crate, the page in `web/e2e`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use crate::wayhop;

#[test]
fn it_prints_where_the_page_is_and_ends_cleanly_when_told_to() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = dir.path().join("chain");
    let made = wayhop()
        .args(["run", "../../../scenarios/chain.toml", "--set", "duration_s=5", "--quiet", "--out"])
        .arg(&run)
        .status();
    assert!(made.expect("it runs").success());
    let mut studio = wayhop()
        .arg("studio")
        .arg(&run)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(studio.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
    let at = line.trim().strip_prefix("http://").and_then(|l| l.strip_suffix('/')).expect("an address");
    let mut stream = TcpStream::connect(at).expect("it listens");
    write!(stream, "GET /api/runs HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n").expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.contains("\"name\":\"chain\""), "{answer}");
    let pid = rustix::process::Pid::from_child(&studio);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    assert_eq!(studio.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_folder_without_runs_is_refused_with_the_remedy() {
    let dir = tempfile::tempdir().expect("a directory");
    let ran = wayhop().arg("studio").arg(dir.path()).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(2));
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        said.contains("neither a run directory nor a folder of runs; create a run with: wayhop run"),
        "{said}"
    );
}

#[test]
fn a_scenario_in_a_folder_that_is_not_there_is_refused_at_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let ran = wayhop().arg("studio").arg(dir.path().join("no/a.toml")).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(2));
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("a.toml: there is no folder") && said.contains("create it"), "{said}");
}

/// An answer of the studio to a page of its own.
fn ask(at: &str, request: &str, cookie: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(at).expect("it listens");
    let length = body.len();
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: {at}\r\nOrigin: http://{at}\r\nCookie: {cookie}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn a_run_that_the_editor_started_ends_with_the_studio() {
    let dir = tempfile::tempdir().expect("a directory");
    let chain = std::fs::read_to_string("../../../scenarios/chain.toml").expect("a scenario");
    let scenario = dir.path().join("chain.toml");
    std::fs::write(&scenario, chain).expect("a scenario");
    let mut studio = wayhop()
        .arg("studio")
        .arg(&scenario)
        .env("WAYHOP_RUNTIME_DIR", dir.path().join("sockets"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(studio.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
    let (at, token) = line.trim().trim_start_matches("http://").split_once('/').expect("an address");
    let entered = ask(at, &format!("GET /{token}"), "", "");
    let cookie = entered.lines().find_map(|l| l.strip_prefix("set-cookie: ")).expect("a cookie");
    let cookie = cookie.split(';').next().expect("a cookie");
    let started = ask(at, "POST /api/editor/run", cookie, "{\"pace\": 1}");
    let body: serde_json::Value =
        serde_json::from_str(started.split_once("\r\n\r\n").expect("a body").1).expect("an answer in JSON");
    let run =
        rustix::process::Pid::from_raw(body["pid"].as_i64().expect("a process") as i32).expect("a process");
    assert!(rustix::process::test_kill_process(run).is_ok(), "it goes on at the pace of the clock");
    let pid = rustix::process::Pid::from_child(&studio);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a signal");
    assert_eq!(studio.wait().expect("it ends").code(), Some(0));
    // The run has been reparented; its new parent reaps it.
    let has_ended = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", run.as_raw_nonzero()));
        stat.map_or(true, |s| {
            s.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']))
        })
    };
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !has_ended() {
        assert!(std::time::Instant::now() < until, "the run goes on");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
