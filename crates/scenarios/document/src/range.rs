//! Checks of numbers.

use crate::document::Document;
use crate::error::Error;

/// Refuses values that are not a number from `low` to `high`; NaN never is.
pub fn in_range(doc: &Document, key: &str, v: f64, low: f64, high: f64) -> Result<(), Error> {
    if (low..=high).contains(&v) {
        return Ok(());
    }
    let shown = match v.abs() {
        a if a.is_nan() => "nan".to_owned(),
        a if a.is_finite() && a >= 1e16 => format!("{v:e}"),
        _ => v.to_string(),
    };
    Err(doc.error(
        key,
        format!("{shown} is not a number from {low} to {high}"),
        "give a number in that range",
    ))
}
