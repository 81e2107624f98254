//! Equal stretches of a run, in which charts count.

/// How many there are.
pub(crate) const BINS: usize = 300;

/// The stretch of a moment; what is outside of the run is in the first or the last.
pub(crate) fn bin(time_ns: i64, end_ns: i64) -> usize {
    let bin = i128::from(time_ns) * BINS as i128 / i128::from(end_ns.max(1));
    bin.clamp(0, BINS as i128 - 1) as usize
}
