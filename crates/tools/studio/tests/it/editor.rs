//! The editor of a scenario, as the page asks it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use wayhop_studio::Editing;

use crate::asking::{Answer, Server};

const TEXT: &str = "# mine\nduration_s = 60\nradio = { preset = \"wavelan-914-cmu\" } # old\n[movement]\nkind = \"waypoints\"\n\
    [[movement.tracks]]\nstart = { x = 0, y = 0 } # base\n[[movement.tracks]]\nstart = { x = 200, y = 0 }\n\
    waypoints = [{ at = { x = 900, y = 0 }, speed_mps = 10 }]\n[[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\n";

pub(crate) struct Editor {
    folder: TempDir,
    pub(crate) server: Server,
    pub(crate) cookie: String,
}

impl Editor {
    pub(crate) fn of(text: Option<&str>, program: &Path) -> Self {
        let folder = TempDir::new().expect("a directory");
        let scenario = folder.path().join("net.toml");
        if let Some(text) = text {
            fs::write(&scenario, text).expect("a scenario");
        }
        let of = Editing { scenario, runs: folder.path().join("runs"), program: program.to_owned() };
        let at = "127.0.0.1:0".parse().expect("an address");
        let server = Server::started(move |ready| wayhop_studio::serve_editor(of, at, ready));
        let cookie = server.cookie();
        Self { folder, server, cookie }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("net.toml")
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.server.get_with(path, &[&format!("Host: {}", self.server.at), &self.cookie])
    }

    fn post_with(&self, path: &str, body: &str, lines: &[&str]) -> Answer {
        let lines = lines.iter().flat_map(|l| [l, "\r\n"]).collect::<String>();
        let length = body.len();
        let head =
            format!("POST {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{lines}\r\n");
        self.server.raw(format!("{head}{body}").as_bytes())
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        let at = self.server.at;
        let lines = [
            &*format!("Host: {at}"),
            &format!("Origin: http://{at}"),
            "Content-Type: application/json",
            &self.cookie,
        ];
        self.post_with(path, &body.to_string(), &lines)
    }
}

fn edits(text: &str) -> Editor {
    Editor::of(Some(text), Path::new("/bin/false"))
}

#[test]
fn the_file_its_meaning_and_the_meanings_of_settings_are_told() {
    let editor = edits(TEXT);
    let loaded = editor.get("/api/editor").json();
    assert_eq!(loaded["text"], TEXT);
    let drawn = &loaded["view"]["drawn"];
    assert_eq!(drawn["names"], json!(["0", "1"]));
    assert_eq!(drawn["legs"]["node"], json!([0, 1]));
    assert_eq!(drawn["legs"]["vx"], json!([0.0, 10.0]));
    // 700 m at 10 m/s take longer than the run: the rest at the end is not drawn.
    assert_eq!(drawn["flows"][0]["dst"], 1);
    assert!(loaded["forms"]["radio"]["sets"].as_array().unwrap().len() > 3);
}

#[test]
fn an_edit_is_shown_and_not_saved_and_a_mistake_names_its_line() {
    let editor = edits(TEXT);
    let change = |text: &str, operations: Value| {
        editor.post("/api/editor/change", &json!({"text": text, "operations": operations, "pairs": [[0, 1]]}))
    };
    let set = |value: Value| json!([{"op": "set", "path": ["movement", "tracks", 1, "start", "x"], "value": value}]);
    let moved = change(TEXT, set(json!(800))).json();
    assert_eq!(moved["text"], TEXT.replace("x = 200", "x = 800"));
    assert_eq!(moved["view"]["drawn"]["geometry"]["parts"], json!([[0.0, 2]]));
    assert_eq!(moved["view"]["drawn"]["geometry"]["hops"][0]["steps"], json!([[0.0, null]]));
    assert_eq!(fs::read_to_string(editor.file()).unwrap(), TEXT);
    let wrong = change(TEXT, set(json!("west"))).json();
    let message = wrong["view"]["problem"]["message"].as_str().unwrap();
    assert!(message.contains("net.toml:9:"), "{message}");
    assert_eq!(wrong["view"]["drawn"], Value::Null);
    // A flow to nowhere: where nodes are can still be seen.
    let lost = change(TEXT, json!([{"op": "set", "path": ["traffic", 0, "dst"], "value": 7}])).json();
    assert!(lost["view"]["problem"]["key"].as_str().unwrap().contains("traffic[0].dst"));
    assert_eq!(
        (&lost["view"]["drawn"]["is_whole"], &lost["view"]["drawn"]["names"]),
        (&json!(false), &json!(["0", "1"]))
    );
    assert_eq!(change("[[[", json!([{"op": "convert"}])).status, 422);
    assert_eq!(editor.post("/api/editor/change", &json!({"nonsense": 1})).status, 422);
}

