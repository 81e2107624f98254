//! Rates, airtimes and bit error rates of the modulations.

use wayhop_core::Span;

use crate::config::{ErrorModel, RadioConfig};
use crate::error_rates::{gaussian_tail, nist_ber, union_bound_ber, yans_ber};
use crate::phy_kind::PhyKind;

/// Length of RTS, octets with FCS (IEEE 802.11 9.3.1.2).
const RTS_BYTES: u32 = 20;
/// Length of CTS and of ACK, octets with FCS (9.3.1.3, 9.3.1.4).
const CTS_BYTES: u32 = 14;
/// Length of a beacon, octets with FCS (9.3.3.2): header 24, timestamp, interval and capabilities 12, name of six letters 8, eight
/// rates 10, traffic map of one octet 6, ERP information 3, FCS 4.
const BEACON_BYTES: u32 = 67;

/// What goes on the air.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgement.
    Ack,
    /// A data frame for one station, at the data rate.
    Data,
    /// A data frame for all, at the basic rate.
    Broadcast,
    /// An access point's beacon, at the basic rate.
    Beacon,
    /// A jammer's burst, which is no frame.
    Noise,
}

/// A rate in Mb/s, as in a frame's header.
pub(crate) fn in_100kbps(mbps: f64) -> u16 {
    (mbps * 10.0) as u16
}

/// The same in Mb/s; of the rates that there are exactly as it was.
pub(crate) fn in_mbps(rate_100kbps: u16) -> f64 {
    f64::from(rate_100kbps) / 10.0
}

/// Times and rates worked out once from a configuration.
#[derive(Clone, Debug)]
pub struct Phy {
    kind: PhyKind,
    data_rate_mbps: f64,
    basic_rate_mbps: f64,
    /// Preamble and header, ns.
    preamble_ns: u64,
    data_overhead_bytes: u32,
    basic_rates_mbps: Vec<f64>,
    error_model: ErrorModel,
}

impl Phy {
    /// The PHY of a configuration.
    pub fn new(c: &RadioConfig) -> Self {
        let preamble_ns = match c.phy {
            PhyKind::Dsss => (c.plcp_us * 1000.0) as u64,
            // 16 us training, 4 us SIGNAL (IEEE 802.11-2020 17.3.2.1).
            PhyKind::Ofdm | PhyKind::Ofdm5Ghz => 20_000,
        };
        Self {
            kind: c.phy,
            data_rate_mbps: c.data_rate_mbps,
            basic_rate_mbps: c.basic_rate_mbps,
            preamble_ns,
            data_overhead_bytes: c.data_overhead_bytes,
            basic_rates_mbps: c.basic_rates_mbps.clone(),
            error_model: c.error_model,
        }
    }

    /// The rate of the control frames around a data frame of this rate: the highest of the basic rate set that is not above it
    /// (10.6.6.5.2); without a set the basic rate.
    pub fn control_rate_mbps(&self, data_rate_mbps: f64) -> f64 {
        let not_above = self.basic_rates_mbps.iter().copied().filter(|r| *r <= data_rate_mbps);
        not_above.reduce(f64::max).unwrap_or(self.basic_rate_mbps)
    }

    /// How long a CTS or an ACK of this rate occupies the air.
    pub(crate) fn answer_airtime(&self, rate_mbps: f64) -> Span {
        self.airtime_at(CTS_BYTES, rate_mbps)
    }

    /// No frame occupies the air for a shorter time: an ACK, or data without payload. Rates are the configured ones, or may vary.
    pub(crate) fn shortest_airtime(&self, rates_vary: bool) -> Span {
        let fastest = self.kind.rates().iter().copied().fold(0.0, f64::max);
        let data = if rates_vary { fastest } else { self.data_rate_mbps.max(self.basic_rate_mbps) };
        let answer = self.control_rate_mbps(data).max(self.basic_rate_mbps);
        self.answer_airtime(answer).min(self.airtime_at(self.data_overhead_bytes, data))
    }

    /// The rate of such a frame where no rate control and no rate set says otherwise, Mb/s.
    pub fn rate_mbps(&self, k: FrameKind) -> f64 {
        if k == FrameKind::Data { self.data_rate_mbps } else { self.basic_rate_mbps }
    }

    /// Octets on the air, FCS included; `payload` is the network packet's length and counts for data only.
    pub fn frame_bytes(&self, k: FrameKind, payload: usize) -> u32 {
        match k {
            FrameKind::Rts => RTS_BYTES,
            FrameKind::Cts | FrameKind::Ack => CTS_BYTES,
            FrameKind::Beacon => BEACON_BYTES,
            FrameKind::Data | FrameKind::Broadcast | FrameKind::Noise => {
                payload as u32 + self.data_overhead_bytes
            }
        }
    }

