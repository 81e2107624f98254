//! Runs that record chosen tables, nodes and flows (`[output]`), and what commands say about what they lack.

use serde_json::{Value, json};

use crate::why::{Row, table};
use crate::{folder, run_in, summary_of};

/// Two flows over a chain with a break in the middle of the run.
const CHAIN: &str = "name = \"chain\"\nduration_s = 12\nnodes.count = 4\n\
    movement = { kind = \"chain\", spacing_m = 200 }\nradio.preset = \"wavelan-914-ns2\"\n\
    [[nodes.node]]\nid = 3\nname = \"mesh-3\"\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 3\nrate_pps = 5\nstart_s = 1\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 3\ndst = 1\nrate_pps = 5\nstart_s = 1\n\
    [[outages]]\nnode = 2\nstart_s = 6\nlength_s = 3\n";

/// A summary without what differs from run to run, and without what it says of the record.
fn counts(mut summary: Value) -> Value {
    let keys = summary.as_object_mut().expect("an object");
    keys.remove("wall_s");
    keys.remove("record");
    summary
}

#[test]
fn a_run_with_few_tables_has_the_same_summary_and_commands_say_what_is_missing() {
    let dir = folder(&[("s.toml", CHAIN)]);
    let whole = summary_of(dir.path(), &["s.toml", "--out", "whole"]);
    assert_eq!(whole.get("record"), None);
    let part = summary_of(dir.path(), &["s.toml", "--out", "part", "--set", "output.tables=[\"packets\"]"]);
    assert_eq!(counts(part.clone()), counts(whole.clone()));
    let left_out = part["record"]["tables"].as_array().expect("names");
    assert!(left_out.contains(&json!("events")) && !left_out.contains(&json!("packets")), "{left_out:?}");
    assert_eq!(table(dir.path(), "part", "packets"), table(dir.path(), "whole", "packets"));

    let run = |args: &[&str]| run_in(dir.path(), args);
    let e = run(&["export", "csv", "part", "outcomes"]).failure(2);
    assert!(e.contains("outcomes.parquet") && e.contains("output.tables"), "{e}");
    // The list of losses is made of outcomes; the story of one packet needs only `packets`.
    let e = run(&["why", "part"]).failure(2);
    assert!(e.contains("output.tables"), "{e}");
    let told = run(&["why", "part", "--flow", "0", "--seq", "0"]);
    assert!(told.err.contains("part: the record is partial: without the tables "), "{}", told.err);
    assert!(told.ok().contains("delivered to its application"));
    let compared = run(&["compare", "whole", "part"]).ok().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(compared.contains("part: the record is partial: without the tables "), "{compared}");

    let none = summary_of(dir.path(), &["s.toml", "--out", "none", "--set", "output.tables=[]"]);
    assert_eq!(counts(none), counts(whole));
    let e = run(&["plot", "delivery", "none"]).failure(2);
    assert!(e.contains("output.tables"), "{e}");
}

#[test]
fn only_rows_of_the_chosen_nodes_and_flows_are_written() {
    let dir = folder(&[("s.toml", CHAIN)]);
    let whole = summary_of(dir.path(), &["s.toml", "--out", "whole"]);
    let all = table(dir.path(), "whole", "packets");
    let chosen = |of: &dyn Fn(&&Row) -> bool| all.iter().filter(of).cloned().collect::<Vec<Row>>();
    let only = |set: &str| {
        let summary = summary_of(dir.path(), &["s.toml", "--out", "r", "--set", set]);
        assert_eq!(counts(summary), counts(whole.clone()));
        table(dir.path(), "r", "packets")
    };
    let nodes = chosen(&|r| ["1", "3"].contains(&&*r["node"]));
    assert!(nodes.len() > 50 && nodes.len() < all.len());
    assert_eq!(only("output.nodes=[1, \"mesh-3\"]"), nodes);
    let flow = chosen(&|r| r["flow"] == "1");
    assert!(flow.len() > 50);
    assert_eq!(only("output.flows=[1]"), flow);
    // A packet of the other flow has no rows, and that is said.
    let e = run_in(dir.path(), &["why", "r", "--flow", "0", "--seq", "3"]).failure(2);
    assert!(e.contains("no packet 3 of flow 0") && e.contains("output.flows"), "{e}");
    let plotted = run_in(dir.path(), &["plot", "delivery", "r", "--out", "f.svg"]);
    assert!(plotted.err.contains("r: the record is partial: only rows of the flows 1"), "{}", plotted.err);
    plotted.ok();
}

#[test]
fn wrong_names_in_output_are_errors_with_the_list() {
    let dir = folder(&[("s.toml", CHAIN)]);
    let fails = |set: &str| run_in(dir.path(), &["run", "s.toml", "--set", set]).failure(2);
    let e = fails("output.tables=[\"packets\", \"packet\"]");
    for part in
        ["output.tables[1]", "there is no table \"packet\"", "did you mean \"packets\"?", "receptions"]
    {
        assert!(e.contains(part), "{part}: {e}");
    }
    let e = fails("output.nodes=[9]");
    assert!(e.contains("output.nodes[0]") && e.contains("there is no node 9"), "{e}");
    let e = fails("output.flows=[2]");
    assert!(e.contains("output.flows") && e.contains("flows are numbered 0 to 1"), "{e}");
    let e = run_in(dir.path(), &["run", "s.toml", "--identities", "--set", "output.flows=[1]"]).failure(2);
    assert!(e.contains("--identities needs the rows of all flows"), "{e}");
    let checked =
        run_in(dir.path(), &["run", "s.toml", "--check", "--set", "output.tables=[\"packets\"]"]).ok();
    assert!(checked.contains("limit_mb") && checked.contains("tables"), "{checked}");
}
