//! The list of runs and sweeps: folders in folders, what each run is, and a sweep's figures.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use crate::asking::Server;
use crate::recorded::run;

const TABLE: &str = "speed,metric,mean,ci95_low,ci95_high,values,runs_with_figure,runs\n\
    2,totals.delivery_ratio,0.9,0.8,1,5,5,5\n";

fn served() -> (TempDir, Server) {
    let folder = TempDir::new().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    run(&at("single"), 8);
    run(&at("paper/fig 1/dsr"), 4);
    run(&at("sweep-speed/runs/2-seed-1"), 4);
    fs::write(at("sweep-speed/sweep.json"), r#"{"sweep": "speed", "runs": ["x", "y"]}"#).expect("written");
    fs::write(at("sweep-speed/table.csv"), TABLE).expect("written");
    fs::create_dir_all(at("paper/sweep-half")).expect("a folder");
    fs::write(at("paper/sweep-half/sweep.json"), "no JSON").expect("written");
    let server = Server::of(folder.path());
    (folder, server)
}

#[test]
fn runs_in_folders_are_listed_with_what_they_are_and_open() {
    let (_folder, server) = served();
    let list = server.get("/api/runs").json();
    let names: Vec<_> =
        list["runs"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["paper/fig 1/dsr", "single", "sweep-speed/runs/2-seed-1"]);
    let one = &list["runs"][1];
    let facts = ["protocol", "nodes", "duration_s", "world", "delivery_ratio"].map(|k| one[k].clone());
    // Nothing was sent, so there is no ratio.
    assert_eq!(facts, [json!("dsr"), json!(3), json!(20.0), json!("sim"), json!(null)]);
    assert_eq!(server.get("/api/run?run=paper/fig%201/dsr").json()["rows"], 4);
    for name in ["paper", "paper/fig%201", "paper/../single", "paper//fig%201/dsr", "sweep-speed"] {
        assert_eq!(server.get(&format!("/api/run?run={name}")).status, 404, "{name}");
    }
}

#[test]
fn a_sweep_has_the_table_that_it_wrote_and_an_unfinished_one_says_how_to_go_on() {
    let (_folder, server) = served();
    let list = server.get("/api/runs").json();
    assert_eq!(
        list["sweeps"],
        json!([
            {"name": "paper/sweep-half", "runs": null, "has_figures": false},
            {"name": "sweep-speed", "runs": 2, "has_figures": true},
        ])
    );
    let table = server.get("/api/sweep?name=sweep-speed");
    assert_eq!((table.status, table.body.as_slice()), (200, TABLE.as_bytes()));
    let error = server.get("/api/sweep?name=paper/sweep-half").error();
    assert!(error.contains("table.csv") && error.contains("wayhop sweep again"), "{error}");
    for name in ["single", ".", "..", "sweep-speed/runs", "nothing"] {
        assert_eq!(server.get(&format!("/api/sweep?name={name}")).status, 404, "{name}");
    }
}

#[test]
fn a_sweep_that_is_opened_itself_shows_its_figures() {
    let (folder, _server) = served();
    let server = Server::of(&folder.path().join("sweep-speed"));
    let list = server.get("/api/runs").json();
    assert_eq!(list["sweeps"], json!([{"name": ".", "runs": 2, "has_figures": true}]));
    assert_eq!(list["runs"][0]["name"], "runs/2-seed-1");
    assert_eq!(server.get("/api/sweep?name=.").body, TABLE.as_bytes());
    assert_eq!(server.get("/api/run?run=.").status, 404);
}