    /// How long the frame occupies the air.
    pub fn airtime(&self, k: FrameKind, payload: usize) -> Span {
        self.airtime_at(self.frame_bytes(k, payload), self.rate_mbps(k))
    }

    /// How long `bytes` occupy the air at `rate_mbps`, with preamble and header.
    pub fn airtime_at(&self, bytes: u32, rate_mbps: f64) -> Span {
        let bits = f64::from(bytes) * 8.0;
        let body_ns = match self.kind {
            // Rounded up to whole microseconds by the LENGTH field (16.2.3.5); ns-2 does not, and
            // at 1 and 2 Mb/s a byte takes an integer number of microseconds anyway.
            PhyKind::Dsss => {
                if rate_mbps > 2.0 {
                    (bits / rate_mbps).ceil() * 1000.0
                } else {
                    bits / rate_mbps * 1000.0
                }
            }
            // SERVICE 16 bits, tail 6 bits, symbols of 4 us, 6 us signal extension (18.3.2.4).
            PhyKind::Ofdm => symbols(bits, rate_mbps) * 4000.0 + 6000.0,
            PhyKind::Ofdm5Ghz => symbols(bits, rate_mbps) * 4000.0,
        };
        Span::from_nanos(self.preamble_ns + body_ns as u64)
    }

    /// EIFS = SIFS + DIFS + an ACK at the lowest rate (IEEE 802.11 10.3.2.3.7). ns-2 counts the ACK's preamble as
    /// octets at 1 Mb/s, which comes to the same 304 us for DSSS.
    pub fn eifs(&self, sifs: Span, difs: Span) -> Span {
        sifs + difs + self.airtime_at(CTS_BYTES, self.kind.rates()[0])
    }

    /// The preamble and header's time.
    pub fn preamble(&self) -> Span {
        Span::from_nanos(self.preamble_ns)
    }

    /// The natural logarithm of the chance that `bits` bits at `rate_mbps` all survive a signal-to-interference-and-noise
    /// ratio of `sinr` (a power ratio).
    pub fn log_success(&self, sinr: f64, rate_mbps: f64, bits: f64) -> f64 {
        let ber = match self.kind {
            PhyKind::Dsss => dsss_ber(sinr, rate_mbps),
            PhyKind::Ofdm | PhyKind::Ofdm5Ghz => match self.error_model {
                ErrorModel::UnionBound => union_bound_ber(sinr, rate_mbps),
                ErrorModel::Nist => nist_ber(sinr, rate_mbps),
                ErrorModel::Yans => yans_ber(sinr, rate_mbps),
            },
        };
        bits * libm::log1p(-ber.clamp(0.0, 0.5))
    }
}

/// OFDM symbols for this many bits, with SERVICE and tail.
fn symbols(bits: f64, rate_mbps: f64) -> f64 {
    ((bits + 22.0) / (rate_mbps * 4.0)).ceil()
}

