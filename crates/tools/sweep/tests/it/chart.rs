//! Figures of a sweep's results, from files written by hand.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::json;
use wayhop_report::Plot;
use wayhop_sweep::{ChartRequest, chart};

const PLAN: &str = "name = \"p\"\nscenario = \"s.toml\"\nmetrics = [\"totals.sent\"]\n\
    [[axis]]\nname = \"protocol\"\nkey = \"protocol.name\"\nvalues = [\"dsr\", \"aodv\"]\n\
    [[axis]]\nname = \"nodes.count\"\nkey = \"nodes.count\"\nvalues = [10, 20]\n";

/// Latencies in ms of five seeds each: 1 to 5, three of five, none, and 100 times 1 to 5.
const LATENCIES: [(&str, &str, [Option<f64>; 5]); 4] = [
    ("dsr", "20", [Some(1.0), Some(2.0), Some(3.0), Some(4.0), Some(5.0)]),
    ("dsr", "10", [Some(1.0), None, Some(2.0), None, Some(3.0)]),
    ("aodv", "10", [None; 5]),
    ("aodv", "20", [Some(100.0), Some(200.0), Some(300.0), Some(400.0), Some(500.0)]),
];

/// A folder of results; those of an older plan, which do not count, are among them.
fn results(plan: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let (mut lines, mut ids) = (String::new(), Vec::new());
    let line = |id: &str, protocol: &str, nodes: &str, seed: usize, latency: Option<f64>| {
        let latency = latency.map(|mean| json!({ "mean": mean }));
        let totals = json!({ "sent": 20_000, "goodput_bps": 30_000.0, "latency_ms": latency, "drops": {} });
        json!({ "id": id, "run": { "protocol": protocol, "nodes.count": nodes, "seed": seed }, "summary": { "totals": totals } })
    };
    writeln!(lines, "{}", line("old", "dsr", "20", 1, Some(1e6))).unwrap();
    for (protocol, nodes, latencies) in LATENCIES {
        for (i, latency) in latencies.into_iter().enumerate() {
            let id = format!("{protocol}-{nodes}-{i}");
            writeln!(lines, "{}", line(&id, protocol, nodes, i + 1, latency)).unwrap();
            ids.push(id);
        }
    }
    lines.push_str("{\"id\":\"torn");
    let owner =
        json!({ "sweep": "p", "scenario": "s.toml", "axes": ["protocol", "nodes.count"], "runs": ids });
    fs::write(dir.path().join("runs.jsonl"), lines).unwrap();
    fs::write(dir.path().join("sweep.json"), owner.to_string()).unwrap();
    fs::write(dir.path().join("plan.toml"), plan).unwrap();
    dir
}

fn request(x: &str, y: &str, by: Option<&str>, only: &[(&str, &str)]) -> ChartRequest {
    ChartRequest {
        x: Some(x.to_owned()),
        y: Some(y.to_owned()),
        by: by.map(str::to_owned),
        only: only.iter().map(|(a, v)| (a.to_string(), v.to_string())).collect(),
        ..ChartRequest::default()
    }
}

/// The plot, the caption and the name for a file.
fn drawn(dir: &Path, request: &ChartRequest) -> (Plot, String, String) {
    let chart = chart(dir, request).unwrap();
    let [panel] = &chart.figure.panels[..] else { panic!("{chart:?}") };
    (panel.plot.clone(), chart.figure.caption.clone(), chart.name)
}

fn refused(dir: &Path, request: &ChartRequest) -> String {
    format!("{:?}", chart(dir, request).unwrap_err())
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-3
}

