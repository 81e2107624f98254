//! Columns side by side.

use wayhop_report::Estimate;
use wayhop_trace::{Error, FlowSummary};

use crate::column::{Column, ColumnRun};
use crate::kind::FigureKind;
use crate::senders::Sequences;
use crate::traffic::Traffic;

/// Spans of time in a figure over time, about.
const SPANS: f64 = 24.0;

/// What a figure is of.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// Seconds of a run that a time-sequence plot shows; without it, the whole run.
    pub window_s: Option<f64>,
    /// Whether shares of a cumulative distribution of latencies are of the packets sent, not of those that arrived.
    pub over_sent: bool,
}

/// Columns with what became of their packets.
pub struct Runs<'a> {
    /// The columns.
    pub columns: &'a [Column],
    /// By column and run; empty if nothing asked for it, or if no run knows of flows.
    traffic: Vec<Vec<Traffic>>,
    /// Of each column's first run; empty if nothing asked for it.
    pub(crate) sequences: Vec<Sequences>,
    pub(crate) span_s: f64,
    pub(crate) choices: Choices,
}

impl<'a> Runs<'a> {
    /// With what the packets' tables say, if one of the kinds needs it.
    pub fn read(columns: &'a [Column], kinds: &[FigureKind], choices: Choices) -> Result<Self, Error> {
        let longest = columns.iter().flat_map(|c| &c.runs).map(|r| r.summary.simulated_s).fold(0.0, f64::max);
        let span_s = round_above(longest / SPANS);
        // One node of a real mesh knows one end of each flow only: what arrived elsewhere is in no table.
        let knows = |r: &ColumnRun| r.summary.flows.iter().any(FlowSummary::knows_both_ends);
        let knows_flows = columns.iter().flat_map(|c| &c.runs).any(knows);
        let traffic = if knows_flows && kinds.iter().any(|k| k.needs_packets()) {
            let of = |c: &Column| c.runs.iter().map(|r| Traffic::read(r, span_s)).collect();
            columns.iter().map(of).collect::<Result<_, _>>()?
        } else {
            Vec::new()
        };
        let sequences = if kinds.contains(&FigureKind::Sequence) {
            let of = |c: &Column| {
                let first = c.runs.first();
                first.map_or_else(|| Ok(Sequences::default()), |r| Sequences::read(r, choices.window_s))
            };
            columns.iter().map(of).collect::<Result<_, _>>()?
        } else {
            Vec::new()
        };
        Ok(Self { columns, traffic, sequences, span_s, choices })
    }

    pub(crate) fn traffic(&self) -> impl Iterator<Item = (&'a Column, &[Traffic])> {
        self.columns.iter().zip(self.traffic.iter().map(Vec::as_slice))
    }

    /// What a column's legend says: nothing where there is one column only.
    pub(crate) fn legend(&self, c: &Column) -> String {
        if self.columns.len() > 1 { c.name.clone() } else { String::new() }
    }

    /// For each column the mean over its runs of what `of` makes of them.
    pub(crate) fn estimates(&self, of: impl Fn(&ColumnRun) -> Option<f64>) -> Vec<Option<Estimate>> {
        let mean = |c: &Column| estimate(c.runs.iter().map(&of));
        self.columns.iter().map(mean).collect()
    }
}

pub(crate) fn estimate(values: impl Iterator<Item = Option<f64>>) -> Option<Estimate> {
    Estimate::of(&values.flatten().collect::<Vec<_>>())
}

/// The next of 1, 2, 5, 10, 20, ... and their tenths.
fn round_above(v: f64) -> f64 {
    let mut power = 1e-6;
    while power < 1e9 {
        if let Some(f) = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= v) {
            return f * power;
        }
        power *= 10.0;
    }
    power
}
