//! Counts over a run come from its index, or from its table; both say the same.

use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use crate::asking::Server;
use crate::charts::charted;
use crate::recorded::run;

const INDEX: &str = "packets.index";

/// A copy of a run without its index.
fn unindexed(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a new directory");
    for entry in fs::read_dir(from).expect("a run").flatten() {
        if entry.file_name() != INDEX {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
        }
    }
}

fn problems(server: &Server, name: &str) -> String {
    server.get(&format!("/api/run?run={name}")).json()["problems"].to_string()
}

/// The two say the same of the whole run.
fn agree(server: &Server, names: [&str; 2]) {
    let [a, b] = names.map(|name| server.counted(&format!("/api/overview?run={name}")));
    let columns = |head: &serde_json::Value| -> Vec<String> {
        let all = head["columns"].as_array().expect("columns").iter();
        let mut names: Vec<_> = all.map(|c| c["name"].as_str().expect("a name").to_owned()).collect();
        names.sort_unstable();
        names
    };
    let heads = [&a, &b].map(|answer| answer.frame().0);
    assert_eq!(columns(&heads[0]), columns(&heads[1]));
    for key in ["bin_ns", "end_ns", "kinds", "rows"] {
        assert_eq!(heads[0][key], heads[1][key], "{key}");
    }
    for column in columns(&heads[0]) {
        assert_eq!(a.column(&column), b.column(&column), "{column}");
        assert!(a.column(&column).iter().all(|n| !n.is_nan()), "all is counted: {column}");
    }
    let [a, b] = names.map(|name| server.counted(&format!("/api/losses?run={name}")));
    for column in ["time_ns", "packet", "node"] {
        assert_eq!(a.column(column), b.column(column), "{column}");
    }
    for key in ["more", "reasons"] {
        assert_eq!(a.frame().0[key], b.frame().0[key], "{key}");
    }
}

#[test]
fn the_index_and_a_count_of_the_table_say_the_same() {
    let folder = TempDir::new().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    // Three row groups and more losses than are listed; and few events of many kinds.
    run(&at("many"), 300_000);
    charted(&at("few"));
    for name in ["many", "few"] {
        unindexed(&at(name), &at(&format!("{name}-unindexed")));
    }
    let server = Server::of(folder.path());
    for (a, b) in [("many", "many-unindexed"), ("few", "few-unindexed")] {
        agree(&server, [a, b]);
        // An index has all at once.
        let heads = [a, b].map(|name| server.get(&format!("/api/overview?run={name}")).frame().0);
        assert_eq!((&heads[0]["groups"], heads[0]["done"] == heads[0]["groups"]), (&json!(1), true));
        assert!(heads[1]["groups"].as_u64() >= Some(1));
        assert_eq!([problems(&server, a), problems(&server, b)], ["[]", "[]"]);
    }
    let losses = server.counted("/api/losses?run=many");
    assert_eq!((losses.column("time_ns").len(), &losses.frame().0["more"]), (1 << 16, &json!(true)));
}

#[test]
fn the_index_of_another_run_and_a_damaged_one_are_named_and_do_not_count() {
    let folder = TempDir::new().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    run(&at("a"), 5_000);
    charted(&at("b"));
    for name in ["other", "damaged", "none", "half"] {
        unindexed(&at("a"), &at(name));
    }
    let index = fs::read(at("a").join(INDEX)).expect("an index");
    let mut damaged = index.clone();
    *damaged.last_mut().expect("octets") ^= 1;
    fs::copy(at("b").join(INDEX), at("other").join(INDEX)).expect("a copy");
    fs::write(at("damaged").join(INDEX), damaged).expect("a file");
    fs::write(at("half").join(INDEX), &index[..index.len() / 2]).expect("a file");
    let server = Server::of(folder.path());
    for (name, why) in [("other", "another packets.parquet"), ("damaged", "damaged"), ("half", "damaged")] {
        let told = problems(&server, name);
        assert!(told.contains(INDEX) && told.contains(why) && told.contains("counted again"), "{told}");
        agree(&server, ["none", name]);
    }
}
