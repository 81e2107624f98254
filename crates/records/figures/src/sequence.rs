//! Time-sequence plots: bytes sent and acknowledged by TCP senders, over time.

use std::fmt::Write as _;

use wayhop_report::{Axis, Figure, Panel, Plot, plain};

use crate::runs::Runs;
use crate::senders::{Sender, Sequence};
use crate::words::shortfalls;

/// Plots in a figure: of the senders with most octets.
const MOST_PANELS: usize = 6;
/// A stream of less than a hundredth of the longest one's octets has no plot: such connections only control others.
const LEAST_SHARE: u64 = 100;

struct SequencePlot<'a> {
    title: String,
    sender: Sender,
    /// The share of its run that is shown.
    share: f64,
    sequence: &'a Sequence,
    /// When its run ended, seconds.
    end: f64,
}

/// One plot for each sender, of each column's first run.
pub(crate) fn figure(runs: &Runs<'_>) -> Option<Figure> {
    let mut all: Vec<SequencePlot<'_>> = Vec::new();
    for (column, of) in runs.columns.iter().zip(&runs.sequences) {
        let Some(run) = column.runs.first() else { continue };
        let name = runs.legend(column);
        let place = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let drawn = |(sender, sequence): (&Sender, _)| SequencePlot {
            title: format!("{place}{}", of.title(run, *sender)),
            sender: *sender,
            share: of.share,
            sequence,
            end: run.summary.simulated_s,
        };
        all.extend(of.senders.iter().map(drawn));
    }
    all.sort_by_key(|d| std::cmp::Reverse(d.sequence.octets()));
    let most = all.first().map_or(0, |d| d.sequence.octets());
    let drawn = all.iter().take_while(|d| d.sequence.octets() * LEAST_SHARE >= most).count().min(MOST_PANELS);
    let left_out = all.len() - drawn;
    all.truncate(drawn);
    let end =
        runs.columns.iter().filter_map(|c| c.runs.first()).map(|r| r.summary.simulated_s).fold(0.0, f64::max);
    let panel = |d: &SequencePlot<'_>| {
        let (x, y) = (
            Axis::new("time (s)").from_to(0.0, end),
            Axis::new("sequence number (kB)").within(0.0, f64::INFINITY),
        );
        Panel::new(&d.title, Plot { series: d.sequence.series(d.end, d.share), ..Plot::new(x, y) })
    };
    let panels: Vec<Panel> = all.iter().map(panel).collect();
    (!panels.is_empty()).then(|| Figure::new("TCP over time", &caption(&all, runs, left_out), panels))
}

fn caption(all: &[SequencePlot<'_>], runs: &Runs<'_>, left_out: usize) -> String {
    let mut text = "Bytes sent and acknowledged by TCP senders. Each byte counts once".to_owned();
    if all.iter().any(|d| matches!(d.sender, Sender::Connection(..))) {
        text += "; program connections are sampled from their kernel several times a second, and a cross marks the oldest \
                 unacknowledged byte if something was retransmitted since the previous sample";
    }
    text += ".";
    if all.iter().any(|d| matches!(d.sender, Sender::Flow(_))) {
        text += " Crosses mark retransmissions, triangles expiries of the retransmission timer.";
    }
    text += &shortfalls(runs);
    for c in runs.columns.iter().filter(|c| c.runs.len() > 1) {
        _ = write!(text, " {}: the run with seed {}.", c.name, c.runs[0].summary.seed);
    }
    if left_out > 0 {
        _ = write!(text, " {} more senders with fewer bytes are not drawn.", plain(left_out as f64));
    }
    text
}
