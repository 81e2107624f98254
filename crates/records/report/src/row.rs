//! One published number next to ours.

use serde::Serialize;

use crate::numbers::{plain, signed};
use crate::source::Source;
use crate::stats::{Estimate, FEWEST_RUNS};

/// The values that a quantity can have, which its interval does not leave.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Range {
    /// From 0 on: counts, times, rates.
    #[default]
    NotNegative,
    /// From 0 to 100: a share in per cent of a whole.
    Percent,
    /// From 0 to 1: a share of a whole.
    Share,
    /// All: differences, levels in dB.
    All,
}

impl Range {
    /// The part of an interval within the range. It covers the true value as often as the whole one does.
    fn part(self, [low, high]: [f64; 2]) -> [f64; 2] {
        match self {
            Self::NotNegative => [low.max(0.0), high.max(0.0)],
            Self::Percent => [low, high].map(|v| v.clamp(0.0, 100.0)),
            Self::Share => [low, high].map(|v| v.clamp(0.0, 1.0)),
            Self::All => [low, high],
        }
    }
}

/// One number of a paper and what a reproduction found: an object of `rows` in `wayhop reproduce --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// Where the paper has it: `Table I`, `Figure 8`, `Section 8.1`.
    pub artefact: String,
    /// Which row of it, or what the number belongs to.
    pub row: String,
    /// What is counted or measured, in `lower_snake_case` with its unit at the end: `loss_pct`, `timer_max_ms`.
    pub quantity: String,
    /// The paper's number; `None` where it gives none.
    pub paper: Option<f64>,
    /// Ours, the mean over seeds or, for a standard deviation, the one over seeds; `None` where it cannot be had, and `note`
    /// says why.
    pub ours: Option<f64>,
    /// The 95 % interval of ours over seeds; `None` of one seed.
    pub ci95: Option<[f64; 2]>,
    /// The number of runs behind ours.
    pub seeds: usize,
    /// What a reader has to know.
    pub note: String,
    /// The runs behind ours.
    pub runs: Vec<Source>,
    /// The values that the quantity can have.
    #[serde(skip)]
    pub range: Range,
}

impl Row {
    /// The paper's number, with nothing of ours yet.
    pub fn new(artefact: &str, row: &str, quantity: &str, paper: impl Into<Option<f64>>) -> Self {
        Self {
            artefact: artefact.to_owned(),
            row: row.to_owned(),
            quantity: quantity.to_owned(),
            paper: paper.into(),
            ..Self::default()
        }
    }

    /// In this range; before [`Row::with`].
    #[must_use]
    pub fn within(mut self, range: Range) -> Self {
        self.range = range;
        self
    }

    /// With ours, from one value a run. Runs that have none are left out.
    #[must_use]
    pub fn with(self, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        self.estimated(Estimate::of(&values.into_iter().flatten().collect::<Vec<_>>()))
    }

    /// With the standard deviation of ours over runs, from one value a run; nothing of fewer than two.
    #[must_use]
    pub fn with_deviation(self, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        self.estimated(Estimate::of_deviation(&values.into_iter().flatten().collect::<Vec<_>>()))
    }

    fn estimated(mut self, estimate: Option<Estimate>) -> Self {
        if let Some(e) = estimate {
            self.ours = Some(e.mean);
            self.ci95 = e.ci95.map(|ends| self.range.part(ends));
            self.seeds = e.runs;
        }
        self
    }

    /// With a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Ours less the paper's.
    pub fn difference(&self) -> Option<f64> {
        Some(self.ours? - self.paper?)
    }
    /// Ours less the paper's, % of the paper's; `None` where that is 0.
    pub fn difference_pct(&self) -> Option<f64> {
        let paper = self.paper.filter(|p| *p != 0.0)?;
        Some(100.0 * self.difference()? / paper.abs())
    }
    /// Whether the paper's number lies within our interval.
    pub fn agrees(&self) -> Option<bool> {
        let ([low, high], paper) = (self.ci95?, self.paper?);
        Some((low..=high).contains(&paper))
    }

