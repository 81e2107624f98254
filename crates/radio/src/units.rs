//! Power in decibels and in watts.

/// dBm to watts.
pub fn dbm_to_watts(dbm: f64) -> f64 {
    libm::pow(10.0, (dbm - 30.0) / 10.0)
}

/// Watts to dBm.
pub fn watts_to_dbm(watts: f64) -> f64 {
    10.0 * libm::log10(watts) + 30.0
}

/// Decibels to a power ratio.
pub fn db_to_ratio(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}
