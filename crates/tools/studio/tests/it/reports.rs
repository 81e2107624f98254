//! Reports beside the runs are listed and shown, and are strangers to the studio.

use std::fs;

use tempfile::TempDir;

use crate::asking::Server;
use crate::recorded::run;

const REPORT: &str =
    "<!doctype html><html><head><title>DSR &amp; AODV</title></head><body>figures</body></html>";

fn served() -> (TempDir, Server) {
    let folder = TempDir::new().expect("a directory");
    run(&folder.path().join("a"), 100);
    fs::write(folder.path().join("a/report.html"), REPORT).expect("written");
    fs::write(folder.path().join("comparison.html"), REPORT).expect("written");
    fs::write(folder.path().join("notes.txt"), "no report").expect("written");
    let server = Server::of(folder.path());
    (folder, server)
}

#[test]
fn reports_of_the_folder_and_of_its_runs_are_listed_and_shown() {
    let (_folder, server) = served();
    let list = server.get("/api/reports").json();
    let names: Vec<_> = list["reports"].as_array().unwrap().iter().map(|r| r["name"].clone()).collect();
    assert_eq!(names, ["a/report.html", "comparison.html"]);
    assert_eq!(list["reports"][0]["title"], "DSR & AODV");
    let shown = server.get("/report?name=a/report.html");
    assert_eq!((shown.status, shown.body.as_slice()), (200, REPORT.as_bytes()));
    assert!(shown.head.contains("content-type: text/html"));
    // Without an origin of its own its scripts have no cookie, and may ask nobody.
    assert!(shown.head.contains("content-security-policy: sandbox allow-scripts"), "{}", shown.head);
    assert!(!shown.head.contains("allow-same-origin"));
    assert!(
        !server.get("/api/runs").head.contains("sandbox"),
        "the studio's own answers have its own policy"
    );
}

#[test]
fn nothing_else_is_shown_as_a_report() {
    let (folder, server) = served();
    let secret = TempDir::new().expect("a directory");
    fs::write(secret.path().join("secret.html"), "secret").expect("written");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(secret.path().join("secret.html"), folder.path().join("link.html"))
            .expect("a link");
        std::os::unix::fs::symlink(secret.path(), folder.path().join("linked")).expect("a link");
    }
    for name in [
        "notes.txt",
        "a/manifest.json",
        "../secret.html",
        "link.html",
        "linked/secret.html",
        "",
        "/etc/passwd",
    ] {
        assert_eq!(server.get(&format!("/report?name={name}")).status, 404, "{name}");
    }
    assert_eq!(server.get("/api/reports").json()["reports"].as_array().unwrap().len(), 2);
}

#[test]
fn a_folder_of_reports_alone_is_shown() {
    let folder = TempDir::new().expect("a directory");
    fs::create_dir(folder.path().join("cmu")).expect("a folder");
    fs::write(folder.path().join("cmu/report.html"), REPORT).expect("written");
    let server = Server::of(folder.path());
    assert_eq!(server.get("/api/reports").json()["reports"][0]["name"], "cmu/report.html");
    assert_eq!(server.get("/api/runs").json()["runs"], serde_json::json!([]));
}
