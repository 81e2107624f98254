//! Integer nanoseconds: the only clock that models and protocols know.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// A moment, in nanoseconds since the run began.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(u64);

/// A length of time in nanoseconds, never negative.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const NEVER: Self = Self(u64::MAX);

    /// The moment `ns` nanoseconds after the start.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }
    /// The moment `s` seconds after the start, rounded to the nanosecond; negative and NaN become zero.
    pub fn from_secs_f64(s: f64) -> Self {
        Self(Span::from_secs_f64(s).0)
    }
    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// The time from `earlier` to `self`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }
    /// `us` microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us.saturating_mul(1_000))
    }
    /// `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }
    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }
    /// `s` seconds, rounded to the nanosecond; negative and NaN become zero, too large becomes [`Span::MAX`].
    pub fn from_secs_f64(s: f64) -> Self {
        // `as` saturates and maps NaN to 0.
        Self((s * 1e9 + 0.5) as u64)
    }
    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }
    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }
    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// Milliseconds, with fraction.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// `self - other`, or zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// Scaled by a non-negative factor, rounded to the nanosecond.
    #[must_use]
    pub fn mul_f64(self, k: f64) -> Self {
        Self((self.0 as f64 * k + 0.5) as u64)
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, d: Span) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, d: Span) {
        *self = *self + d;
    }
}
impl Sub<Span> for Time {
    type Output = Self;
    fn sub(self, d: Span) -> Self {
        Self(self.0.saturating_sub(d.0))
    }
}
impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Self) -> Span {
        self.since(earlier)
    }
}
impl Add for Span {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self(self.0.saturating_add(o.0))
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl Sub for Span {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self.saturating_sub(o)
    }
}
impl SubAssign for Span {
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}
impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, k: u64) -> Self {
        Self(self.0.saturating_mul(k))
    }
}
impl Div<u64> for Span {
    type Output = Self;
    fn div(self, k: u64) -> Self {
        Self(self.0 / k)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ns @ 0..1_000 => write!(f, "{ns} ns"),
            ns @ 1_000..1_000_000 => write!(f, "{} us", ns as f64 / 1e3),
            ns @ 1_000_000..1_000_000_000 => write!(f, "{} ms", ns as f64 / 1e6),
            ns => write!(f, "{} s", ns as f64 / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nanosecond_and_never_wrap() {
        assert_eq!(Time::from_secs_f64(0.000_000_001_4).as_nanos(), 1);
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(1e300), Span::MAX);
        assert_eq!(Time::NEVER + Span::from_secs(1), Time::NEVER);
    }
}
