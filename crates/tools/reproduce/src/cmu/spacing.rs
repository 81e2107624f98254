//! Figure 14: the time between replies.

use wayhop_report::{Axis, Figure, Mark, Plot, Row, Section, Series, mean, standard_deviation};

use super::paper::number;
use super::ping::Ping;

const BAR_MS: f64 = 10.0;
const END_MS: f64 = 700.0;

/// Times between replies as they came, milliseconds, ascending, without the longest hundredth.
fn spacings_ms(p: &Ping) -> Vec<f64> {
    let mut times: Vec<f64> = p.replies.values().map(|(at, _)| *at).collect();
    times.sort_by(f64::total_cmp);
    let mut gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) * 1e3).collect();
    gaps.sort_by(f64::total_cmp);
    gaps.truncate(gaps.len() - gaps.len() / 100);
    gaps
}

pub(crate) fn section(runs: &[Ping]) -> Section {
    let gaps: Vec<Vec<f64>> = runs.iter().map(spacings_ms).collect();
    let row = |quantity, paper, value: fn(&[f64]) -> Option<f64>| {
        Row::new("Figure 14", "replies at E1", quantity, number(paper)).with(gaps.iter().map(|g| value(g)))
    };
    let all = gaps.concat();
    let count = all.len().max(1) as f64;
    let bars = (0..(END_MS / BAR_MS) as usize).map(|i| {
        let low = i as f64 * BAR_MS;
        let n = all.iter().filter(|g| (low..low + BAR_MS).contains(*g)).count();
        [low + BAR_MS / 2.0, 100.0 * n as f64 / count]
    });
    let plot = Plot::new(
        Axis::new("time between replies (ms)").from_to(0.0, END_MS),
        Axis::new("share of replies (%)"),
    )
    .with(Series::new("", Mark::Bars(BAR_MS), 0, bars.collect()));
    Section::new(
        "Figure 14: time between replies",
        "Requests leave every 300 ms; loss and route changes stretch the time between replies. As in the paper, the \
         longest 1 % is left out.",
    )
    .rows(vec![
        row("spacing_mean_ms", "spacing_mean_ms", mean),
        row("spacing_sd_ms", "spacing_sd_ms", standard_deviation).note(
            "The paper prints a standard deviation of 0.026 ms. No 2 Mb/s radio is that regular; it is probably 0.026 \
             s, or 26 ms. Even that is too low: if replies arrive at multiples of 300 ms, a mean of 314 ms requires a \
             deviation of at least 63 ms.",
        ),
    ])
    .figures([Figure::of("Figure 14", "Time between consecutive echo replies at E1, all seeds together.", plot)])
}
