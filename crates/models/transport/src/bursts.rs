//! Bursts of packets with silence between them.

use wayhop_core::{Rng, Span};

/// A source that is on and off by turns, as ns-2's `Application/Traffic/Exponential` and `Application/Traffic/Pareto` are
/// (`tools/expoo.cc`, `tools/pareto.cc`): silence first, then a burst of a whole number of packets at a constant rate, and so on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnOff {
    /// From packet to packet of a burst.
    pub interval: Span,
    /// How long a burst lasts on average.
    pub on: Span,
    /// How long it is silent on average; at the end of a burst comes one interval more.
    pub off: Span,
    /// How both lengths are distributed.
    pub lengths: Lengths,
}

/// How the lengths of bursts and silences are distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lengths {
    /// Exponentially.
    Exponential,
    /// By Pareto's law: a share of (x_min / x)^shape is longer than x. Many such sources together make self-similar traffic.
    Pareto {
        /// Above 1, so that there is a mean; up to 2 the variance is infinite.
        shape: f64,
    },
}

impl OnOff {
    /// The mean time between two packets, but for the rounding of bursts to whole packets.
    pub fn mean_interval(&self) -> Span {
        let (on, off) = (self.on.as_secs_f64(), self.off.as_secs_f64());
        self.interval.mul_f64((on + off) / on)
    }

    /// How many packets the next burst has: at least one.
    pub(crate) fn burst(&self, rng: &mut Rng) -> u64 {
        let mean = self.on.as_secs_f64() / self.interval.as_secs_f64();
        // `as` saturates.
        ((self.lengths.draw(mean, rng) + 0.5) as u64).max(1)
    }

    /// How long the next silence is.
    pub(crate) fn silence(&self, rng: &mut Rng) -> Span {
        Span::from_secs_f64(self.lengths.draw(self.off.as_secs_f64(), rng))
    }
}

impl Lengths {
    /// As summaries call a flow with them.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Exponential => "on-off",
            Self::Pareto { .. } => "pareto",
        }
    }

    fn draw(self, mean: f64, rng: &mut Rng) -> f64 {
        match self {
            Self::Exponential => rng.exponential(mean),
            Self::Pareto { shape } => {
                let least = mean * (shape - 1.0) / shape;
                least / libm::pow(1.0 - rng.unit(), 1.0 / shape)
            }
        }
    }
}