/// Bit error rate of DSSS and CCK in a 22 MHz channel.
///
/// DBPSK: exp(-g)/2 with g = Eb/N0 (Proakis, Digital Communications, 5.2). DQPSK: the Bessel-free approximation that is
/// tight above 3 dB (Pauw and Taylor 2010 use the same). CCK: union bounds over the codeword distances (Pursley and
/// Royster 2009), 8-chip codewords.
fn dsss_ber(sinr: f64, rate_mbps: f64) -> f64 {
    const CHIP_BANDWIDTH_MHZ: f64 = 22.0;
    let eb_n0 = sinr * CHIP_BANDWIDTH_MHZ / rate_mbps;
    if rate_mbps <= 1.0 {
        0.5 * libm::exp(-eb_n0)
    } else if rate_mbps <= 2.0 {
        if eb_n0 <= 0.0 {
            return 0.5;
        }
        let sqrt2 = core::f64::consts::SQRT_2;
        let scale = (sqrt2 + 1.0) / libm::sqrt(8.0 * core::f64::consts::PI * sqrt2);
        (scale / libm::sqrt(eb_n0) * libm::exp(-(2.0 - sqrt2) * eb_n0)).min(0.5)
    } else {
        let es_n0 = eb_n0 * if rate_mbps < 10.0 { 4.0 } else { 8.0 };
        let q = |weight: f64, x: f64| weight * gaussian_tail(libm::sqrt(x));
        let ser = if rate_mbps < 10.0 {
            q(14.0, es_n0) + q(1.0, 2.0 * es_n0)
        } else {
            q(24.0, es_n0 / 2.0)
                + q(16.0, es_n0 * 0.75)
                + q(174.0, es_n0)
                + q(16.0, es_n0 * 1.25)
                + q(24.0, es_n0 * 1.5)
                + q(1.0, es_n0 * 2.0)
        };
        // Half of a codeword's bits are wrong when the codeword is.
        (0.5 * ser).min(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phy(preset: &str) -> Phy {
        Phy::new(&RadioConfig::preset(preset).unwrap())
    }

    #[test]
    fn airtimes_are_those_of_ns2() {
        // ns-2.35 at 2/1 Mb/s: RTS 272/352 us, CTS and ACK 248/304 us at 2/1 Mb/s; a 1500 B packet 6328 us.
        let us = |p: &str, k, n| phy(p).airtime(k, n).as_nanos() as f64 / 1000.0;
        assert_eq!(us("wavelan-914-cmu", FrameKind::Rts, 0), 272.0);
        assert_eq!(us("wavelan-914-ns2", FrameKind::Rts, 0), 352.0);
        assert_eq!(us("wavelan-914-cmu", FrameKind::Ack, 0), 248.0);
        assert_eq!(us("wavelan-914-ns2", FrameKind::Cts, 0), 304.0);
        assert_eq!(us("wavelan-914-cmu", FrameKind::Data, 1500), 6328.0);
        let eifs = phy("wavelan-914-cmu").eifs(Span::from_micros(10), Span::from_micros(50));
        assert_eq!(eifs.as_micros(), 364);
    }

    #[test]
    fn airtimes_are_those_of_the_standard() {
        // 1500 octets with 36 of overhead at 11 Mb/s: 192 + ceil(12288 / 11) = 1310 us.
        assert_eq!(phy("80211b").airtime(FrameKind::Data, 1500).as_micros(), 192 + 1118);
        // At 24 Mb/s: 20 + 4 ceil((12288 + 22) / 96) + 6 = 542 us.
        assert_eq!(phy("80211g").airtime(FrameKind::Data, 1500).as_micros(), 20 + 4 * 129 + 6);
    }

    #[test]
    fn error_rates_fall_with_signal_and_rise_with_rate() {
        for kind in [PhyKind::Dsss, PhyKind::Ofdm] {
            let ber = |sinr_db: f64, rate| {
                let s = crate::units::db_to_ratio(sinr_db);
                if kind == PhyKind::Dsss { dsss_ber(s, rate) } else { union_bound_ber(s, rate) }
            };
            for &rate in kind.rates() {
                for db in -10..30 {
                    let (here, above) = (ber(f64::from(db), rate), ber(f64::from(db + 1), rate));
                    assert!(
                        (0.0..=0.5).contains(&here) && above <= here,
                        "{kind:?} {rate} {db} dB: {here} {above}"
                    );
                }
                assert!(ber(35.0, rate) < 1e-9);
                assert!(ber(-15.0, rate) > 1e-3);
            }
        }
    }

    #[test]
    fn dbpsk_is_the_textbook_formula() {
        // Proakis: Pb = exp(-Eb/N0)/2; Eb/N0 = 10 dB gives 2.27e-5.
        let sinr = 10.0 / 22.0;
        assert!((dsss_ber(sinr, 1.0) / 2.27e-5 - 1.0).abs() < 0.01);
    }

    #[test]
    fn ofdm_meets_the_standards_sensitivity_without_magic() {
        // IEEE 802.11-2020 table 17-18 asks for at most 10 % errors in 1000 octets at -82 dBm (6 Mb/s) to -65 dBm
        // (54 Mb/s), assuming 10 dB of noise figure and 5 dB of implementation margin; thermal noise in 20 MHz is
        // -101 dBm. An ideal receiver must manage with the margin in hand, and cannot manage with 8 dB less.
        let p = phy("80211g");
        for (rate, required_snr_db) in [(6.0, 9.0), (12.0, 12.0), (24.0, 17.0), (36.0, 21.0), (54.0, 26.0)] {
            let per = |db: f64| 1.0 - libm::exp(p.log_success(crate::units::db_to_ratio(db), rate, 8000.0));
            assert!(per(required_snr_db) < 0.1, "{rate}: {}", per(required_snr_db));
            assert!(per(required_snr_db - 8.0) > 0.1, "{rate}: {}", per(required_snr_db - 8.0));
        }
    }
}
