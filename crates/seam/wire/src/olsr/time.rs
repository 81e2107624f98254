//! Times in one octet (section 18.3).

/// A time as Vtime and Htime have it: (1 + a/16) · 2^b · 62.5 ms, where a is the high half of the octet and b the low one.
/// From 62.5 ms to 3,968 s.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TimeCode(pub u8);

impl TimeCode {
    /// Nanoseconds. A whole number of them: the step is 1/256 s.
    pub const fn as_nanos(self) -> u64 {
        const STEP_NS: u64 = 1_000_000_000 / 256;
        ((16 + (self.0 >> 4) as u64) << (self.0 & 0xf)) * STEP_NS
    }
}
