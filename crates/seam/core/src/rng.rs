//! Random streams keyed by (seed, purpose, node, counter).
//!
//! A consumer that owns a sequence of its own (one node's protocol, one flow) takes a [`stream`]. A consumer whose draw
//! must not depend on the order in which events run (fading of frame 17 between nodes 3 and 9) takes a [`draw`].

use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::Span;

/// What a random stream is for. Two purposes never share draws, so changing a protocol leaves mobility and fading alone.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Waypoints, speeds and pauses.
    Mobility = 1,
    /// Start times, intervals and endpoints of flows.
    Traffic = 2,
    /// MAC backoff.
    Backoff = 3,
    /// A routing protocol's jitter and timers.
    Protocol = 4,
    /// Log-normal shadowing.
    Shadowing = 5,
    /// Rayleigh and Rician fading.
    Fading = 6,
    /// Whether a frame survives its packet error rate.
    FrameError = 7,
    /// The host's own needs (link-layer jitter).
    Host = 8,
    /// Frames lost on links that somebody overrode.
    Override = 9,
    /// When nodes go down and come back.
    Outages = 10,
    /// The seeds of further radios.
    Radio = 11,
    /// Frames lost on wires.
    Wire = 12,
    /// Which nodes attack, and what attackers draw.
    Attacks = 13,
    /// Indices and nonces of the authentication of routing messages.
    Authentication = 14,
    /// Starts and moves of the search for attenuators' settings.
    Attenuators = 15,
    /// Which rates a rate control tries.
    RateControl = 16,
    /// How far attenuators are off in a run.
    Calibration = 17,
    /// When agents for bundles begin with their beacons.
    Bundles = 18,
    /// What applications draw.
    Applications = 19,
}

/// One stream of uniform draws; the same on every machine. It serialises with its state: a
/// deserialised stream continues with the same draws.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// Uniform in `0..n`; 0 when `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        // Multiply-shift: the bias is n / 2^64, far under what any run can see.
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }
    /// Uniform in `[0, 1)`, with 53 bits.
    pub fn unit(&mut self) -> f64 {
        to_unit(self.bits())
    }
    /// Uniform in `[lo, hi)`.
    pub fn range(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }
    /// Uniform in `[0, max)`.
    pub fn jitter(&mut self, max: Span) -> Span {
        Span::from_nanos(self.below(max.as_nanos()))
    }
    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }
}

/// The stream for (seed, purpose, owner). `owner` is a node, a flow, or 0.
pub fn stream(seed: u64, purpose: Purpose, owner: u64) -> Rng {
    Rng(Xoshiro256PlusPlus::seed_from_u64(draw(seed, purpose, [owner, 0, 0])))
}

/// 64 random bits that depend on nothing but the arguments: a counter-based draw.
pub fn draw(seed: u64, purpose: Purpose, key: [u64; 3]) -> u64 {
    let mut h = mix(seed ^ 0x9e37_79b9_7f4a_7c15);
    for k in [purpose as u64, key[0], key[1], key[2]] {
        h = mix(h.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ k.wrapping_mul(0xd134_2543_de82_ef95));
    }
    h
}

/// The 64-bit finaliser of SplitMix64 (Steele, Lea and Flood 2014): numbers that count up are spread over all 64-bit numbers.
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The top 53 bits as a number in `[0, 1)`.
pub(crate) fn to_unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_purpose_and_owner_and_repeat() {
        let first = |s, p, o| stream(s, p, o).bits();
        let a = first(1, Purpose::Backoff, 0);
        assert_eq!(a, first(1, Purpose::Backoff, 0));
        assert_ne!(a, first(2, Purpose::Backoff, 0));
        assert_ne!(a, first(1, Purpose::Protocol, 0));
        assert_ne!(a, first(1, Purpose::Backoff, 1));
    }

    #[test]
    fn draws_are_uniform() {
        // Mean of 100,000 uniforms: 0.5 with a standard error of 0.0009; five of those allowed.
        let n = 100_000u64;
        let by_counter = (0..n).map(|i| to_unit(draw(7, Purpose::Fading, [1, 2, i]))).sum::<f64>() / n as f64;
        assert!((by_counter - 0.5).abs() < 0.0046, "{by_counter}");
        let mut r = stream(7, Purpose::Traffic, 0);
        let by_stream = (0..n).map(|_| r.unit()).sum::<f64>() / n as f64;
        assert!((by_stream - 0.5).abs() < 0.0046, "{by_stream}");
        let mut seen = [0u32; 32];
        (0..n).for_each(|_| seen[r.below(32) as usize] += 1);
        assert!(seen.iter().all(|&c| (2_850..3_400).contains(&c)), "{seen:?}");
        let mean = (0..n).map(|_| r.exponential(2.0)).sum::<f64>() / n as f64;
        assert!((mean - 2.0).abs() < 0.032, "{mean}");
    }
}
