//! Any number of values in bounded memory, as their cumulative distribution.

use std::collections::BTreeMap;

use crate::plot::{Axis, Mark, Plot, Series};

/// Classes per factor of two: 0.14 % each, so that a figure of six decades and 700 pixels has fifteen per pixel.
const PER_OCTAVE: f64 = 512.0;

/// How many values are at most how large. Values are counted in classes 0.14 % wide, and each class keeps its largest value:
/// the shares at those values are exact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// By class: how many, and the largest.
    classes: BTreeMap<i32, (u64, f64)>,
    /// Zero and less, which has no place on a logarithmic axis.
    lowest: u64,
    smallest: Option<f64>,
    count: u64,
    sum: f64,
}

impl Distribution {
    /// Counts a value; one that is not finite is none.
    pub fn add(&mut self, v: f64) {
        if !v.is_finite() {
            return;
        }
        self.count += 1;
        self.sum += v;
        if v <= 0.0 {
            self.lowest += 1;
            return;
        }
        self.smallest = Some(self.smallest.map_or(v, |s| s.min(v)));
        let class = libm::floor(libm::log2(v) * PER_OCTAVE) as i32;
        let entry = self.classes.entry(class).or_insert((0, v));
        *entry = (entry.0 + 1, entry.1.max(v));
    }

    /// Counts all values of another.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.lowest += other.lowest;
        self.smallest = self.smallest.into_iter().chain(other.smallest).reduce(f64::min);
        for (class, (n, largest)) in &other.classes {
            let entry = self.classes.entry(*class).or_insert((0, *largest));
            *entry = (entry.0 + n, entry.1.max(*largest));
        }
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; `None` of nothing.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The quantile `q` by nearest rank, at most 0.14 % too large; `None` of nothing.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = ((q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).max(1);
        if self.count > 0 && rank <= self.lowest {
            return Some(0.0);
        }
        let mut seen = self.lowest;
        let found = self.classes.values().find(|(n, _)| {
            seen += n;
            seen >= rank
        });
        found.map(|(_, largest)| *largest)
    }

    /// Values, each with the share of all that is at most as large, in per cent. The last is the largest, with 100.
    pub fn steps(&self) -> Vec<[f64; 2]> {
        self.steps_of(self.count)
    }

    /// The same, as shares of a total that includes values that do not exist.
    fn steps_of(&self, all: u64) -> Vec<[f64; 2]> {
        let all = all as f64;
        let mut seen = self.lowest;
        let mut steps: Vec<[f64; 2]> =
            self.smallest.map(|s| [s, 100.0 * seen as f64 / all]).into_iter().collect();
        for (n, largest) in self.classes.values() {
            seen += n;
            steps.push([*largest, 100.0 * seen as f64 / all]);
        }
        steps
    }
}

impl FromIterator<f64> for Distribution {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        let mut all = Self::default();
        values.into_iter().for_each(|v| all.add(v));
        all
    }
}

/// Cumulative distributions over a logarithmic axis, a line each. `x` is what is distributed, with its unit; `y` of what the
/// shares are.
pub fn cdf(x: &str, y: &str, all: &[(String, Distribution)]) -> Plot {
    let all: Vec<_> = all.iter().map(|(name, d)| (name.clone(), d.clone(), d.count())).collect();
    cdf_of(x, y, &all)
}

/// The same, as shares of a total that includes values that do not exist: a line ends at the share of those that do.
pub fn cdf_of(x: &str, y: &str, all: &[(String, Distribution, u64)]) -> Plot {
    let plot = Plot::new(Axis::new(x).log(), Axis::new(&format!("{y} (%)")).from_to(0.0, 100.0));
    let ends = all.iter().filter_map(|(_, d, _)| d.steps().last().copied()).map(|p| p[0]).reduce(f64::max);
    all.iter().enumerate().fold(plot, |plot, (i, (name, d, of))| {
        let (mark, colour) = Mark::nth(i);
        let mut steps = d.steps_of(*of);
        // To the end of the longest, so that none seems cut off.
        let last = steps.last().map(|p| p[1]);
        steps.extend(ends.zip(last).map(|(x, share)| [x, share]));
        let line = Series::new(name, Mark::Steps, colour, steps);
        plot.with(if all.len() > 1 { line.beads(mark) } else { line })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::percentile;

    #[test]
    fn the_share_at_each_step_is_that_of_the_values_themselves() {
        // 0.37, 0.38, ... in an order that is none.
        let mut values: Vec<f64> = (0..5000).map(|k| 0.37 + f64::from(k * 7919 % 5000) * 0.01).collect();
        let d: Distribution = values.iter().copied().collect();
        values.sort_by(f64::total_cmp);
        let steps = d.steps();
        assert!(steps.len() < values.len(), "thinned");
        for [v, share] in &steps[1..] {
            let at_most = values.partition_point(|w| w <= v);
            assert_eq!(*share, 100.0 * at_most as f64 / 5000.0, "at {v}");
        }
        for q in [0.01, 0.5, 0.95, 0.999, 1.0] {
            let (ours, exact) = (d.quantile(q).unwrap(), percentile(&values, q).unwrap());
            assert!(ours >= exact && ours < exact * 1.0014, "{q}: {ours} {exact}");
        }
        assert!((d.mean().unwrap() - crate::mean(&values).unwrap()).abs() < 1e-9);
    }

    #[test]
    fn nothing_has_no_quantile_and_zeros_lift_the_first_step() {
        assert_eq!((Distribution::default().quantile(0.5), Distribution::default().mean()), (None, None));
        let d: Distribution = [0.0, f64::NAN, 2.0, 4.0, 4.0].into_iter().collect();
        assert_eq!(d.steps(), [[2.0, 25.0], [2.0, 50.0], [4.0, 100.0]]);
        assert_eq!((d.quantile(0.25), d.quantile(0.5), d.count()), (Some(0.0), Some(2.0), 4));
    }

    #[test]
    fn shares_of_all_that_were_sent_end_at_the_share_that_arrived() {
        let d: Distribution = [1.0, 2.0, 4.0].into_iter().collect();
        assert_eq!(d.steps_of(4), [[1.0, 0.0], [1.0, 25.0], [2.0, 50.0], [4.0, 75.0]]);
        let all = [("a".to_owned(), d, 4), ("b".to_owned(), [8.0].into_iter().collect(), 1)];
        let plot = cdf_of("ms", "packets sent", &all);
        assert_eq!(plot.series[0].points.last(), Some(&[8.0, 75.0]));
        assert_eq!(plot.series[1].points.last(), Some(&[8.0, 100.0]));
    }

    #[test]
    fn two_halves_are_the_whole() {
        let value = |k: u32| 1.5 * libm::exp(f64::from(k) / 40.0);
        let whole: Distribution = (0..400).map(value).collect();
        let mut half: Distribution = (0..200).map(value).collect();
        half.merge(&(200..400).map(value).collect());
        assert_eq!((half.steps(), half.count()), (whole.steps(), 400));
    }
}
