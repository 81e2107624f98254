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
        .args(["run", "../../scenarios/chain.toml", "--set", "duration_s=5", "--quiet", "--out"])
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
    assert!(said.contains("neither a run directory nor a folder of them; make one: wayhop run"), "{said}");
}
