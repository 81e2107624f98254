//! Ratios of powers in decibels, fast: a search takes millions of logarithms.

/// The gain of an attenuation in decibels, as a ratio of powers.
pub(crate) fn gain(db: f64) -> f64 {
    libm::exp(-db * (std::f64::consts::LN_10 / 10.0))
}

/// Bits of the mantissa that choose a line of the table.
const BITS: u32 = 10;
const LINES: usize = 1 << BITS;
const MANTISSA_BITS: u32 = 52;

/// Logarithms by a table of the mantissa's, and a straight line between two of its entries: to 1e-6 dB.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decibels {
    /// Of a mantissa from 1 to 2, dB: the value at the begin of each line, and its rise.
    lines: Vec<[f64; 2]>,
}

impl Decibels {
    pub(crate) fn new() -> Self {
        let at = |i: usize| 10.0 * libm::log10(1.0 + i as f64 / LINES as f64);
        Self { lines: (0..LINES).map(|i| [at(i), at(i + 1) - at(i)]).collect() }
    }

    /// The loss of a gain, dB. No gain at all is 1,000 dB.
    #[inline]
    pub(crate) fn loss(&self, gain: f64) -> f64 {
        const PER_OCTAVE: f64 = 10.0 * std::f64::consts::LOG10_2;
        /// Of one line, the rest of the mantissa.
        const REST: u64 = (1 << (MANTISSA_BITS - BITS)) - 1;
        const OF_REST: f64 = 1.0 / (REST + 1) as f64;
        let bits = gain.max(1e-100).to_bits();
        let octaves = (bits >> MANTISSA_BITS) as f64 - 1023.0;
        let [base, rise] = self.lines[(bits >> (MANTISSA_BITS - BITS)) as usize % LINES];
        -(PER_OCTAVE * octaves + base + rise * ((bits & REST) as f64 * OF_REST))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn losses_are_those_of_the_library(db in 0.0..900.0f64) {
            let gain = gain(db);
            let loss = Decibels::new().loss(gain);
            prop_assert!((loss + 10.0 * libm::log10(gain)).abs() < 1e-6, "{} {}", loss, db);
            prop_assert!((loss - db).abs() < 1e-6);
        }
    }
}