#[test]
fn points_are_means_with_students_intervals_of_the_plans_runs() {
    let dir = results(PLAN);
    let (plot, caption, name) =
        drawn(dir.path(), &request("nodes.count", "latency_ms.mean", Some("protocol.name"), &[]));
    assert_eq!((plot.x.label.as_str(), plot.y.label.as_str()), ("number of nodes", "latency, mean (ms)"));
    assert_eq!((plot.heading.as_str(), name.as_str()), ("protocol", "latency_ms.mean-nodes.count"));
    let [dsr, aodv] = &plot.series[..] else { panic!("{plot:?}") };
    assert_eq!((dsr.name.as_str(), aodv.name.as_str()), ("dsr", "aodv"));
    assert!(dsr.mark != aodv.mark && dsr.colour != aodv.colour && dsr.is_joined);
    // In the order of the scale. The mean of 1, 2, 3 has s = 1 and t(2) = 4.30265: 4.30265 / sqrt(3) = 2.48414 to each side;
    // that of 1 to 5 s = sqrt(2.5) and t(4) = 2.77645: 1.96324.
    let expected = [(10.0, 2.0, 2.484_14), (20.0, 3.0, 1.963_24)];
    assert_eq!(dsr.points.len(), 2);
    for ((point, ends), (x, mean, half)) in dsr.points.iter().zip(&dsr.intervals).zip(expected) {
        let ends = ends.unwrap();
        assert!((point[0] - x).abs() < 0.2 && near(point[1], mean), "{point:?}");
        assert!(near(ends[0], mean - half) && near(ends[1], mean + half), "{ends:?}");
    }
    // Nothing arrived with 10 nodes: no point, and not one at 0.
    assert_eq!(aodv.points.len(), 1);
    assert!(near(aodv.points[0][1], 300.0) && aodv.points[0][0] == dsr.points[1][0]);
    assert!((aodv.shift - dsr.shift).abs() > 0.05, "drawn apart, where they are the same number");
    assert_eq!(
        caption,
        "Means over 3 to 5 runs with 95 % intervals (Student's t). 7 of 20 runs are left out because latency_ms.mean is \
         undefined."
    );
}

#[test]
fn names_stand_side_by_side_and_large_rates_are_counted_in_thousands() {
    let dir = results(PLAN);
    let by = request("protocol", "goodput_bps", Some("nodes.count"), &[]);
    let (plot, caption, _) = drawn(dir.path(), &by);
    assert_eq!(plot.x.names, ["dsr", "aodv"]);
    assert_eq!((plot.y.label.as_str(), plot.heading.as_str()), ("goodput (kbit/s)", "number of nodes"));
    assert_eq!(caption, "Means over 5 runs with 95 % intervals (Student's t).");
    let x: Vec<f64> = plot.series.iter().flat_map(|s| s.points.iter().map(|p| p[0] + s.shift)).collect();
    assert!(near(x[0], -0.15) && near(x[1], 0.85) && near(x[2], 0.15) && near(x[3], 1.15), "{x:?}");
    assert!(plot.series.iter().all(|s| !s.is_joined && s.points.iter().all(|p| near(p[1], 30.0))));
    let labels = ChartRequest {
        x_label: Some("who".to_owned()),
        y_label: Some("how much".to_owned()),
        ..request("protocol", "goodput_bps", None, &[("nodes.count", "20")])
    };
    let (plot, caption, _) = drawn(dir.path(), &labels);
    assert_eq!((plot.x.label.as_str(), plot.y.label.as_str(), plot.series.len()), ("who", "how much", 1));
    assert!(caption.ends_with(" nodes.count = 20."), "{caption}");
}

#[test]
fn differences_are_of_runs_with_the_same_seed() {
    let dir = results(PLAN);
    let by = ChartRequest {
        differences: true,
        ..request("nodes.count", "latency_ms.mean", Some("protocol.name"), &[])
    };
    let (plot, caption, name) = drawn(dir.path(), &by);
    assert_eq!(name, "differences-latency_ms.mean-nodes.count");
    assert_eq!(plot.y.label, "latency, mean (ms), difference to dsr");
    // 100 less 1, 200 less 2, ...: 99 times 1 to 5, whose half width is 1.96324. Unpaired it would be 196, and off-centre.
    let [zero, aodv] = &plot.series[..] else { panic!("{plot:?}") };
    assert_eq!((zero.points.as_slice(), aodv.points.len()), (&[[0.0, 0.0]][..], 1));
    assert!(aodv.points[0][0] == 20.0 && near(aodv.points[0][1], 297.0), "{aodv:?}");
    let ends = aodv.intervals[0].unwrap();
    assert!((ends[0] - 102.639).abs() < 0.01 && (ends[1] - 491.361).abs() < 0.01, "{ends:?}");
    assert!(
        caption.starts_with("Mean differences to dsr over 5 pairs of runs with the same seed"),
        "{caption}"
    );
}

