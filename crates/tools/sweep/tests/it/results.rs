//! Means, intervals and paired differences, by hand.

use wayhop_sweep::{Plan, Results};

/// The plan's runs with a figure each, made by `figure` of labels and seed.
fn results(plan: &str, figure: impl Fn(&[String], u64) -> Option<f64>) -> Results {
    let plan = Plan::from_text(plan).unwrap();
    let runs = plan.runs().unwrap();
    let figures: Vec<Option<Vec<Option<f64>>>> =
        runs.iter().map(|r| figure(&r.labels, r.seed).map(|v| vec![Some(v)])).collect();
    Results::new(&plan.sweep, runs.iter().zip(figures.iter().map(|f| f.as_deref())))
}

const TWO: &str = "scenario = \"s\"\nmetrics = [\"x\"]\nseeds = [1, 2, 3, 4, 5]\n\
    [[axis]]\nname = \"p\"\nkey = \"p\"\nvalues = [\"a\", \"b\"]\n";

#[test]
fn pairs_take_out_what_runs_on_the_same_seed_share() {
    // a: 1, 4, 9, 16, 25; b is 10, 11, 12, 13, 14 more.
    let r = results(TWO, |labels, seed| {
        let shared = (seed * seed) as f64;
        Some(if labels[0] == "a" { shared } else { shared + 9.0 + seed as f64 })
    });
    let a = r.cells[0].estimates[0].unwrap();
    assert_eq!((a.mean, a.runs, r.cells[0].runs), (11.0, 5, 5));
    let d = &r.differences[0];
    let e = d.estimates[0].unwrap();
    // 10..14: mean 12, s = sqrt(2.5), half width 2.776 * 0.7071 = 1.963.
    let [low, high] = e.ci95.unwrap();
    assert_eq!((d.labels[0].as_str(), d.against.as_str(), e.mean), ("b", "a", 12.0));
    assert!((low - 10.036_76).abs() < 1e-4 && (high - 13.963_24).abs() < 1e-4, "{low} {high}");
}

#[test]
fn a_run_that_is_missing_takes_its_pair_out() {
    let r = results(TWO, |labels, seed| {
        (labels[0] == "a" || seed != 3).then(|| if labels[0] == "a" { 0.0 } else { seed as f64 })
    });
    let e = r.differences[0].estimates[0].unwrap();
    assert_eq!((e.mean, e.runs), (3.0, 4));
    assert_eq!((r.cells[0].runs, r.cells[1].runs), (5, 4));
}

#[test]
fn seeds_on_the_same_pattern_make_one_value() {
    let plan = "scenario = \"s\"\nmetrics = [\"x\"]\nseeds = [1, 2]\n\
        [[axis]]\nname = \"pattern\"\nkey = \"p\"\nvalues = [10, 20, 30]\nreplicate = true\n\
        [[axis]]\nname = \"q\"\nkey = \"q\"\nvalues = [0, 1]\n";
    let r = results(plan, |labels, seed| {
        let pattern: f64 = labels[0].parse().unwrap();
        Some(pattern + seed as f64 + if labels[1] == "1" { 100.0 } else { 0.0 })
    });
    // 11.5, 21.5, 31.5: three values, s = 10, t(2) = 4.303, half width 24.84.
    assert_eq!(r.axes, ["q"]);
    let e = r.cells[0].estimates[0].unwrap();
    assert_eq!((e.mean, e.runs, r.cells[0].runs), (21.5, 3, 6));
    let [low, high] = e.ci95.unwrap();
    assert!((high - low - 2.0 * 24.842).abs() < 1e-2, "{low} {high}");
    assert_eq!(r.compared.as_deref(), Some("q"));
    assert_eq!(r.differences[0].estimates[0].unwrap().ci95, Some([100.0, 100.0]));
}
