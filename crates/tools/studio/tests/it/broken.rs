//! Broken runs are messages that name file and remedy.

use std::fs;

use tempfile::TempDir;

use crate::asking::Server;
use crate::recorded::run;

fn broken(breaking: impl Fn(&std::path::Path)) -> (TempDir, Server) {
    let folder = TempDir::new().expect("a directory");
    let dir = folder.path().join("a");
    run(&dir, 200_000);
    breaking(&dir);
    let server = Server::of(folder.path());
    (folder, server)
}

fn problems(server: &Server) -> String {
    server.get("/api/run?run=a").json()["problems"].to_string()
}

#[test]
fn half_a_table_is_named_and_the_rest_of_the_run_is_shown() {
    let (_folder, server) = broken(|dir| {
        let file = dir.join("packets.parquet");
        let octets = fs::read(&file).unwrap();
        fs::write(&file, &octets[..octets.len() / 2]).unwrap();
    });
    let told = problems(&server);
    assert!(told.contains("packets.parquet") && told.contains("damaged"), "{told}");
    assert_eq!(server.get("/api/run?run=a").json()["nodes"], 3);
    let answer = server.get("/api/packets?run=a&from=0&to=1000");
    assert_eq!(answer.status, 422);
    assert!(answer.error().contains("packets.parquet"));
    assert_eq!(server.get("/api/positions?run=a&from=0&to=1000").column("x").len(), 3);
}

#[test]
fn a_run_that_was_killed_says_so() {
    let (_folder, server) = broken(|dir| {
        let manifest = dir.join("manifest.json");
        let text = fs::read_to_string(&manifest).unwrap().replace("\"complete\"", "\"running\"");
        fs::write(&manifest, text).unwrap();
        fs::write(dir.join("packets.parquet"), b"PAR1").unwrap();
        fs::remove_file(dir.join("summary.json")).unwrap();
    });
    let told = problems(&server);
    assert!(told.contains("run it again") && told.contains("summary.json"), "{told}");
}

#[test]
fn missing_tables_are_named() {
    let (_folder, server) = broken(|dir| {
        fs::remove_file(dir.join("positions.parquet")).unwrap();
        fs::remove_file(dir.join("nodes.parquet")).unwrap();
    });
    let told = problems(&server);
    assert!(told.contains("positions.parquet") && told.contains("nodes.parquet"), "{told}");
    assert!(server.get("/api/packets?run=a&from=0&to=5000").column("time_ns").len() == 5);
}

#[test]
fn damage_in_the_middle_of_a_table_is_an_error_and_the_server_goes_on() {
    let (_folder, server) = broken(|dir| {
        let file = dir.join("packets.parquet");
        let mut octets = fs::read(&file).unwrap();
        let quarter = octets.len() / 4;
        for octet in &mut octets[4..quarter] {
            *octet = 0xff;
        }
        fs::write(&file, octets).unwrap();
    });
    let answer = server.get("/api/packets?run=a&from=0&to=1000000");
    assert_eq!(answer.status, 422, "{}", String::from_utf8_lossy(&answer.body));
    assert!(answer.error().contains("damaged"), "{}", answer.error());
    assert_eq!(server.get("/api/runs").status, 200);
}

#[test]
fn another_tools_parquet_is_refused_by_its_columns() {
    let (_folder, server) = broken(|dir| {
        fs::copy(dir.join("nodes.parquet"), dir.join("packets.parquet")).unwrap();
    });
    let answer = server.get("/api/packets?run=a&from=0&to=1000");
    assert!(answer.error().contains("the column time_ns is missing"), "{}", answer.error());
}

#[test]
fn a_manifest_that_is_none_is_named() {
    let (_folder, server) = broken(|dir| fs::write(dir.join("manifest.json"), "{").unwrap());
    let answer = server.get("/api/run?run=a");
    assert_eq!(answer.status, 422);
    assert!(answer.error().contains("manifest.json"));
}
