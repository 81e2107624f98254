//! What runs of one experiment have in common: means, shares, ranges, deviations.

use wayhop_report::{mean, standard_deviation};

use super::plan::Motion;
use super::watch::LinkSeries;

#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) runs: Vec<LinkSeries>,
}

/// The 95 % interval of a share over this number of runs (Wilson 1927).
pub(crate) fn wilson(share: f64, runs: usize) -> Option<[f64; 2]> {
    const Z: f64 = 1.959_964;
    if runs == 0 {
        return None;
    }
    let n = runs as f64;
    let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt() / (1.0 + Z * Z / n);
    Some([(middle - half).max(0.0), (middle + half).min(1.0)])
}

impl Shape {
    /// Each run's mean over these seconds, Mb/s.
    pub(crate) fn means(&self, from: usize, until: usize) -> Vec<f64> {
        self.runs
            .iter()
            .filter_map(|r| mean(&r.mbps[from.min(r.mbps.len())..until.min(r.mbps.len())]))
            .collect()
    }

    /// Samples of a second in these seconds, of all runs, Mb/s.
    pub(crate) fn samples(&self, from: usize, until: usize) -> Vec<f64> {
        self.runs.iter().flat_map(|r| r.mbps.iter().take(until).skip(from)).copied().collect()
    }

    /// Of the seconds from `middle - 2` to `middle + 2` of all runs, the share in which anything arrived.
    pub(crate) fn share_alive(&self, middle: usize) -> Option<f64> {
        let samples = self.samples(middle - 2, middle + 3);
        let alive = samples.iter().filter(|v| **v > 0.0).count();
        (!samples.is_empty()).then(|| alive as f64 / samples.len() as f64)
    }

    /// The first and the last second of each run in which anything arrived.
    pub(crate) fn ends(&self) -> Vec<[usize; 2]> {
        let ends = |r: &LinkSeries| {
            let first = r.mbps.iter().position(|v| *v > 0.0)?;
            Some([first, r.mbps.iter().rposition(|v| *v > 0.0)?])
        };
        self.runs.iter().filter_map(ends).collect()
    }

    /// How far away the sender is when a run's throughput begins, and when it ends, metres.
    pub(crate) fn ranges_m(&self, motion: Motion) -> [Vec<f64>; 2] {
        let at = |second: usize| motion.place_m(second as f64 + 0.5).abs();
        let ends = self.ends();
        [0, 1].map(|i| ends.iter().map(|e| at(e[i])).collect())
    }

    /// The standard deviation of the samples of each stretch of this length, with its first second.
    pub(crate) fn deviations(&self, every: usize) -> Vec<(usize, f64)> {
        let seconds = self.runs.iter().map(|r| r.mbps.len()).max().unwrap_or(0);
        (0..seconds)
            .step_by(every)
            .filter_map(|s| Some((s, standard_deviation(&self.samples(s, s + every))?)))
            .collect()
    }

    /// The stretch of this length with the highest mean over runs: each run's mean there.
    pub(crate) fn plateau(&self, every: usize) -> Vec<f64> {
        let seconds = self.runs.iter().map(|r| r.mbps.len()).max().unwrap_or(0);
        let stretches = (0..seconds / every).map(|k| self.means(k * every, (k + 1) * every));
        let by_mean = |v: &Vec<f64>| mean(v).unwrap_or(0.0);
        stretches.max_by(|a, b| by_mean(a).total_cmp(&by_mean(b))).unwrap_or_default()
    }

    /// The signals of each second of all runs, dBm.
    pub(crate) fn signals(&self, second: usize) -> Vec<f64> {
        self.runs.iter().filter_map(|r| r.signal_dbm.get(second).copied().flatten()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(mbps: &[f64]) -> LinkSeries {
        LinkSeries { mbps: mbps.to_vec(), signal_dbm: vec![None; mbps.len()] }
    }

    #[test]
    fn shares_ranges_and_deviations_are_those_of_runs_made_by_hand() {
        let shape = Shape { runs: vec![run(&[0.0, 0.0, 8.0, 4.0, 0.0]), run(&[0.0, 2.0, 8.0, 0.0, 0.0])] };
        assert_eq!(shape.share_alive(2), Some(0.4));
        assert_eq!(shape.ends(), [[2, 3], [1, 2]]);
        // 300 s are the middle of a drive-by: 2.5 s are 1190 m away.
        assert_eq!(shape.ranges_m(Motion::DriveBy), [vec![1190.0, 1194.0], vec![1186.0, 1190.0]]);
        assert_eq!(shape.ranges_m(Motion::WalkAway)[1], [14.0, 10.0]);
        assert_eq!(shape.plateau(1), [8.0, 8.0]);
        assert_eq!(shape.deviations(5).len(), 1);
        assert_eq!(shape.deviations(1)[2], (2, 0.0));
        assert_eq!(shape.means(0, 5), [2.4, 2.0]);
        assert_eq!(Shape::default().share_alive(2), None);
    }

    /// Newcombe (1998), table I: 81 of 263 are 0.308, from 0.2553 to 0.3662; none of 20 is 0 to 0.1611.
    #[test]
    fn the_interval_is_wilson_s() {
        let near = |a: Option<[f64; 2]>, b: [f64; 2]| {
            let a = a.unwrap();
            assert!((a[0] - b[0]).abs() < 1e-4 && (a[1] - b[1]).abs() < 1e-4, "{a:?} {b:?}");
        };
        near(wilson(81.0 / 263.0, 263), [0.2553, 0.3662]);
        near(wilson(0.0, 20), [0.0, 0.1611]);
        assert_eq!(wilson(0.5, 0), None);
    }
}
