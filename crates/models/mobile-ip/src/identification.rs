//! Identifications of requests, against replays (section 5.7).

use wayhop_core::Rng;

use crate::security::Replay;

/// How far the clocks of mobile node and home agent may be apart, in seconds (section 5.7.1).
const TOLERANCE_S: u32 = 7;
/// Seconds from 1900 to 1970 (RFC 5905).
const NTP_BEFORE_UNIX_S: u64 = 2_208_988_800;

/// The time of day as NTP writes it, from seconds and nanoseconds since 1970.
pub(crate) fn ntp_from_unix(seconds: u64, nanos: u32) -> u64 {
    let fraction = (u64::from(nanos) << 32) / 1_000_000_000;
    seconds.wrapping_add(NTP_BEFORE_UNIX_S) << 32 | fraction & 0xffff_ffff
}

pub(crate) const fn high(identification: u64) -> u32 {
    (identification >> 32) as u32
}

pub(crate) const fn low(identification: u64) -> u32 {
    identification as u32
}

const fn joined(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// What a home agent remembers of a mobile node's identifications.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    replay: Replay,
    /// With timestamps the last one accepted; with nonces the next one expected, in the upper half.
    last: u64,
}

impl Guard {
    /// A home agent begins. With timestamps it takes none from before, unless it knows what it accepted then ([`Guard::resume`]).
    pub(crate) fn new(replay: Replay, ntp: u64, rng: &mut Rng) -> Self {
        let last = match replay {
            Replay::Timestamps => ntp,
            Replay::Nonces => rng.bits(),
        };
        Self { replay, last }
    }

    /// With timestamps: goes on after what an earlier life of the agent accepted last. With nonces it need not: the first request is
    /// answered with a new one.
    pub(crate) const fn resume(&mut self, last: u64) {
        if matches!(self.replay, Replay::Timestamps) {
            self.last = last;
        }
    }

    /// With timestamps: the last one accepted.
    pub(crate) const fn last_accepted(&self) -> Option<u64> {
        match self.replay {
            Replay::Timestamps => Some(self.last),
            Replay::Nonces => None,
        }
    }

    /// Whether a request whose authenticator is right is new; it never is a second time.
    pub(crate) fn accept(&mut self, identification: u64, ntp: u64, rng: &mut Rng) -> bool {
        match self.replay {
            Replay::Timestamps => {
                // The difference of two clocks that wrap in 2036.
                let apart = high(identification).wrapping_sub(high(ntp)).cast_signed().unsigned_abs();
                let is_later = identification.wrapping_sub(self.last).cast_signed() > 0;
                let is_new = apart <= TOLERANCE_S && is_later;
                if is_new {
                    self.last = identification;
                }
                is_new
            }
            Replay::Nonces => {
                let is_new = high(identification) == high(self.last);
                self.last = rng.bits();
                is_new
            }
        }
    }

    /// The identification of the answer to a request.
    pub(crate) fn of_reply(&self, request: u64, was_new: bool, ntp: u64) -> u64 {
        match self.replay {
            Replay::Timestamps if was_new => request,
            Replay::Timestamps => joined(high(ntp), low(request)),
            Replay::Nonces => joined(high(self.last), low(request)),
        }
    }
}

/// What a mobile node makes its identifications of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maker {
    replay: Replay,
    /// The last one made.
    last: u64,
    /// With timestamps: how many seconds the home agent's clock is ahead.
    ahead_s: u32,
    /// With nonces: the home agent's, for the next request.
    nonce: u32,
}

impl Maker {
    pub(crate) fn new(replay: Replay, rng: &mut Rng) -> Self {
        Self { replay, last: 0, ahead_s: 0, nonce: low(rng.bits()) }
    }

    /// The identification of a request, which no earlier one had.
    pub(crate) fn make(&mut self, ntp: u64, rng: &mut Rng) -> u64 {
        self.last = match self.replay {
            Replay::Timestamps => {
                let by_clock = joined(high(ntp).wrapping_add(self.ahead_s), low(ntp));
                // Two in one instant of the clock, or a clock that stepped back by less than a home
                // agent tolerates.
                let is_later = by_clock.wrapping_sub(self.last).cast_signed() > 0;
                if is_later || self.last.wrapping_sub(by_clock) > u64::from(TOLERANCE_S) << 32 {
                    by_clock
                } else {
                    self.last.wrapping_add(1)
                }
            }
            Replay::Nonces => joined(self.nonce, low(rng.bits())),
        };
        self.last
    }