#[test]
fn saving_refuses_to_overwrite_what_somebody_else_has_written() {
    let editor = edits(TEXT);
    let digest = editor.get("/api/editor").json()["digest"].clone();
    let save = |text: &str, digest: &Value, over: bool| {
        editor.post("/api/editor/save", &json!({"text": text, "digest": digest, "over": over}))
    };
    let saved = save("seed = 2\n", &digest, false);
    assert_eq!(saved.status, 200);
    fs::write(editor.file(), "seed = 3\n").unwrap();
    let refused = save("seed = 4\n", &saved.json()["digest"], false);
    assert_eq!(refused.status, 409);
    assert!(refused.error().contains("net.toml"), "{}", refused.error());
    assert_eq!(fs::read_to_string(editor.file()).unwrap(), "seed = 3\n");
    assert_eq!(save("seed = 4\n", &Value::Null, true).status, 200);
    assert_eq!(fs::read_to_string(editor.file()).unwrap(), "seed = 4\n");
}

#[test]
fn strangers_change_nothing() {
    let editor = edits(TEXT);
    let at = editor.server.at;
    let (host, origin, json_type) =
        (format!("Host: {at}"), format!("Origin: http://{at}"), "Content-Type: application/json");
    let body = json!({"text": "seed = 9\n", "over": true}).to_string();
    let lines: [&[&str]; 6] = [
        &[&host, &origin, json_type],
        &[&host, json_type, &editor.cookie],
        &[&host, &origin, &editor.cookie],
        &[&host, &origin, "Content-Type: text/plain", &editor.cookie],
        &[&host, "Origin: http://evil.example", json_type, &editor.cookie],
        &["Host: evil.example", "Origin: http://evil.example", json_type, &editor.cookie],
    ];
    for lines in lines {
        assert_eq!(editor.post_with("/api/editor/save", &body, lines).status, 403, "{lines:?}");
    }
    for path in ["/", "/api/editor", "/api/runs", "/api/editor/run"] {
        assert_eq!(editor.server.get(path).status, 403, "{path} without the token");
    }
    assert_eq!(editor.post("/api/runs", &json!({})).status, 403);
    assert_eq!(fs::read_to_string(editor.file()).unwrap(), TEXT);
}

#[test]
fn a_studio_that_shows_runs_edits_nothing() {
    let folder = TempDir::new().unwrap();
    crate::recorded::run(&folder.path().join("a"), 10);
    let server = Server::of(folder.path());
    assert_eq!(server.get("/api/editor").json(), Value::Null);
    assert_eq!(server.get("/api/editor/run").status, 404);
}

#[test]
fn the_movement_is_exported_for_ns2() {
    let editor = edits(TEXT);
    let text = |format: &str| {
        let answer = editor
            .post("/api/editor/export", &json!({"text": TEXT.replace("y = 0", "y = 5"), "format": format}));
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        answer.json()["text"].clone()
    };
    let movement = text("ns2-movement");
    assert!(movement.as_str().unwrap().contains("setdest 900"), "{movement}");
    assert!(text("ns2-traffic").as_str().unwrap().contains("CBR"));
    // What the traffic's file cannot say is no reason to refuse the movement.
    let pings = TEXT.replace("y = 0", "y = 5").replace("cbr", "ping");
    let status =
        |format: &str| editor.post("/api/editor/export", &json!({"text": pings, "format": format})).status;
    assert_eq!((status("ns2-movement"), status("ns2-traffic")), (200, 422));
}

/// A program that leaves a run, or says why it does not.
#[cfg(unix)]
fn program(script: &str) -> (TempDir, PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("program");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    (folder, path)
}

