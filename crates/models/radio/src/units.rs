//! Power in decibels and in watts.

/// dBm to watts.
pub fn dbm_to_watts(dbm: f64) -> f64 {
    libm::pow(10.0, (dbm - 30.0) / 10.0)
}

/// Watts to dBm.
pub fn watts_to_dbm(watts: f64) -> f64 {
    10.0 * libm::log10(watts) + 30.0
}

/// Watts to dBm within 0.001 dB, for records of every frame: the exponent of the number, and a
/// polynomial for its mantissa.
pub fn watts_to_dbm_fast(watts: f64) -> f32 {
    let bits = watts.to_bits();
    let exponent = (bits >> 52) as i64 - 1023;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    // log2((1 + x) / (1 - x)) = 2 / ln 2 (x + x^3/3 + x^5/5 + ...), with |x| <= 0.172 around the root of two.
    let x = (mantissa - core::f64::consts::SQRT_2) / (mantissa + core::f64::consts::SQRT_2);
    let x2 = x * x;
    let log2 = 0.5
        + exponent as f64
        + 2.0 * core::f64::consts::LOG2_E * x * (1.0 + x2 * (1.0 / 3.0 + x2 * (0.2 + x2 / 7.0)));
    (log2 * (10.0 * core::f64::consts::LOG10_2) + 30.0) as f32
}

/// Decibels to a power ratio.
pub fn db_to_ratio(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_conversion_is_within_a_thousandth_of_a_decibel() {
        for i in -160_000..60_000 {
            let dbm = f64::from(i) / 1000.0;
            let fast = f64::from(watts_to_dbm_fast(dbm_to_watts(dbm)));
            assert!((fast - dbm).abs() < 1e-3, "{dbm}: {fast}");
        }
    }

    #[test]
    fn conversions_are_each_others_inverse() {
        assert!((watts_to_dbm(0.281_838_15) - 24.5).abs() < 1e-5);
        assert!((dbm_to_watts(-64.374_692_324) / 3.652e-10 - 1.0).abs() < 1e-6);
    }
}