#[test]
fn one_run_has_no_interval_and_a_sweep_that_is_not_complete_says_so() {
    let dir = results(PLAN);
    let text = fs::read_to_string(dir.path().join("runs.jsonl")).unwrap();
    let first: Vec<&str> = text.lines().filter(|l| l.contains("\"seed\":1}")).collect();
    fs::write(dir.path().join("runs.jsonl"), first.join("\n") + "\n").unwrap();
    let (plot, caption, _) = drawn(dir.path(), &request("nodes.count", "sent", Some("protocol"), &[]));
    assert!(plot.series.iter().all(|s| s.intervals.iter().all(Option::is_none) && s.points.len() == 2));
    assert_eq!(caption, "Single runs, without intervals. Incomplete sweep: 4 of 20 runs.");
}

#[test]
fn what_cannot_be_drawn_is_refused_with_a_remedy() {
    let dir = results(PLAN);
    let d = dir.path();
    let by = |x: &str, y: &str, by: &str| request(x, y, Some(by), &[]);
    for (request, message) in [
        (request("nodes", "sent", None, &[]), "--x nodes: no such axis; "),
        (
            by("protocol", "sent", "nodes.cuont"),
            "did you mean nodes.count? the sweep varies protocol, nodes.count",
        ),
        (by("protocol", "sent", "protocol.name"), "--by protocol is the horizontal axis; give another"),
        (
            request("protocol", "sent", None, &[]),
            "the runs also differ in nodes.count; choose a value with --only nodes.count=20, of 20, 10",
        ),
        (
            request("protocol", "sent", None, &[("nodes.count", "30")]),
            "no run has this value; give one of: 20, 10",
        ),
        (by("protocol", "latency", "nodes.count"), "no run has a figure \\\"latency\\\"; did you mean "),
        (by("protocol", "latency_ms.meen", "nodes.count"), "did you mean \\\"totals.latency_ms.mean\\\"?"),
        (by("protocol", "drops.NO_RUOTE", "nodes.count"), "did you mean \\\"totals.drops.NO_ROUTE\\\"?"),
        (by("protocol", "round_trip_ms.mean", "nodes.count"), "is undefined in all 20 runs"),
    ] {
        let e = refused(d, &request);
        assert!(e.starts_with("Usage(") && e.contains(message), "{request:?}\n{e}");
    }
    // A count of what did not happen is 0.
    let (none, ..) = drawn(d, &by("protocol", "drops.NO_ROUTE", "nodes.count"));
    assert!(none.series.iter().all(|s| s.points.iter().all(|p| p[1] == 0.0)));
    fs::write(d.join("plan.toml"), PLAN.replace("values = [10, 20]", "values = [10, 20]\nreplicate = true"))
        .unwrap();
    let e = refused(d, &by("protocol", "sent", "nodes.count"));
    assert!(e.contains("its values are repetitions"), "{e}");
    fs::write(d.join("plan.toml"), PLAN).unwrap();
    let text = fs::read_to_string(d.join("runs.jsonl")).unwrap();
    fs::write(d.join("runs.jsonl"), text.replace("20000", "1e300")).unwrap();
    assert!(refused(d, &by("protocol", "sent", "nodes.count")).contains("values of 1e300 cannot be drawn"));
    fs::write(d.join("runs.jsonl"), "{\"id\":\"dsr-20-0\"}\n").unwrap();
    let e = refused(d, &ChartRequest::default());
    assert!(e.contains("runs.jsonl: line 1 is not a result; remove it"), "{e}");
    fs::write(d.join("runs.jsonl"), "").unwrap();
    assert!(refused(d, &ChartRequest::default()).contains("no run of the plan has finished"));
    fs::remove_file(d.join("sweep.json")).unwrap();
    assert!(refused(d, &ChartRequest::default()).contains("no results of a sweep; give a folder"));
    fs::write(d.join("manifest.json"), "{}").unwrap();
    assert!(refused(d, &ChartRequest::default()).contains("the directory of a single run; give the folder"));
    assert!(refused(&d.join("none"), &ChartRequest::default()).contains("not a folder"));
}
