//! ns-2's sources in bursts as the oracle of ours: the same statistics over long runs.

use std::path::Path;
use std::process::Command;

use wayhop_core::{
    Application as _, ApplicationCx, ApplicationEffect, ApplicationInput, Purpose, Time, stream,
};
use wayhop_scenario::{Resolved, Scenario, export_ns2};
use wayhop_simulator_files::ns2::ExportOptions;
use wayhop_transport::Source;

/// 1 % of pairs of samples of the same law have a Kolmogorov-Smirnov distance above this by the root of (n + m) / (n m).
const KOLMOGOROV_1_PERCENT: f64 = 1.628;

/// A flow in bursts of packets of 100 octets, 10 ms apart, from node 0 to node 1.
fn scenario(keys: &str, run_s: f64) -> Resolved {
    scenario_at(80_000, keys, run_s)
}

/// The same at another rate, bit/s.
fn scenario_at(rate_bps: u32, keys: &str, run_s: f64) -> Resolved {
    let text = format!(
        "duration_s = {run_s}\n[nodes]\ncount = 2\n[movement]\nkind = \"chain\"\nspacing_m = 100\n[[traffic]]\n\
         src = 0\ndst = 1\npayload_bytes = 100\nrate_bps = {rate_bps}\non_s = 1.0\n{keys}\n"
    );
    Scenario::from_text(&text, &[]).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"))
}

/// When ns-2 sends, running what we export.
fn ns2_departures(r: &Resolved, name: &str) -> Vec<f64> {
    let dir = tempfile::tempdir().unwrap();
    let traffic = dir.path().join("traffic.tcl");
    std::fs::write(&traffic, export_ns2(r, ExportOptions { god: false }).unwrap().traffic).unwrap();
    let output = Command::new("ns")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bursts.tcl"))
        .arg(&traffic)
        .arg(r.duration.as_secs_f64().to_string())
        .output()
        .expect("ns-2 is the oracle of this test: apt-get install ns2");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "ns-2 failed: {}", String::from_utf8_lossy(&output.stderr));
    let times: Vec<f64> = text
        .lines()
        .filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
            // A packet enters the queue of the wire at once when it is sent.
            ["+", at, _, _, kind, "100", ..] => {
                assert_eq!(kind, name);
                at.parse().ok()
            }
            _ => None,
        })
        .collect();
    assert!(times.len() > 1_000, "{text}");
    times
}

fn our_departures(r: &Resolved) -> Vec<f64> {
    let mut rng = stream(r.seed, Purpose::Traffic, 0);
    let mut source = Source::new(r.flows[0].clone(), r.addresses[1].into());
    let mut call = |at, input| {
        let mut effects = Vec::new();
        source.on_input(&mut ApplicationCx::new(at, r.addresses[0].into(), &mut rng, &mut effects), input);
        let timer = |e| if let ApplicationEffect::SetTimer(key, at) = e { Some((key, at)) } else { None };
        effects.into_iter().find_map(timer).filter(|(_, at)| *at < r.duration)
    };
    let mut times = Vec::new();
    let mut next = call(Time::ZERO, ApplicationInput::Start);
    while let Some((key, at)) = next {
        times.push(at.as_secs_f64());
        next = call(at, ApplicationInput::Timer(key));
    }
    times
}

/// The packets of each burst, and the silence before each but the first. A silence of less than half an interval counts as
/// none, for both sides.
fn bursts(times: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut packets, mut silences) = (vec![1.0], Vec::new());
    for pair in times.windows(2) {
        let silence = pair[1] - pair[0] - 0.01;
        if silence > 0.005 {
            silences.push(silence);
            packets.push(0.0);
        }
        *packets.last_mut().unwrap() += 1.0;
    }
    packets.pop();
    (packets, silences)
}

/// The largest distance between two samples' distributions, as a multiple of what 1 % of pairs exceed.
fn distance(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let share = |of: &[f64], x: f64| of.partition_point(|v| *v <= x) as f64 / of.len() as f64;
    let largest = a.iter().chain(&b).map(|x| (share(&a, *x) - share(&b, *x)).abs()).fold(0.0, f64::max);
    let (n, m) = (a.len() as f64, b.len() as f64);
    largest / (KOLMOGOROV_1_PERCENT * ((n + m) / (n * m)).sqrt())
}

#[test]
fn bursts_are_those_of_ns2() {
    for (keys, name) in [("kind = \"on-off\"", "exp"), ("kind = \"pareto\"\nshape = 1.5", "pareto")] {
        let r = scenario(&format!("{keys}\noff_s = 2.0"), 6_000.0);
        let (theirs, ours) = (ns2_departures(&r, name), our_departures(&r));
        let ((their_packets, their_silences), (our_packets, our_silences)) = (bursts(&theirs), bursts(&ours));
        assert!(their_packets.len() > 1_500 && our_packets.len() > 1_500, "{name}");
        let (packets, silences) =
            (distance(their_packets, our_packets), distance(their_silences, our_silences));
        assert!(packets < 1.0 && silences < 1.0, "{name}: {packets} {silences}");
        // The test tells silences that are an eighth longer apart.
        let other = our_departures(&scenario(&format!("{keys}\noff_s = 2.25"), 6_000.0));
        assert!(distance(bursts(&theirs).1, bursts(&other).1) > 1.0, "{name}");
    }
}

#[test]
fn the_mean_rate_is_that_of_ns2() {
    // Finite variances: 10,000 bursts with deviations of about their means give standard errors of 1.4 % on each side. More packets in
    // each would tell no more of them.
    for (keys, name) in [("kind = \"on-off\"", "exp"), ("kind = \"pareto\"\nshape = 3.0", "pareto")] {
        let r = scenario_at(16_000, &format!("{keys}\noff_s = 2.0"), 30_000.0);
        let [theirs, ours] =
            [ns2_departures(&r, name), our_departures(&r)].map(|t| t.len() as f64 / 30_000.0);
        assert!((theirs / ours - 1.0).abs() < 0.08, "{name}: ns-2 {theirs}, ours {ours}");
        // A third of 20 packets a second.
        assert!(
            (ours / 6.667 - 1.0).abs() < 0.06 && (theirs / 6.667 - 1.0).abs() < 0.06,
            "{name}: {theirs}, {ours}"
        );
    }
}
