//! Figure 7: the values of the retransmission timer.

use wayhop_report::{Distribution, Figure, Mark, Row, Section, Series, cdf};

use super::congestion::Congestion;
use super::paper::number;
use super::ping::Ping;

/// The shortest timer (section 6.2), milliseconds.
const MINIMUM_MS: f64 = 50.0;
/// Timers are integer milliseconds in the paper; ours have more digits.
const ROUNDING_MS: f64 = 0.5;

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
    let printed = printed.into_iter().flatten().collect();
    plot = plot.with(Series::new("paper, from its text", Mark::Cross, 2, printed));
    Section::new(
        "Figure 7: the retransmission timer",
        "The timer with which each packet was sent, from the traced protocol state at each send. The paper's 4710 \
         values are from several undescribed runs; ours are from the ping test.",
    )
    .rows(vec![
        row("timer_at_minimum_pct", "timer_at_minimum_pct", |t| at_minimum_pct(t.iter().copied()))
        .note("About three quarters, at 50 ms, over several runs whose traffic the paper does not describe. Its \
               average one-hop round trip was 30 ms; radio and card account for 5 to 7 ms here."),
        Row::new("Figure 7", "node A of Figure 8", "timer_at_minimum_pct", None)
            .with(congested.iter().map(|c| at_minimum_pct(c.timers_ms.iter().map(|(_, ms)| *ms))))
            .note("Effect on the timers of a queue that stalls for 3 s out of 13."),
        row("timer_max_ms", "timer_max_ms", |t| t.iter().copied().reduce(f64::max)),
        Row::new("Figure 7", "all nodes", "packets_with_a_timer", 4710.0)
            .with(runs.iter().map(|p| Some(p.timers_ms.len() as f64)))
            .note("From several runs in the paper, from one here."),
        Row::new("Section 6.2", "one hop", "round_trip_ms", number("round_trip_one_hop_ms"))
            .note("Not from runs: radio and card account for 5 to 7 ms here, and processing in the hosts is not \
                   modelled."),
    ])
    .figures([Figure::of(
        "Figure 7",
        "Cumulative distribution of DSR's retransmission timers (logarithmic axis), all seeds combined. The paper's text \
         gives two points of its curve: the share at the minimum, and the longest timer.",
        plot,
    )])
}
