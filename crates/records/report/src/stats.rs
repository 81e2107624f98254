//! Means, and how sure they are.

/// The arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of a sample (divided by n - 1); `None` of fewer than two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let m = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|v| (v - m) * (v - m)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The value below which the share `p` (0 to 1) of the sample lies, by the nearest rank: the smallest value with at least
/// that share at or below it. `values` are in ascending order; `None` of nothing.
pub fn percentile(values: &[f64], p: f64) -> Option<f64> {
    let rank = (p.clamp(0.0, 1.0) * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied()
}

/// The middle of a sample in any order; `None` of nothing.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    percentile(&sorted, 0.5)
}

/// A mean over independent runs.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its 95 % interval by Student's t distribution; `None` of one run.
    pub ci95: Option<[f64; 2]>,
    /// The number of runs.
    pub runs: usize,
}

/// Of fewer runs, nothing is called sure: an interval of two or three runs relies only on the normal distribution.
pub const FEWEST_RUNS: usize = 5;

impl Estimate {
    /// Whether the interval leaves out zero, and is of at least [`FEWEST_RUNS`] runs.
    pub fn is_sure(self) -> bool {
        self.runs >= FEWEST_RUNS && self.ci95.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }

    /// The mean of `values`, one a run, and its interval; `None` of nothing.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mean = mean(values)?;
        let n = values.len();
        let ci95 = standard_deviation(values).map(|sd| {
            let half = student_t95(n - 1) * sd / (n as f64).sqrt();
            [mean - half, mean + half]
        });
        Some(Self { mean, ci95, runs: n })
    }

    /// The geometric mean of `values`, one a run, with the interval of the mean of their logarithms: for what differs by factors.
    /// `None` of nothing, and where a value is not above zero.
    pub fn of_factors(values: &[f64]) -> Option<Self> {
        if values.iter().any(|v| *v <= 0.0) {
            return None;
        }
        let e = Self::of(&values.iter().map(|v| libm::log(*v)).collect::<Vec<_>>())?;
        Some(Self { mean: libm::exp(e.mean), ci95: e.ci95.map(|ends| ends.map(libm::exp)), runs: e.runs })
    }

    /// The standard deviation of `values`, one a run, with its interval by the chi-square distribution, which takes the
    /// values for normally distributed. `mean` is the standard deviation; `None` of fewer than two values.
    pub fn of_deviation(values: &[f64]) -> Option<Self> {
        let sd = standard_deviation(values)?;
        let freedom = values.len() - 1;
        let ci95 = chi_square95(freedom)
            .map(|[low, high]| [high, low].map(|quantile| sd * (freedom as f64 / quantile).sqrt()));
        Some(Self { mean: sd, ci95, runs: values.len() })
    }

    /// The mean of `a - b` over pairs of runs that share their seed, which takes what both have in common out of the
    /// interval. Pairs are as many as the shorter list has; `None` of nothing.
    pub fn of_differences(a: &[f64], b: &[f64]) -> Option<Self> {
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        Self::of(&differences)
    }

    /// The difference of the means of two samples that have nothing in common, `a` less `b`, with Welch's 95 % interval:
    /// degrees of freedom by Satterthwaite's formula, rounded down. Without an interval if one of them is of a single
    /// run; `None` of nothing.
    pub fn of_difference(a: &[f64], b: &[f64]) -> Option<Self> {
        let difference = mean(a)? - mean(b)?;
        let share = |v: &[f64]| {
            let (n, sd) = (v.len() as f64, standard_deviation(v)?);
            Some((n, sd * sd / n))
        };
        let interval = |((n, s), (m, t)): ((f64, f64), (f64, f64))| {
            if s + t == 0.0 {
                return [difference, difference];
            }
            let freedom = (s + t) * (s + t) / (s * s / (n - 1.0) + t * t / (m - 1.0));
            // The formula gives at least the freedom of the smaller sample, but for rounding.
            let half = student_t95((freedom + 1e-9) as usize) * (s + t).sqrt();
            [difference - half, difference + half]
        };
        let ci95 = share(a).zip(share(b)).map(interval);
        Some(Self { mean: difference, ci95, runs: a.len() + b.len() })
    }
}

