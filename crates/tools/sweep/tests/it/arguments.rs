//! Seeds and axes on the command line, and their effect on a plan.

use proptest::prelude::*;
use wayhop_sweep::{Axis, Changes, Plan, SeedRange, Seeds};

const PLAN: &str = "scenario = \"s.toml\"\nseeds = [7]\nset = { duration_s = 10 }\n\
    [[axis]]\nname = \"protocol\"\nkey = \"protocol.name\"\nvalues = [\"dsr\", \"aodv\"]\n\
    [[axis]]\nname = \"speed\"\nset = [{ label = \"slow\", set = { movement.speed_max_mps = 2 } }, \
    { label = \"fast\", set = { movement.speed_max_mps = 20 } }]\n";

fn changes(axes: &[&str], sets: &[&str]) -> Changes {
    Changes {
        axes: axes.iter().map(|a| Axis::parse(a).unwrap()).collect(),
        sets: sets.iter().map(ToString::to_string).collect(),
        ..Changes::default()
    }
}

fn runs(changes: &Changes) -> Vec<String> {
    let plan = Plan::from_text(PLAN).unwrap().changed(changes).unwrap();
    plan.runs().unwrap().iter().map(|r| r.sets.join(" ")).collect()
}

fn refused(changes: &Changes) -> String {
    let e = Plan::from_text(PLAN).unwrap().changed(changes).unwrap_err();
    format!("{e:?}")
}

#[test]
fn seeds_are_a_count_a_range_or_a_list() {
    let range = |first, count| Seeds::Range(SeedRange { first, count });
    for (text, seeds) in [
        ("10", range(1, 10)),
        (" 3..12 ", range(3, 10)),
        ("4..4", range(4, 1)),
        ("0..1", range(0, 2)),
        ("1,4,9", Seeds::List(vec![1, 4, 9])),
        ("9, 1..3", Seeds::List(vec![9, 1, 2, 3])),
    ] {
        assert_eq!(Seeds::parse(text), Ok(seeds), "{text}");
    }
    for (text, remedy) in [
        ("", "\"\" is not a whole number up to 100000; give a count (10), a range (3..12) or a list (1,4,9)"),
        ("0", "give at least 1"),
        (
            "ten",
            "\"ten\" is not a whole number up to 100000; give a count (10), a range (3..12) or a list (1,4,9)",
        ),
        (
            "-3",
            "\"-3\" is not a whole number up to 100000; give a count (10), a range (3..12) or a list (1,4,9)",
        ),
        (
            "100001",
            "\"100001\" is not a whole number up to 100000; give a count (10), a range (3..12) or a list (1,4,9)",
        ),
        ("12..3", "12..3 is in the wrong order; give 3..12"),
        ("1..9223372036854775807", "give at most 100000 seeds"),
        ("1,100..99999999,2", "give at most 100000 seeds"),
        ("1,2,1", "1 is given twice; give each seed once"),
        ("1..3,3", "3 is given twice; give each seed once"),
        (
            "1,,2",
            "\"\" is not a whole number up to 9223372036854775807; give a count (10), a range (3..12) or a list (1,4,9)",
        ),
        (
            "1..2..3",
            "\"2..3\" is not a whole number up to 9223372036854775807; give a count (10), a range (3..12) or a list (1,4,9)",
        ),
    ] {
        assert_eq!(Seeds::parse(text), Err(remedy.to_owned()), "{text}");
    }
}

