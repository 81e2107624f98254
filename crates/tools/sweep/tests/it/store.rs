//! The file of results, torn and whole.

use std::fs;

use serde_json::json;
use wayhop_sweep::Store;

fn record(id: &str, x: f64) -> serde_json::Value {
    json!({ "id": id, "run": {}, "summary": { "flows": [{ "x": x }], "none": null } })
}

#[test]
fn a_torn_last_line_is_taken_off_and_the_rest_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.jsonl");
    let metrics = ["flows.0.x".to_owned(), "none".to_owned(), "flows.7.x".to_owned()];
    let mut store = Store::open(&path, &metrics).unwrap();
    store.add("one", &record("one", 1.5)).unwrap();
    store.add("two", &record("two", 2.5)).unwrap();
    drop(store);
    let whole = fs::read(&path).unwrap();
    // Torn at every octet of the second line: the first is always there, the second never, and a new one fits behind.
    let second = whole.iter().position(|&b| b == b'\n').unwrap() + 1;
    for end in second..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        let mut store = Store::open(&path, &metrics).unwrap();
        assert_eq!((store.has("one"), store.has("two")), (true, false), "{end}");
        assert_eq!(store.values("one").unwrap(), [Some(1.5), None, None]);
        store.add("two", &record("two", 2.5)).unwrap();
        assert!(store.has("two"));
        drop(store);
        assert_eq!(fs::read(&path).unwrap(), whole, "{end}");
    }
}

#[test]
fn a_line_that_is_no_result_is_named_and_left() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.jsonl");
    let text = format!("{}\nnonsense\n", record("one", 1.0));
    fs::write(&path, &text).unwrap();
    let e = format!("{:?}", Store::open(&path, &[]).unwrap_err());
    assert!(e.ends_with("runs.jsonl: line 2 is not a result; remove it to repeat that run\")"), "{e}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn two_sweeps_do_not_write_to_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.jsonl");
    let first = Store::open(&path, &[]).unwrap();
    let e = format!("{:?}", Store::open(&path, &[]).unwrap_err());
    assert!(e.contains("another sweep is writing to it"), "{e}");
    drop(first);
    assert!(Store::open(&path, &[]).is_ok());
}
