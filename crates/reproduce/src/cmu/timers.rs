//! Figure 7: the values of the retransmission timer.

use wayhop_report::{Axis, Figure, Mark, Plot, Row, Section, Series};

use super::congestion::Congestion;
use super::paper::number;
use super::ping::Ping;

/// The shortest timer (section 6.2), milliseconds.
const MINIMUM_MS: f64 = 50.0;
/// Timers are whole milliseconds in the paper; ours have more digits.
const ROUNDING_MS: f64 = 0.5;
const BAR_MS: f64 = 10.0;
const END_MS: f64 = 920.0;

/// The share of timers at the minimum, per cent.
fn at_minimum_pct(timers_ms: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let all = timers_ms.len();
    let n = timers_ms.filter(|t| *t <= MINIMUM_MS + ROUNDING_MS).count();
    (all > 0).then(|| 100.0 * n as f64 / all as f64)
}

/// The section of Figure 7, from runs of the ping test; and what the timers were in the experiment of Figure 8.
pub(crate) fn section(runs: &[Ping], congested: &[Congestion]) -> Section {
    let row = |quantity, paper, value: fn(&[f64]) -> Option<f64>| {
        Row::new("Figure 7", "all nodes", quantity, number(paper))
            .with(runs.iter().map(|p| value(&p.timers_ms)))
    };
    let all: Vec<f64> = runs.iter().flat_map(|p| p.timers_ms.iter().copied()).collect();
    let count = all.len().max(1) as f64;
    let bars = (0..(END_MS / BAR_MS) as usize).map(|i| {
        // A bar stands around its value: 45 to 55 ms is 50.
        let value = i as f64 * BAR_MS;
        let n = all.iter().filter(|t| (**t - value).abs() <= BAR_MS / 2.0).count();
        [value, 100.0 * n as f64 / count]
    });
    let plot = Plot::new(
        Axis::new("retransmission timer (ms)").from_to(0.0, END_MS),
        Axis::new("share of packets (%)").from_to(0.0, 100.0),
    )
    .with(Series::new("", Mark::Bars(BAR_MS), 0, bars.collect()));
    Section {
        heading: "Figure 7: the retransmission timer".to_owned(),
        text: vec![
            "The timer with which each packet was sent, from the trace of the protocol's state at each send. The paper's 4710 \
             values are of several runs that it does not describe; ours are of the ping test."
                .to_owned(),
        ],
        rows: vec![
            row("timer_at_minimum_pct", "timer_at_minimum_pct", |t| at_minimum_pct(t.iter().copied()))
            .note("About three quarters, at 50 ms, over several runs of which the paper does not say what was sent in them. Its \
                   average round trip over one hop was 30 ms; radio and card account for 5 to 7 ms here."),
            Row::new("Figure 7", "node A of Figure 8", "timer_at_minimum_pct", None)
                .with(congested.iter().map(|c| at_minimum_pct(c.timers_ms.iter().map(|(_, ms)| *ms))))
                .note("What a queue that stalls for 3 s of 13 makes of the timers."),
            row("timer_max_ms", "timer_max_ms", |t| t.iter().copied().reduce(f64::max)),
            Row::new("Figure 7", "all nodes", "packets_with_a_timer", 4710.0)
                .with(runs.iter().map(|p| Some(p.timers_ms.len() as f64)))
                .note("Of several runs in the paper, of one here."),
            Row::new("Section 6.2", "one hop", "round_trip_ms", number("round_trip_one_hop_ms"))
                .note("Not taken from runs: radio and card account for 5 to 7 ms here, the hosts' own time is not modelled."),
        ],
        figures: vec![Figure::of("Figure 7", "Values of the DSR retransmission timer when a packet was sent, all seeds together.", plot)],
    }
}