/// The t beyond which, to both sides, 5 % of Student's distribution with `freedom` degrees of freedom lie. Infinite for 0.
pub fn student_t95(freedom: usize) -> f64 {
    if freedom == 0 {
        return f64::INFINITY;
    }
    // Beyond this many degrees the distribution is the normal one to within 2e-4, and the sums get long.
    let freedom = freedom.min(20_000);
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if within(middle, freedom) < 0.95 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The probability that |t| is at most `t`: the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4.
fn within(t: f64, freedom: usize) -> f64 {
    let angle = libm::atan(t / (freedom as f64).sqrt());
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let odd = freedom % 2 == 1;
    // Odd: cos + 2/3 cos^3 + 2*4/(3*5) cos^5 + ...; even: 1 + 1/2 cos^2 + 1*3/(2*4) cos^4 + ...
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut k = usize::from(odd);
    while k + 2 <= freedom {
        sum += term;
        k += 2;
        term *= cosine * cosine * (k - 1) as f64 / k as f64;
    }
    if odd { std::f64::consts::FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

/// The values below and above which 2.5 % of the chi-square distribution with `freedom` degrees of freedom lie. `None` for 0.
fn chi_square95(freedom: usize) -> Option<[f64; 2]> {
    (freedom > 0).then(|| [0.975, 0.025].map(|p| quantile(freedom, p)))
}

/// The value that is exceeded with probability `p`.
fn quantile(freedom: usize, p: f64) -> f64 {
    // Far above the mean, at ten standard deviations and more.
    let (mut low, mut high) = (0.0, freedom as f64 + 20.0 * (2.0 * freedom as f64).sqrt());
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if exceeded(middle, freedom) > p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The probability that `x` is exceeded: the finite sums of Abramowitz and Stegun, 26.4.4 and 26.4.5.
fn exceeded(x: f64, freedom: usize) -> f64 {
    let half = 0.5 * x;
    let odd = freedom % 2 == 1;
    let mut sum = if odd { libm::erfc(half.sqrt()) } else { libm::exp(-half) };
    let mut k = if odd { 1 } else { 2 };
    while k < freedom {
        let a = 0.5 * k as f64;
        sum += libm::exp(a * libm::log(half) - half - libm::lgamma(a + 1.0));
        k += 2;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_are_those_of_the_printed_table() {
        // The column of 0.05 (two sides) in any table of Student's t.
        let freedom = [1, 2, 3, 4, 5, 9, 10, 19, 29, 30, 60, 120, 100_000];
        let printed =
            [12.706, 4.303, 3.182, 2.776, 2.571, 2.262, 2.228, 2.093, 2.045, 2.042, 2.000, 1.980, 1.960];
        for (freedom, t) in freedom.into_iter().zip(printed) {
            let ours = student_t95(freedom);
            assert!((ours - t).abs() < 6e-4, "{freedom}: {ours} instead of {t}");
        }
    }

    #[test]
    fn the_middle_of_a_sample_does_not_depend_on_its_order() {
        assert_eq!((median([3.0, 1.0, 2.0]), median([])), (Some(2.0), None));
    }

    #[test]
    fn the_interval_is_that_of_a_worked_example() {
        // 1..5: mean 3, s = sqrt(2.5) = 1.5811, s / sqrt(5) = 0.70711, t(4) = 2.77645, half width 1.96324.
        let e = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let [low, high] = e.ci95.unwrap();
        assert_eq!((e.mean, e.runs), (3.0, 5));
        assert!((low - 1.036_76).abs() < 1e-4 && (high - 4.963_24).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn the_interval_of_a_deviation_is_that_of_a_worked_example() {
        // 1..5: s = sqrt(2.5), chi-square of 4 degrees 0.48442 and 11.14329: sqrt(10 / 11.14329) and sqrt(10 / 0.48442).
        let e = Estimate::of_deviation(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let [low, high] = e.ci95.unwrap();
        assert!((e.mean - 1.581_14).abs() < 1e-5 && e.runs == 5);
        assert!((low - 0.947_31).abs() < 1e-4 && (high - 4.543_46).abs() < 1e-4, "{low} {high}");
        assert_eq!(Estimate::of_deviation(&[1.0]), None);
    }

    #[test]
    fn the_mean_of_factors_is_geometric() {
        // Logarithms to base 10 of 1, 10, 100: mean 1, s = 1, half width t(2) / sqrt(3) = 4.30265 / 1.73205 = 2.48414.
        let e = Estimate::of_factors(&[1.0, 10.0, 100.0]).unwrap();
        let [low, high] = e.ci95.unwrap().map(libm::log10);
        assert!((e.mean - 10.0).abs() < 1e-9, "{e:?}");
        assert!((low + 1.484_14).abs() < 1e-4 && (high - 3.484_14).abs() < 1e-4, "{low} {high}");
        assert_eq!((Estimate::of_factors(&[1.0, 0.0]), Estimate::of_factors(&[])), (None, None));
    }

    #[test]
    fn pairs_take_out_what_they_share() {
        let e = Estimate::of_differences(&[10.0, 20.0, 30.0], &[9.0, 19.0, 29.0]).unwrap();
        assert_eq!((e.mean, e.ci95), (1.0, Some([1.0, 1.0])));
    }

    #[test]
    fn the_interval_of_a_difference_is_welchs() {
        // The first example of Welch's test in Wikipedia: t = -2.46 with 24.99 degrees of freedom. The half width is
        // 2.0639, t(24), times the standard error of 0.8824.
        let a = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
        let b = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4];
        let e = Estimate::of_difference(&a, &b).unwrap();
        let [low, high] = e.ci95.unwrap();
        let half = (high - low) / 2.0;
        assert!((e.mean / (half / 2.0639) + 2.46).abs() < 0.005, "{e:?}");
        assert_eq!(Estimate::of_difference(&[1.0], &[2.0, 3.0]).unwrap().ci95, None);
        assert_eq!(Estimate::of_difference(&[1.0, 1.0], &[3.0, 3.0]).unwrap().ci95, Some([-2.0, -2.0]));
    }

    #[test]
    fn one_run_has_no_interval_and_none_has_no_mean() {
        assert_eq!(Estimate::of(&[4.0]), Some(Estimate { mean: 4.0, ci95: None, runs: 1 }));
        assert_eq!(Estimate::of(&[]), None);
        assert_eq!(standard_deviation(&[4.0]), None);
    }

    #[test]
    fn a_percentile_is_a_value_of_the_sample() {
        let v = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(
            [0.0, 0.25, 0.26, 0.5, 0.99, 1.0].map(|p| percentile(&v, p).unwrap()),
            [1.0, 1.0, 2.0, 2.0, 4.0, 4.0]
        );
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn the_quantiles_of_chi_square_are_those_of_the_printed_table() {
        // The columns of 0.975 and 0.025 in any table of the distribution.
        let freedom = [1, 2, 3, 4, 9, 10, 19, 30, 100];
        let low = [0.000_982, 0.0506, 0.216, 0.484, 2.700, 3.247, 8.907, 16.791, 74.222];
        let high = [5.024, 7.378, 9.348, 11.143, 19.023, 20.483, 32.852, 46.979, 129.561];
        for (freedom, (low, high)) in freedom.into_iter().zip(low.into_iter().zip(high)) {
            let [a, b] = chi_square95(freedom).unwrap();
            assert!((a - low).abs() < 6e-4 && (b - high).abs() < 6e-4, "{freedom}: {a} {b}");
        }
        assert_eq!(chi_square95(0), None);
    }
}
