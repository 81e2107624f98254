//! Channels of IEEE 802.11: numbers, centre frequencies, and which of them are apart.

use crate::config::RadioConfig;

/// The channels of the 2.4 GHz band (IEEE 802.11-2020, 15.4.4.3 and 18.3.8.4).
pub const CHANNELS_2_4_GHZ: core::ops::RangeInclusive<u32> = 1..=14;

/// The centre frequency of a channel, MHz: 2.4 GHz band (table 15-6), or 5 GHz band (17.3.8.4.2: 5000 MHz and 5 MHz a
/// number).
pub fn channel_mhz(channel: u32) -> Option<f64> {
    let is_5_ghz = match channel {
        36..=64 | 100..=144 => channel.is_multiple_of(4),
        149..=177 => channel % 4 == 1,
        _ => false,
    };
    match channel {
        14 => Some(2484.0),
        1..=13 => Some(2407.0 + 5.0 * f64::from(channel)),
        _ if is_5_ghz => Some(5000.0 + 5.0 * f64::from(channel)),
        _ => None,
    }
}

impl RadioConfig {
    /// The lowest and the highest frequency of its spectrum, MHz.
    pub fn spectrum_mhz(&self) -> [f64; 2] {
        [self.frequency_mhz - self.bandwidth_mhz / 2.0, self.frequency_mhz + self.bandwidth_mhz / 2.0]
    }

    /// Whether its spectrum has a part in common with another's.
    pub fn overlaps(&self, other: &Self) -> bool {
        let ([a, b], [c, d]) = (self.spectrum_mhz(), other.spectrum_mhz());
        a < d && c < b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_have_the_frequencies_of_the_standard() {
        let known =
            [(1, 2412.0), (6, 2437.0), (11, 2462.0), (13, 2472.0), (14, 2484.0), (36, 5180.0), (165, 5825.0)];
        for (channel, mhz) in known {
            assert_eq!(channel_mhz(channel), Some(mhz), "{channel}");
        }
        for none in [0, 15, 35, 37, 68, 148, 150, 178] {
            assert_eq!(channel_mhz(none), None, "{none}");
        }
    }

    #[test]
    fn channels_1_6_and_11_are_apart_and_1_and_5_are_not() {
        let at = |channel| RadioConfig {
            frequency_mhz: channel_mhz(channel).unwrap(),
            ..RadioConfig::preset("80211b").unwrap()
        };
        for (a, b, overlap) in [(1, 6, false), (6, 11, false), (1, 5, true), (1, 2, true), (3, 3, true)] {
            assert_eq!((at(a).overlaps(&at(b)), at(b).overlaps(&at(a))), (overlap, overlap), "{a} and {b}");
        }
    }
}
