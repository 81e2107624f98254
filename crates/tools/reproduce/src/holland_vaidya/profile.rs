//! Figures 4 to 53: a pattern's profile, and TCP's throughput in it.

use wayhop_report::{Axis, Figure, Mark, Panel, Plot, Series};

use super::conditions::Conditions;
use super::plan::{BASE_MPS, Mechanism, SPEEDS_MPS, duration_s};
use super::transfer::Transfers;

/// The figure of one pattern: distance in hops with its path changes, and the throughput at each speed.
pub(crate) fn figure(c: &Conditions, runs: &Transfers) -> Figure {
    let mut panels = vec![Panel::new("(a) distance", distance(c))];
    for (letter, speed) in ('b'..).zip(SPEEDS_MPS) {
        let Some(t) = runs.of(c.pattern, speed, Mechanism::Reno) else { continue };
        panels.push(Panel::new(&format!("({letter}) {speed} m/s"), throughput(speed, &t.acknowledged)));
    }
    Figure::new(
        &format!("Pattern {}", c.pattern),
        "The shortest path in hops over time; ticks above it mark path changes. Below: throughput of TCP Reno per \
                  second.",
        panels,
    )
}

fn distance(c: &Conditions) -> Plot {
    let mut points = Vec::new();
    let mut most = 1.0_f64;
    for (step, end) in c.topology.intervals() {
        let hops = step.hops.map_or(f64::NAN, f64::from);
        most = most.max(hops);
        points.extend([[step.from.as_secs_f64(), hops], [end.as_secs_f64(), hops]]);
    }
    let top = most + 0.6;
    let ticks = c.topology.steps.iter().skip(1).map(|s| [s.from.as_secs_f64(), top]).collect();
    Plot::new(
        Axis::new("time (s)").from_to(0.0, duration_s(BASE_MPS)),
        Axis::new("distance (hops)").from_to(0.0, most + 1.0),
    )
    .with(Series::new("shortest path", Mark::Line, 0, points))
    .with(Series::new("path change", Mark::Plus, 6, ticks))
}

fn throughput(speed_mps: u32, acknowledged: &[u32]) -> Plot {
    let kbps = |(s, octets): (usize, &u32)| [s as f64 + 0.5, f64::from(*octets) * 8.0 / 1e3];
    let points = acknowledged.iter().enumerate().map(kbps).collect();
    Plot::new(
        Axis::new("time (s)").from_to(0.0, duration_s(speed_mps)),
        Axis::new("throughput (kb/s)").from_to(0.0, 1_500.0),
    )
    .with(Series::new("", Mark::Line, 0, points))
}