    /// Whether the paper's number lies within our interval, and the interval tells anything: it is of enough runs, and leaves out
    /// zero.
    pub fn agrees_surely(&self) -> bool {
        let tells = self.ci95.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
        self.agrees() == Some(true) && tells && self.seeds >= FEWEST_RUNS
    }

    /// Paper, ours, interval, difference, and difference in per cent as people read them; a dash where there is none.
    pub(crate) fn cells(&self) -> [String; 5] {
        let dash = || "\u{2013}".to_owned();
        let number = |v: Option<f64>| v.map_or_else(dash, plain);
        let interval =
            self.ci95.map_or_else(dash, |[low, high]| format!("{} to {}", plain(low), plain(high)));
        let pct = self.difference_pct().map_or_else(dash, |pct| signed(pct.round()));
        [number(self.paper), number(self.ours), interval, self.difference().map_or_else(dash, signed), pct]
    }

    /// The quantity in words: `loss_pct` is `loss (%)`.
    pub(crate) fn quantity_words(&self) -> String {
        const UNITS: [(&str, &str); 12] = [
            ("_kbytes_per_s", "kB/s"),
            ("_pct", "%"),
            ("_ms", "ms"),
            ("_us", "\u{b5}s"),
            ("_pps", "packets/s"),
            ("_kbps", "kb/s"),
            ("_mbps", "Mb/s"),
            ("_kmh", "km/h"),
            ("_mps", "m/s"),
            ("_hz", "Hz"),
            ("_s", "s"),
            ("_m", "m"),
        ];
        let unit = UNITS.iter().find_map(|(end, unit)| Some((self.quantity.strip_suffix(end)?, unit)));
        match unit {
            Some((what, unit)) => format!("{} ({unit})", what.replace('_', " ")),
            None => self.quantity.replace('_', " "),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// With numbers of ours, without any, and without a run.
    pub(crate) fn rows() -> Vec<Row> {
        vec![
            Row::new("Table I", "T1", "loss_pct", 13.01).with([12.0, 13.0, 14.0].map(Some)),
            Row::new("Table I", "T2", "loss_pct", 12.57).with([None, None]).note("no runs"),
            Row::new("Section 9", "one hop, lab", "goodput_mbps", 0.86).note("no runs"),
        ]
    }

    #[test]
    fn an_interval_stays_where_its_quantity_can_be() {
        let few = [0.0, 0.0, 3.0].map(Some);
        let ends = |range| Row::new("a", "b", "lost_pct", None).within(range).with(few).ci95.unwrap();
        let [low, high] = ends(Range::All);
        assert!(low < 0.0);
        assert_eq!(ends(Range::NotNegative), [0.0, high]);
        let [_, most] = Row::new("a", "b", "received_pct", None)
            .within(Range::Percent)
            .with([99.0, 100.0, 94.0].map(Some))
            .ci95
            .unwrap();
        assert_eq!(most, 100.0);
    }

    #[test]
    fn agreement_is_the_paper_within_our_interval() {
        let [a, b, ..] = &rows()[..] else { unreachable!() };
        assert_eq!((a.agrees(), b.agrees()), (Some(true), None));
        assert!(!a.agrees_surely(), "three seeds are few");
        let row = |values: [f64; 5]| Row::new("Table I", "T1", "gain_pct", 13.0).with(values.map(Some));
        assert!(row([12.0, 13.0, 14.0, 12.5, 13.5]).agrees_surely());
        let noise = [-72.0, 182.0, 10.0, -40.0, 90.0].map(Some);
        let noise = Row::new("Table I", "T1", "gain_pct", 13.0).within(Range::All).with(noise);
        assert!(noise.agrees() == Some(true) && !noise.agrees_surely(), "{noise:?}");
    }
}