#[test]
fn an_axis_is_a_key_and_values_as_set_takes_them() {
    let values = |text: &str| {
        let axis = Axis::parse(text).unwrap();
        assert_eq!(axis.key.as_deref(), Some(axis.name.as_str()));
        (axis.name, axis.values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
    };
    for (text, key, expected) in [
        ("nodes.count=10,20, 40", "nodes.count", "10 20 40"),
        ("protocol.name=dsr,aodv", "protocol.name", "\"dsr\" \"aodv\""),
        ("a=\"x,y\",'z\\'", "a", "\"x,y\" 'z\\'"),
        ("a=[1,2],[3]", "a", "[1, 2] [3]"),
        ("a={x=1,y=[2,3]},{}", "a", "{ x = 1, y = [2, 3] } {}"),
        ("a=\"q\\\",r\"", "a", "'q\",r'"),
        ("a=b=c", "a", "\"b=c\""),
        ("radio.x=true,1.5", "radio.x", "true 1.5"),
    ] {
        assert_eq!(values(text), (key.to_owned(), expected.to_owned()), "{text}");
    }
    for (text, remedy) in [
        ("nodes.count", "missing =; give a key"),
        ("=1", "\"\" is not a key"),
        ("a..b=1", "\"a..b\" is not a key"),
        ("seed=1,2", "seeds cannot be an axis; use --seeds 1,2,3"),
        ("a=1,,2", "empty value"),
        ("a=", "empty value"),
        ("a=1,2,1", "the value 1 is given twice; give each value once"),
        ("a=[1,2", "unclosed quote or bracket"),
        ("a=\"1,2", "unclosed quote or bracket"),
        ("a=1],2", "unmatched ]"),
    ] {
        let e = Axis::parse(text).unwrap_err();
        assert!(e.starts_with(remedy), "{text}: {e}");
    }
}

#[test]
fn an_axis_of_the_command_line_is_added_or_takes_the_place_of_the_plans() {
    // By its key, by its name, and one more.
    assert_eq!(
        runs(&changes(&["protocol.name=dsdv", "speed=fast", "nodes.count=5"], &[])),
        ["duration_s=10 protocol.name=\"dsdv\" movement.speed_max_mps=20 nodes.count=5 seed=7"]
    );
    assert_eq!(runs(&changes(&["protocol=dsdv"], &[])).len(), 2);
    let e = refused(&changes(&["speed=brisk"], &[]));
    assert!(
        e.contains("--vary speed: this axis of the plan has no value \\\"brisk\\\"; choose from: slow, fast"),
        "{e}"
    );
    let e = refused(&changes(&["nodes.count=1", "nodes.count=2"], &[]));
    assert!(e.contains("--vary nodes.count: given twice"), "{e}");
}

#[test]
fn settings_seeds_and_figures_of_the_command_line_hold() {
    let seeds = Some(Seeds::parse("2..3").unwrap());
    let more = Changes {
        seeds,
        ..changes(&["speed=slow", "protocol=dsr"], &["duration_s=5", "traffic.0.rate_pps=8"])
    };
    assert_eq!(
        runs(&more),
        [2, 3].map(|seed| format!(
            "duration_s=5 traffic.0.rate_pps=8 protocol.name=\"dsr\" movement.speed_max_mps=2 seed={seed}"
        ))
    );
    let metrics = vec!["delivery_ratio".to_owned(), "flows.0.sent".to_owned(), "totals.sent".to_owned()];
    let plan = Plan::from_text(PLAN).unwrap().changed(&Changes { metrics, ..Changes::default() }).unwrap();
    assert_eq!(plan.sweep.metrics, ["totals.delivery_ratio", "flows.0.sent", "totals.sent"]);
    for (set, remedy) in [
        ("seed=3", "--set seed=3: the seed cannot be set for all runs; use --seeds"),
        ("movement={kind=\\\"static\\\"}", "tables cannot be set here; set its keys one by one"),
        ("duration_s", "the setting has no ="),
        ("duration_s.x=1", "duration_s is 10, not a table"),
    ] {
        let e = refused(&changes(&[], &[&set.replace("\\\"", "\"")]));
        assert!(e.contains(remedy), "{set}: {e}");
    }
}

proptest! {
    #[test]
    fn any_seeds_are_read_or_refused(text in "[0-9., a-]{0,12}") {
        if let Ok(seeds) = Seeds::parse(&text) {
            let mut plan = Plan::from_text("scenario = \"s\"\n").unwrap();
            plan.sweep.seeds = seeds;
            prop_assert!(!plan.runs().unwrap().is_empty());
        }
    }

    #[test]
    fn any_axis_is_read_or_refused(text in "[a-c.]{0,3}=?[a-c0-9,\"'{}=\\[\\] \\\\\u{e9}]{0,16}") {
        if let Ok(axis) = Axis::parse(&text) {
            let count = axis.values.len();
            let plan = Plan::from_text("scenario = \"s\"\n").unwrap();
            let plan = plan.changed(&Changes { axes: vec![axis], ..Changes::default() }).unwrap();
            let runs = plan.runs().unwrap();
            prop_assert_eq!(runs.len(), count);
            // And it reads the same when it was written, as into a folder of results.
            let written = toml::to_string(&plan.sweep).unwrap();
            prop_assert_eq!(Plan::from_text(&written).unwrap().runs().unwrap(), runs);
        }
    }

    #[test]
    fn values_in_quotes_come_back(values in proptest::collection::btree_set("\\PC{0,6}", 1..5)) {
        let quote = |v: &String| format!("\"{}\"", v.replace('\\', "\\\\").replace('"', "\\\""));
        let quoted: Vec<String> = values.iter().map(quote).collect();
        let axis = Axis::parse(&format!("key={}", quoted.join(","))).unwrap();
        let back: Vec<&str> = axis.values.iter().filter_map(|v| v.as_str()).collect();
        prop_assert_eq!(back, values.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
