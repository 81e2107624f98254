//! Error rates of OFDM frames: the first terms of the union bound, and as ns-3 models them, after NIST and after Yans.
//!
//! All take the bit error rate of the modulation and bound what hard-decision Viterbi decoding leaves of it. NIST (Pei and
//! Henderson, *Validation of OFDM error rate model in ns-3*, 2010) sums ten terms of the union bound with Chernoff's bound for
//! each; Yans (Lacage and Henderson, *Yet another network simulator*, 2006) takes one or two terms with their exact
//! probabilities. Yans is more optimistic than NIST by 1 to 4 dB.

/// The Gaussian tail function Q(x).
pub(crate) fn gaussian_tail(x: f64) -> f64 {
    0.5 * libm::erfc(x * core::f64::consts::FRAC_1_SQRT_2)
}

/// What a rate is made of: bits for each subcarrier, and the code's rate as (input bits, output bits).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Modulation {
    bits: u32,
    code: (u32, u32),
}

/// The modulation and code of a rate in a 20 MHz channel (IEEE 802.11-2020 table 17-4).
fn modulation(rate_mbps: f64) -> Modulation {
    let (bits, code) = match rate_mbps as u32 {
        6 => (1, (1, 2)),
        9 => (1, (3, 4)),
        12 => (2, (1, 2)),
        18 => (2, (3, 4)),
        24 => (4, (1, 2)),
        36 => (4, (3, 4)),
        48 => (6, (2, 3)),
        _ => (6, (3, 4)),
    };
    // 48 data subcarriers, 250,000 symbols a second.
    debug_assert!((f64::from(12 * bits * code.0) / f64::from(code.1) - rate_mbps).abs() < 0.1);
    Modulation { bits, code }
}

