//! The chi-square distribution, for intervals of standard deviations.

/// The values below and above which 2.5 % of the chi-square distribution with `freedom` degrees of freedom lie. `None` for 0.
pub(crate) fn chi_square95(freedom: usize) -> Option<[f64; 2]> {
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
        // The columns of 0.975 and 0.025 in any table of the distribution.
        for (freedom, low, high) in [
            (1, 0.000_982, 5.024),
            (2, 0.0506, 7.378),
            (3, 0.216, 9.348),
            (4, 0.484, 11.143),
            (9, 2.700, 19.023),
            (10, 3.247, 20.483),
            (19, 8.907, 32.852),
            (30, 16.791, 46.979),
            (100, 74.222, 129.561),
        ] {
            let [a, b] = chi_square95(freedom).unwrap();
            assert!((a - low).abs() < 6e-4 && (b - high).abs() < 6e-4, "{freedom}: {a} {b}");
        }
        assert_eq!(chi_square95(0), None);
    }
}
