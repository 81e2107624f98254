//! Access: who gets which answer.

use std::fs;

use tempfile::TempDir;

use crate::asking::Server;
use crate::recorded::run;

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a directory");
    run(&folder.path().join("runs/a"), 10);
    run(&folder.path().join("secret"), 10);
    folder
}

#[test]
fn a_wrong_host_or_origin_gets_nothing() {
    let folder = folder();
    let server = Server::of(&folder.path().join("runs"));
    let own = format!("Host: {}", server.at);
    assert_eq!(server.get("/api/runs").status, 200);
    for path in
        ["/", "/studio.js", "/api/runs", "/api/run?run=a", "/api/packets?run=a&from=0&to=9", "/nothing"]
    {
        for lines in [
            &["Host: rebound.example"][..],
            &[],
            &[&own, "Origin: http://rebound.example"],
            &[&own, "Origin: null"],
            &[&own, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script"],
        ] {
            let answer = server.get_with(path, lines);
            assert_eq!(answer.status, 403, "{path} with {lines:?}");
            assert!(!String::from_utf8_lossy(&answer.body).contains("\"a\""), "{path} with {lines:?}");
        }
    }
}

#[test]
fn nothing_but_reading_is_answered() {
    let folder = folder();
    let server = Server::of(&folder.path().join("runs"));
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT"] {
        let request =
            format!("{method} /api/runs HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.at);
        let status = server.raw(request.as_bytes()).status;
        assert!((400..500).contains(&status), "{method}: {status}");
    }
}

#[test]
fn no_path_leads_out_of_the_folder_of_runs() {
    let folder = folder();
    let runs = folder.path().join("runs");
    fs::write(runs.join("note"), "none of the page's").unwrap();
    let server = Server::of(&runs);
    let secret = folder.path().join("secret");
    for name in [
        "../secret",
        "..%2Fsecret",
        "a/../../secret",
        &secret.display().to_string(),
        ".",
        "..",
        "",
        "note",
        "a%00",
    ] {
        assert_ne!(server.get(&format!("/api/run?run={name}")).status, 200, "{name}");
    }
    for path in [
        "/../secret/manifest.json",
        "/a/manifest.json",
        "/%2e%2e/secret/manifest.json",
        "//etc/passwd",
        "/note",
    ] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    for table in ["../../secret/packets", "manifest", "", "packets.parquet"] {
        let answer = server.get(&format!("/api/rows?run=a&table={table}"));
        assert!(answer.error().contains("no table"), "{table}");
    }
}

#[test]
fn away_from_loopback_nobody_gets_anything_without_the_token() {
    let folder = folder();
    let server = Server::at(&folder.path().join("runs"), "0.0.0.0:0");
    let token = server.token.clone().expect("a token in the address");
    // CI's machine has a default route, by which the address is chosen.
    assert!(!server.at.ip().is_unspecified(), "an address that another machine can open: {}", server.at);
    let host = format!("Host: {}", server.at);
    for path in ["/", "/studio.js", "/api/runs", "/?token=", "/?token=0", &format!("/?token={}", &token[1..])]
    {
        assert_eq!(server.get(path).status, 403, "{path}");
    }
    let entered = server.get(&format!("/?token={token}&run=a"));
    assert_eq!(entered.status, 303);
    assert!(entered.head.contains("location: /?run=a\r\n"), "{}", entered.head);
    assert!(entered.head.contains("httponly; samesite=strict"), "{}", entered.head);
    let cookie = entered.head.lines().find_map(|l| l.strip_prefix("set-cookie: ")).unwrap();
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    for path in ["/", "/api/runs"] {
        assert_eq!(server.get_with(path, &[&host, &cookie]).status, 200, "{path}");
    }
    assert_eq!(server.get_with("/", &["Host: rebound.example", &cookie]).status, 403);
}

#[test]
fn every_answer_keeps_the_page_to_itself() {
    let folder = folder();
    let server = Server::of(&folder.path().join("runs"));
    for path in ["/", "/api/runs", "/nothing"] {
        let head = server.get(path).head;
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(head.contains(line), "{path}: {line} in {head}");
        }
        assert!(!head.contains("access-control-allow"), "{path}");
    }
}

#[test]
fn heads_without_end_and_questions_without_sense_are_refused() {
    let folder = folder();
    let server = Server::of(&folder.path().join("runs"));
    // As much as the server reads, so that it closes a connection that has nothing left in it.
    let endless = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat((16 << 10) - 19));
    let status = server.raw(endless.as_bytes()).status;
    assert!((400..500).contains(&status), "{status}");
    for query in ["", "?run=a", "?run=a&from=x&to=1", "?run=a&from=99999999999999999999&to=1", "?from=0&to=1"]
    {
        let status = server.get(&format!("/api/packets{query}")).status;
        assert!((400..500).contains(&status), "{query}: {status}");
    }
    let (least, most) = (i64::MIN, i64::MAX);
    for (from, to) in [(least, most), (most, least), (5, 5), (most - 1, most)] {
        for table in ["packets", "positions"] {
            assert_eq!(
                server.get(&format!("/api/{table}?run=a&from={from}&to={to}")).status,
                200,
                "{from} to {to}"
            );
        }
    }
}

#[test]
fn of_two_runs_that_were_named_nothing_else_is_shown_and_both_have_a_name() {
    let folder = folder();
    let (a, b) = (folder.path().join("runs/a"), folder.path().join("elsewhere/a"));
    run(&b, 20);
    let server = Server::pair([&a, &b]);
    let runs = server.get("/api/runs").json();
    let names: Vec<_> =
        runs["runs"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "a (2)"]);
    assert_eq!(server.query, "run=a&with=a%20%282%29");
    assert_eq!(server.get("/api/run?run=a").json()["rows"], 10);
    assert_eq!(server.get("/api/run?run=a%20%282%29").json()["rows"], 20);
    for other in ["secret", "", "."] {
        assert_eq!(server.get(&format!("/api/run?run={other}")).status, 404, "{other:?}");
    }
}
