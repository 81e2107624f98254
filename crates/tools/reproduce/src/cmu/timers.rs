//! Figure 7: the values of the retransmission timer.

use wayhop_report::{Distribution, Figure, Mark, Row, Section, Series, cdf};

use super::congestion::Congestion;
use super::paper::number;
use super::ping::Ping;

/// The shortest timer (section 6.2), milliseconds.
const MINIMUM_MS: f64 = 50.0;
/// Timers are whole milliseconds in the paper; ours have more digits.
const ROUNDING_MS: f64 = 0.5;

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
    let ours = [
        ("ping test", runs.iter().flat_map(|p| p.timers_ms.iter().copied()).collect::<Distribution>()),
        (
            "node A of Figure 8",
            congested.iter().flat_map(|c| c.timers_ms.iter().map(|(_, ms)| *ms)).collect(),
        ),
    ];
    let ours: Vec<_> =
        ours.into_iter().filter(|(_, d)| d.count() > 0).map(|(n, d)| (n.to_owned(), d)).collect();
    let mut plot = cdf("retransmission timer (ms)", "packets", &ours);
    // The paper's histogram has no numbers; its text gives these two points of the curve.
    let printed = [
        number("timer_at_minimum_pct").map(|pct| [MINIMUM_MS, pct]),
        number("timer_max_ms").map(|ms| [ms, 100.0]),
    ];
    plot = plot.with(Series::new(
        "paper, from its text",
        Mark::Cross,
        2,
        printed.into_iter().flatten().collect(),
    ));
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
        figures: vec![Figure::of("Figure 7", "How many packets were sent with a DSR retransmission timer of at most so long, on a logarithmic axis, all seeds \
             together. Of the paper's curve its text gives two points: the share at the minimum, and the longest.", plot)], ..Section::default() }
}