/// Bit weights of the 133/171 code from its free distance on: (free distance, step, weights). Frenger, Orten and Ottosson,
/// *Code spectrum and receiver performance of punctured convolutional codes*, 1999.
type Spectrum = (u32, u32, &'static [f64]);
const HALF: Spectrum =
    (10, 2, &[36.0, 211.0, 1404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0]);
const TWO_THIRDS: Spectrum =
    (6, 1, &[3.0, 70.0, 285.0, 1276.0, 6160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0]);
const THREE_QUARTERS: Spectrum = (
    5,
    1,
    &[
        42.0,
        201.0,
        1492.0,
        10_469.0,
        62_935.0,
        379_644.0,
        2_253_373.0,
        13_073_811.0,
        75_152_755.0,
        428_005_675.0,
    ],
);

/// The chance that a decoded bit is wrong, after NIST. `sinr` is the power ratio in the 20 MHz channel.
pub(crate) fn nist_ber(sinr: f64, rate_mbps: f64) -> f64 {
    let m = modulation(rate_mbps);
    let half_erfc = |x: f64| 0.5 * libm::erfc(libm::sqrt(x));
    let p = match m.bits {
        1 => half_erfc(sinr),
        2 => half_erfc(sinr / 2.0),
        4 => 0.75 * half_erfc(sinr / 10.0),
        _ => 7.0 / 12.0 * half_erfc(sinr / 42.0),
    };
    union_bound(p, m, usize::MAX).min(1.0)
}

/// The same by the first five or six terms of the union bound, and with the signal spread over the 52 used subcarriers of 312.5 kHz
/// in a 20 MHz noise bandwidth: the per-subcarrier SNR is `sinr` * 20 / 16.25.
pub(crate) fn union_bound_ber(sinr: f64, rate_mbps: f64) -> f64 {
    let m = modulation(rate_mbps);
    let es_n0 = sinr * 20.0 / 16.25;
    let p = match m.bits {
        1 => gaussian_tail(libm::sqrt(2.0 * es_n0)),
        2 => gaussian_tail(libm::sqrt(es_n0)),
        // Gray-coded square QAM: (4 / bits)(1 - 1/sqrt M) Q(sqrt(3 Es / ((M - 1) N0))).
        4 => 0.75 * gaussian_tail(libm::sqrt(es_n0 / 5.0)),
        _ => 7.0 / 12.0 * gaussian_tail(libm::sqrt(es_n0 / 21.0)),
    }
    .min(0.5);
    let terms = if m.code == (2, 3) { 6 } else { 5 };
    union_bound(p, m, terms).min(0.5)
}

/// The first terms of the union bound over the distance spectrum of the code, with Chernoff's D = sqrt(4 p (1 - p)).
fn union_bound(p: f64, m: Modulation, terms: usize) -> f64 {
    let (free, step, weights) = match m.code {
        (1, _) => HALF,
        (2, _) => TWO_THIRDS,
        _ => THREE_QUARTERS,
    };
    let d = libm::sqrt(4.0 * p * (1.0 - p));
    let ratio = libm::pow(d, f64::from(step));
    let mut term = libm::pow(d, f64::from(free));
    let mut sum = 0.0;
    for w in weights.iter().take(terms) {
        sum += w * term;
        term *= ratio;
    }
    sum / (2.0 * f64::from(m.code.0))
}

/// The same after Yans.
pub(crate) fn yans_ber(sinr: f64, rate_mbps: f64) -> f64 {
    const CHANNEL_MHZ: f64 = 20.0;
    let m = modulation(rate_mbps);
    let coded_mbps = rate_mbps * f64::from(m.code.1) / f64::from(m.code.0);
    let eb_n0 = sinr * CHANNEL_MHZ / coded_mbps;
    let p = if m.bits == 1 {
        0.5 * libm::erfc(libm::sqrt(eb_n0))
    } else {
        let (points, bits) = (f64::from(1 << m.bits), f64::from(m.bits));
        let z = libm::sqrt(1.5 * bits * eb_n0 / (points - 1.0));
        let axis = 1.0 - (1.0 - 1.0 / libm::sqrt(points)) * libm::erfc(z);
        (1.0 - axis * axis) / bits
    };
    // Free distance, and how many paths have that length and one more.
    let (free, paths, longer) = match (m.code, m.bits) {
        ((1, _), _) => (10, 11.0, 0.0),
        ((2, _), _) => (6, 1.0, 16.0),
        (_, 1 | 2) => (5, 8.0, 0.0),
        _ => (5, 8.0, 31.0),
    };
    let mut sum = paths * wrong_path(p, free);
    if longer > 0.0 {
        sum += longer * wrong_path(p, free + 1);
    }
    sum.min(1.0)
}

/// The chance that a decoder takes a path that differs in `d` coded bits, each of which is wrong with probability `p`: more than
/// half of them are, or half of them and a coin falls so (Proakis, *Digital Communications*, 8.2.4).
fn wrong_path(p: f64, d: u32) -> f64 {
    let exactly = |k: u32| {
        let choose = (0..k).fold(1.0, |c, i| c * f64::from(d - i) / f64::from(i + 1));
        choose * libm::pow(p, f64::from(k)) * libm::pow(1.0 - p, f64::from(d - k))
    };
    let more: f64 = (d / 2 + 1..=d).map(exactly).sum();
    if d.is_multiple_of(2) { more + 0.5 * exactly(d / 2) } else { more }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::db_to_ratio;

    fn power(x: f64, n: i32) -> f64 {
        libm::pow(x, f64::from(n))
    }

    fn success(ber: fn(f64, f64) -> f64, rate: f64, db: f64, octets: f64) -> f64 {
        libm::pow(1.0 - ber(db_to_ratio(db), rate), octets * 8.0)
    }

    /// The values that ns-3 tests its own implementation with (`WifiErrorRateModelsTestCaseNist`: frames of 2000 octets).
    #[test]
    fn nist_is_what_ns3_has() {
        let known = [
            (6.0, [(2.5, 2.04e-10, 1e-10), (3.0, 0.020, 0.001), (4.0, 0.885, 0.001), (5.0, 0.997, 0.001)]),
            (9.0, [(6.0, 0.097, 0.001), (7.0, 0.918, 0.001), (8.0, 0.998, 0.001), (9.0, 0.999, 0.001)]),
            (12.0, [(6.0, 0.0174, 0.001), (7.0, 0.881, 0.001), (8.0, 0.997, 0.001), (9.0, 0.999, 0.001)]),
            (18.0, [(8.5, 2.85e-6, 1e-6), (9.5, 0.623, 0.001), (10.5, 0.985, 0.001), (11.5, 0.999, 0.001)]),
            (24.0, [(12.0, 2.22e-7, 1e-7), (13.0, 0.495, 0.001), (14.0, 0.974, 0.001), (15.0, 0.999, 0.001)]),
            (36.0, [(15.5, 0.012, 0.001), (16.5, 0.818, 0.001), (17.5, 0.993, 0.001), (18.5, 0.999, 0.001)]),
            (48.0, [(20.0, 1.3e-4, 1e-4), (21.0, 0.649, 0.001), (22.0, 0.983, 0.001), (23.0, 0.999, 0.001)]),
            (54.0, [(21.0, 5.44e-8, 1e-8), (22.0, 0.410, 0.001), (23.0, 0.958, 0.001), (24.0, 0.999, 0.001)]),
        ];
        for (rate, values) in known {
            for (db, expected, tolerance) in values {
                let ours = success(nist_ber, rate, db, 2000.0);
                assert!(
                    (ours - expected).abs() <= tolerance,
                    "{rate} Mb/s, {db} dB: {ours}, ns-3 {expected}"
                );
            }
        }
    }

    /// Against the formulas written out by hand for single points.
    #[test]
    fn yans_is_the_sum_of_its_binomial_terms() {
        // 6 Mb/s: 12 Mb/s on the channel, so that Eb/N0 is 20/12 of the ratio. At 0.6 it is 1, and p = erfc(1) / 2.
        let p: f64 = 0.078_649_603_525_142_6;
        let q = 1.0 - p;
        let choose = [252.0, 210.0, 120.0, 45.0, 10.0, 1.0];
        let terms = (5..=10).zip(choose).map(|(k, c)| c * power(p, k) * power(q, 10 - k));
        let sum: f64 = terms.enumerate().map(|(i, t)| if i == 0 { t / 2.0 } else { t }).sum();
        assert!((yans_ber(0.6, 6.0) / (11.0 * sum) - 1.0).abs() < 1e-9);
        // 54 Mb/s: distances 5 and 6. At an Eb/N0 of 7, z is 1 and erfc(1) is 0.1573.
        let axis: f64 = 1.0 - 0.875 * 2.0 * p;
        let p = (1.0 - axis * axis) / 6.0;
        let q = 1.0 - p;
        let five = 10.0 * power(p, 3) * power(q, 2) + 5.0 * power(p, 4) * q + power(p, 5);
        let six = 10.0 * power(p, 3) * power(q, 3)
            + 15.0 * power(p, 4) * power(q, 2)
            + 6.0 * power(p, 5) * q
            + power(p, 6);
        let sinr = 7.0 * 72.0 / 20.0;
        assert!((yans_ber(sinr, 54.0) / (8.0 * five + 31.0 * six) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn yans_is_the_more_optimistic_one_and_both_fall_with_the_signal() {
        for rate in [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0] {
            let mut before = [0.0; 2];
            for db in -5..40 {
                let now = [nist_ber, yans_ber].map(|ber| success(ber, rate, f64::from(db), 1000.0));
                assert!(now[0] >= before[0] && now[1] >= before[1], "{rate} Mb/s, {db} dB");
                assert!(now[1] >= now[0] - 1e-9, "{rate} Mb/s, {db} dB: {now:?}");
                before = now;
            }
            assert!(before[0] > 0.999_999);
        }
    }
}