#[cfg(unix)]
fn outcome(editor: &Editor) -> Value {
    loop {
        let state = editor.get("/api/editor/run").json();
        if state["state"] != "running" {
            return state;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(unix)]
#[test]
fn a_run_is_what_the_program_makes_of_the_saved_file() {
    let (_keep, path) = program(
        "[ \"$1 $3 $4\" = 'run --quiet --out' ] && mkdir -p \"$5\" && cp \"$2\" \"$5/manifest.json\"",
    );
    let editor = Editor::of(Some(TEXT), &path);
    assert_eq!(editor.get("/api/editor/run").json()["state"], "none");
    let (_keep, asks) = program("[ \"$6\" = --receptions ]");
    let recorded = |text: &str| {
        let editor = Editor::of(Some(text), &asks);
        editor.post("/api/editor/run", &json!({}));
        outcome(&editor)["state"] == "complete"
    };
    assert!(recorded(TEXT), "stories have their causes");
    assert!(
        !recorded(&format!("{TEXT}[receptions]\nflows = [0]\n")),
        "the scenario says itself what is recorded"
    );
    for name in ["net-studio-1", "net-studio-2"] {
        assert_eq!(editor.post("/api/editor/run", &json!({})).status, 200);
        assert_eq!(outcome(&editor), json!({"state": "complete", "run": name}));
    }
    let names = editor.get("/api/runs").json();
    assert_eq!(names["runs"].as_array().unwrap().len(), 2, "{names}");
}

#[cfg(unix)]
#[test]
fn a_run_that_fails_says_why_and_one_that_goes_on_can_be_stopped() {
    let (_keep, path) = program("echo net.toml:3: wrong >&2; exit 2");
    let editor = Editor::of(Some(TEXT), &path);
    editor.post("/api/editor/run", &json!({}));
    assert_eq!(outcome(&editor)["error"], "net.toml:3: wrong");
    let (_keep, path) = program("exec sleep 1000");
    let editor = Editor::of(Some(TEXT), &path);
    editor.post("/api/editor/run", &json!({}));
    assert!(editor.post("/api/editor/run", &json!({})).error().contains("a run is in progress"));
    editor.post("/api/editor/stop", &json!({}));
    assert_eq!(outcome(&editor)["state"], "failed");
}

#[test]
fn a_scenario_that_is_not_there_yet_begins_empty() {
    let editor = Editor::of(None, Path::new("/bin/false"));
    let loaded = editor.get("/api/editor").json();
    assert_eq!((&loaded["text"], &loaded["digest"]), (&json!(""), &Value::Null));
    let tracks = json!([{"start": {"x": 1, "y": 2}}]);
    let added = editor
        .post("/api/editor/change", &json!({"text": "", "operations": [{"op": "add", "tracks": tracks}]}))
        .json();
    assert_eq!(added["view"]["drawn"]["legs"]["y"], json!([2.0]));
    assert_eq!(editor.post("/api/editor/save", &json!({"text": added["text"], "digest": null})).status, 200);
    assert!(editor.file().is_file());
}

#[test]
fn the_site_is_drawn_in_the_scenarios_metres() {
    let editor = edits("");
    // 0.001 degrees of longitude at the equator are 111.3 m, of latitude 110.6 m.
    let site = r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"hall","kind":"building"},
        "geometry":{"type":"Polygon","coordinates":[[[0,0],[0.001,0],[0.001,0.001],[0,0]]]}}]}"#;
    fs::write(editor.folder.path().join("site.geojson"), site).unwrap();
    let text = format!("map = \"site.geojson\"\norigin = {{ lat = 0.0, lon = 0.0 }}\n{TEXT}");
    let drawn =
        editor.post("/api/editor/change", &json!({"text": text})).json()["view"]["drawn"]["site"].clone();
    assert_eq!((&drawn[0]["name"], &drawn[0]["shape"]), (&json!("hall"), &json!("area")));
    let corner = |i: usize, axis: usize| drawn[0]["corners"][i][axis].as_f64().unwrap();
    assert!((corner(1, 0) - 111.3).abs() < 0.1 && corner(1, 1).abs() < 0.1, "{drawn}");
    assert!((corner(2, 1) - 110.6).abs() < 0.1, "{drawn}");
    // A node with the name of a point stands there.
    let point = r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"mast","kind":"node"},
        "geometry":{"type":"Point","coordinates":[0.001,0]}}]}"#;
    fs::write(editor.folder.path().join("site.geojson"), point).unwrap();
    let on_map = |named: &str| {
        let text = format!("{text}[[nodes.node]]\nid = 0\nname = \"{named}\"\n");
        editor.post("/api/editor/change", &json!({"text": text})).json()["view"]["drawn"]["on_map"].clone()
    };
    assert_eq!((on_map("mast"), on_map("hall")), (json!([0]), json!([])));
    let gone = editor
        .post("/api/editor/change", &json!({"text": text.replace("site.geojson", "none.geojson")}))
        .json();
    assert!(gone["view"]["problem"]["message"].as_str().unwrap().contains("none.geojson"), "{gone}");
}