    /// Whether a reply answers the last request: by its lower half (section 3.6.2.1); with timestamps one that accepts it repeats the
    /// whole, so that the answer to an earlier request of the same fraction of a second is told apart.
    pub(crate) const fn is_answered_by(&self, reply: u64, is_accepted: bool) -> bool {
        let is_whole = is_accepted && matches!(self.replay, Replay::Timestamps);
        if is_whole { reply == self.last } else { low(reply) == low(self.last) }
    }

    /// Learns from a reply whose authenticator is right.
    pub(crate) fn learn(&mut self, reply: u64, is_mismatch: bool, ntp: u64) {
        match self.replay {
            Replay::Timestamps if is_mismatch => self.ahead_s = high(reply).wrapping_sub(high(ntp)),
            Replay::Timestamps => {}
            Replay::Nonces => self.nonce = high(reply),
        }
    }
}

#[cfg(test)]
mod tests {
    use wayhop_core::{Purpose, stream};

    use super::*;

    const T: u64 = 0xe000_0000 << 32;

    fn rng() -> Rng {
        stream(7, Purpose::Authentication, 0)
    }

    #[test]
    fn ntp_counts_from_1900() {
        // RFC 5905, figure 4: 1 January 1970 is second 2,208,988,800.
        assert_eq!(ntp_from_unix(0, 500_000_000), 2_208_988_800 << 32 | 1 << 31);
    }

    #[test]
    fn a_timestamp_is_accepted_once_within_seven_seconds_and_none_from_before_the_start() {
        let mut r = rng();
        let mut g = Guard::new(Replay::Timestamps, T, &mut r);
        assert!(!g.accept(T - 1, T, &mut r), "made before the agent began");
        assert!(g.accept(T + 5, T, &mut r));
        assert!(!g.accept(T + 5, T, &mut r), "the same again");
        assert!(!g.accept(T + 4, T, &mut r), "an earlier one");
        assert!(g.accept(T + (7 << 32), T, &mut r));
        assert!(!g.accept(T + (8 << 32), T, &mut r), "of a clock that is ahead");
        let late = T + (100 << 32);
        assert!(!g.accept(T + (90 << 32), late, &mut r), "of a clock that is behind");
        assert_eq!(
            g.of_reply((5 << 32) + 77, false, late),
            late + 77,
            "the agent's time, the request's lower half"
        );
        assert_eq!(g.of_reply((5 << 32) + 77, true, late), (5 << 32) + 77);
    }

    #[test]
    fn a_mobile_node_whose_clock_is_wrong_is_set_right_by_one_refusal() {
        for replay in [Replay::Timestamps, Replay::Nonces] {
            for ahead in [-1_000_000_i64, -20, 0, 20, 1_000_000] {
                let mut r = rng();
                let mut g = Guard::new(replay, T, &mut r);
                let mut m = Maker::new(replay, &mut r);
                let own = T.wrapping_add_signed(ahead << 32) + 1;
                let mut refusals = 0;
                for _ in 0..5 {
                    let id = m.make(own, &mut r);
                    let is_new = g.accept(id, T, &mut r);
                    refusals += i32::from(!is_new);
                    let reply = g.of_reply(id, is_new, T);
                    assert!(m.is_answered_by(reply, is_new));
                    m.learn(reply, !is_new, own);
                }
                assert!(refusals <= 1, "{replay:?}, {ahead} s: {refusals}");
            }
        }
    }

    #[test]
    fn a_nonce_counts_once() {
        let mut r = rng();
        let mut g = Guard::new(Replay::Nonces, T, &mut r);
        let reply = g.of_reply(1, false, T);
        let id = reply & !0xffff_ffff | 9;
        assert!(g.accept(id, T, &mut r));
        assert!(!g.accept(id, T, &mut r));
    }
}
