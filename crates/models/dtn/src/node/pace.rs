//! When the next datagram may be sent.

use std::num::NonZeroU64;

use wayhop_core::{Span, Time};

/// UDP and IP headers of a datagram, octets.
const HEADERS: u64 = 28;
/// A node that was silent may make up for so much.
const BURST: Span = Span::from_millis(20);

/// Spreads datagrams over time: neither UDPCL nor LTP asks how much the network takes.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    rate_bps: NonZeroU64,
    /// When the next one may be sent.
    pub(super) free_at: Time,
}

impl Pace {
    pub(super) fn new(rate_bps: NonZeroU64) -> Self {
        Self { rate_bps, free_at: Time::ZERO }
    }

    /// A bundle of `octets` bytes is sent.
    pub(super) fn sent(&mut self, now: Time, octets: usize) {
        let bits = (octets as u64 + HEADERS) * 8;
        let nanos = u128::from(bits) * 1_000_000_000 / u128::from(self.rate_bps.get());
        let earliest = Time::from_nanos(now.as_nanos().saturating_sub(BURST.as_nanos()));
        self.free_at =
            self.free_at.max(earliest) + Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX / 4));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_holds_over_time_and_a_short_burst_makes_up_for_silence() {
        let rate = NonZeroU64::new(1_000_000).expect("a rate");
        let mut pace = Pace::new(rate);
        let (mut now, mut sent) = (Time::from_nanos(1_000_000_000), 0u64);
        while now < Time::from_nanos(3_000_000_000) {
            pace.sent(now, 972);
            sent += 1;
            now = now.max(pace.free_at);
        }
        // 1000 octets a datagram with headers: 125 a second, and 2.5 for the 20 ms before.
        assert!((250..=254).contains(&sent), "{sent}");
    }
}
