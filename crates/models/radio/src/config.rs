//! A radio and its medium access, as a scenario describes them, and the presets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::phy_kind::PhyKind;
use crate::site::config::SiteConfig;

/// How a signal weakens with distance.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathLoss {
    /// Friis up to the crossover distance 4 pi ht hr / lambda, two-ray ground (d^-4) beyond: ns-2's `TwoRayGround`.
    TwoRay,
    /// Free space (Friis) at every distance.
    FreeSpace,
    /// Friis up to one metre, then `path_loss_exponent` decades per decade of distance.
    LogDistance,
}

/// How a receiver decides whether it decodes a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reception {
    /// ns-2's rules: two power thresholds, pairwise capture by the earlier frame only, no noise, no bit errors.
    Threshold,
    /// Cumulative signal to interference and noise ratio over the duration of the frame, packet error rate by
    /// modulation, capture by a stronger later frame.
    Sinr,
}

/// Fast fading, drawn once per frame and receiver.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fading {
    /// None.
    None,
    /// Rayleigh: no line of sight.
    Rayleigh,
    /// Rician, with the line-of-sight power `rician_k_db` above the scattered power.
    Rician,
}

/// The formula for the error rate of OFDM frames.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorModel {
    /// The first terms of the union bound, with the signal spread over the 52 used subcarriers.
    UnionBound,
    /// As ns-3's `NistErrorRateModel` (Pei and Henderson 2010): ten terms of the union bound.
    Nist,
    /// As ns-3's `YansErrorRateModel` (Lacage and Henderson 2006): the first one or two error events of the code.
    Yans,
}

/// How a station chooses the rate of a unicast data frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateControl {
    /// Always `data_rate_mbps`.
    Fixed,
    /// Automatic rate fallback (Kamerman and Monteban 1997), per neighbour: up after ten acknowledged frames, down
    /// after two that were not acknowledged.
    Arf,
    /// Minstrel as in Linux, per neighbour: the rate with the highest throughput over the last tenths of a second; one
    /// frame in ten tries another.
    Minstrel,
}

/// How link addresses are resolved.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arp {
    /// Not needed: a node's link address is derived from its network address.
    None,
    /// ARP (RFC 826) as in hosts (RFC 1122, section 2.3.2, and Linux): up to 16 packets wait for an address, which is
    /// requested three times, a second apart.
    Host,
    /// ARP as in ns-2 (and BSD): one packet waits for an address; a newer one replaces it and triggers another
    /// request.
    HoldOne,
}

/// A radio, its channel and its medium access. All nodes of a scenario share one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadioConfig {
    /// Carrier frequency, MHz.
    pub frequency_mhz: f64,
    /// Transmit power, dBm.
    pub tx_power_dbm: f64,
    /// Gain of each antenna, dBi.
    pub antenna_gain_dbi: f64,
    /// Height of each antenna above the node's position, metres.
    pub antenna_height_m: f64,
    /// How the mean signal weakens with distance.
    pub path_loss: PathLoss,
    /// Exponent of `log-distance`.
    pub path_loss_exponent: f64,
    /// Standard deviation of log-normal shadowing, dB, drawn per frame and receiver; 0 for none.
    pub shadowing_sigma_db: f64,
    /// Fast fading.
    pub fading: Fading,
    /// Rician K factor, dB.
    pub rician_k_db: f64,

    /// How a receiver decides whether it decodes a frame.
    pub reception: Reception,
    /// `threshold`: weaker frames are not decoded, dBm.
    pub receive_threshold_dbm: f64,
    /// Weaker frames do not make the medium busy, dBm.
    pub carrier_sense_threshold_dbm: f64,
    /// Capture: how much stronger a frame must be than another one to be decoded in spite of it, dB. With `threshold`
    /// only the earlier frame can win; with `sinr` a later one can too.
    pub capture_db: f64,
    /// `sinr`: receiver noise figure, dB.
    pub noise_figure_db: f64,
    /// `sinr`: receiver bandwidth, MHz (thermal noise is -174 dBm/Hz).
    pub bandwidth_mhz: f64,
    /// `sinr`: weaker frames do not even count as interference, dBm.
    pub interference_floor_dbm: f64,

    /// The family of modulations.
    pub phy: PhyKind,
    /// Rate of unicast data frames, Mb/s; the highest one with `rate_control`.
    pub data_rate_mbps: f64,
    /// Rate of broadcast and control frames, Mb/s.
    pub basic_rate_mbps: f64,
    /// The basic rate set, Mb/s: RTS, CTS and ACK use its highest rate that is not above that of the data frame (IEEE
    /// 802.11 10.6.6.5). If empty, they use `basic_rate_mbps`.
    pub basic_rates_mbps: Vec<f64>,
    /// How the rate of unicast data frames is chosen.
    pub rate_control: RateControl,
    /// OFDM only: the formula for the error rate.
    pub error_model: ErrorModel,
    /// DSSS only: duration of the PLCP preamble and header, us.
    pub plcp_us: f64,
    /// Size of the MAC header, LLC and FCS in a data frame's airtime, bytes.
    pub data_overhead_bytes: u32,

    /// Slot time, us.
    pub slot_us: u32,
    /// Time a carrier must be on the air before other stations defer to it, us: aCCATime, aRxTxTurnaroundTime and
    /// aMACProcessingDelay of IEEE 802.11 10.3.7, which add up to a slot with the propagation delay. Stations whose
    /// backoffs end in the same slot collide, however little apart. 0: carriers are detected at once, as in ns-2.
    pub cca_us: u32,
    /// Short interframe space, us.
    pub sifs_us: u32,
    /// Smallest contention window (CWmin), slots.
    pub cw_min: u32,
    /// Largest contention window (CWmax), slots.
    pub cw_max: u32,
    /// Whether unicast frames are acknowledged and retried; otherwise every frame is sent once (WaveLAN-I).
    pub acknowledge: bool,
    /// Unicast frames of at least this many bytes (with MAC header) are preceded by RTS and CTS.
    pub rts_threshold_bytes: u32,
    /// dot11ShortRetryLimit.
    pub short_retry_limit: u8,
    /// dot11LongRetryLimit.
    pub long_retry_limit: u8,
    /// Whether a station that finds the medium idle for DIFS sends at once (IEEE 802.11 10.3.4.2). ns-2.35 always
    /// draws a backoff.
    pub immediate_access: bool,
    /// Whether the backoff is drawn from 0..=CW, as in IEEE 802.11, or from 0..CW, as in ns-2.
    pub backoff_includes_cw: bool,
    /// Whether EIFS replaces DIFS and ends with the next correct frame (IEEE 802.11 10.3.2.3.7). ns-2 sets the NAV to
    /// EIFS and additionally waits DIFS.
    pub eifs_replaces_difs: bool,

    /// Capacity of each class of the interface queue, packets. Use a value that is never reached for an unbounded
    /// queue: only queued packets take memory, at worst this many per class and node.
    pub queue_packets: u32,
    /// Whether the interface queue has classes: routing messages leave first, then urgent data, then the rest.
    /// Otherwise it is a single first-in, first-out queue.
    pub queue_classes: bool,
    /// Frames that the network card holds, including the one being sent; 0 for a card that takes no time to fill.
    pub card_buffers: u32,
    /// Time to move a frame from the host into the card: fixed part, us.
    pub card_send_us: f64,
    /// Time to move a frame from the host into the card: per byte of its packet, us. One frame is moved at a time.
    pub card_send_us_per_byte: f64,
    /// Received frames that the network card holds until the host has fetched them, one after the other; a frame that
    /// finds no free buffer is lost. 0: unlimited, and no frame waits for another.
    pub card_receive_buffers: u32,
    /// Time for the host to fetch a received frame from the card: fixed part, us.
    pub card_receive_us: f64,
    /// Time for the host to fetch a received frame from the card: per byte of its packet, us.
    pub card_receive_us_per_byte: f64,
    /// Processing time of the link layer in each direction, us.
    pub link_delay_us: u32,
    /// How link addresses are resolved. `host` of a preset becomes `hold-one` with the profile `ns2` of a protocol.
    pub arp: Arp,
    /// Delay of the answer to the first ARP request from an unknown neighbour, ms.
    pub arp_answer_delay_ms: u32,

    /// The node that is the access point: it sends beacons, and all others exchange data only while associated with
    /// it. Default: an ad hoc network without beacons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_point: Option<u32>,
    /// Interval between beacons, ms.
    pub beacon_interval_ms: f64,
    /// A station associates when it hears a beacon at least this strong, dBm.
    pub join_dbm: f64,
    /// A station leaves the access point when it hears a beacon weaker than this, dBm.
    pub leave_dbm: f64,
    /// A station leaves the access point after missing this many consecutive beacons.
    pub missed_beacons: u32,

    /// The effect of the surroundings on signals; none: no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub site: Option<Box<SiteConfig>>,
}

/// The preset of scenarios that name none.
pub const DEFAULT_PRESET: &str = "wavelan-914-cmu";

/// The names and descriptions of all presets.
pub const PRESETS: &[(&str, &str)] = &[
    (
        "wavelan-914-cmu",
        "914 MHz WaveLAN of ns-2: 250 m receive, 550 m sense; 2 Mb/s data, 2 Mb/s basic rate",
    ),
    ("wavelan-914-ns2", "the same with 1 Mb/s basic rate"),
    ("wavelan-914-sinr", "the same radio with noise, cumulative interference and packet error rates"),
    ("wavelan-i", "AT&T WaveLAN-I: 2 Mb/s, plain CSMA/CA without acknowledgement or RTS/CTS"),
    ("wavelan-i-pcmcia", "WaveLAN-I in a laptop: one buffer, slow to fill; 1.2 Mb/s at most"),
    ("wavelan-i-isa", "WaveLAN-I in a desktop computer: ten buffers, fast to fill"),
    ("80211b", "IEEE 802.11b at 2.4 GHz: 11 Mb/s data, 1 Mb/s basic rate, SINR reception"),
    ("80211g", "IEEE 802.11g at 2.4 GHz: 24 Mb/s data, 6 Mb/s basic rate, SINR reception"),
    (
        "80211g-54",
        "IEEE 802.11g at 2.4 GHz: up to 54 Mb/s with Minstrel, responses at a basic rate, NIST error model",
    ),
    ("80211a-54", "IEEE 802.11a at 5.18 GHz: otherwise as 80211g-54"),
    ("meshtest", "the 802.11g radios of MeshTest: cabled, with node 0 as access point"),
];

/// A slot of 20 us without the propagation delay (aAirPropagationTime, 1 us).
const DSSS_CCA_US: u32 = 19;
/// A slot of 9 us without it: Table 17-21.
const OFDM_CCA_US: u32 = 8;

/// "Never" as an RTS threshold: longer than any frame.
const NO_RTS: u32 = 3000;

impl RadioConfig {
    /// The preset of that name.
    pub fn preset(name: &str) -> Option<Self> {
        let ns2 = Self::wavelan_914();
        Some(match name {
            "wavelan-914-cmu" => ns2,
            "wavelan-914-ns2" => Self { basic_rate_mbps: 1.0, ..ns2 },
            "wavelan-914-sinr" => ns2.with_standard_access(),
            "wavelan-i" => Self::wavelan_i(),
            "wavelan-i-pcmcia" => Self::wavelan_i().with_card([1, 5], [3.46, 1.13], [2.057, 0.139]),
            "wavelan-i-isa" => Self::wavelan_i().with_card([10, 31], [0.96, 0.067], [0.955, 0.048]),
            "80211b" => Self::wifi_24ghz(),
            "80211g" => Self {
                phy: PhyKind::Ofdm,
                data_rate_mbps: 24.0,
                basic_rate_mbps: 6.0,
                slot_us: 9,
                cca_us: OFDM_CCA_US,
                cw_min: 15,
                bandwidth_mhz: 20.0,
                ..Self::wifi_24ghz()
            },
            "80211g-54" => Self::ofdm_54(),
            "80211a-54" => Self {
                frequency_mhz: 5180.0,
                phy: PhyKind::Ofdm5Ghz,
                // Table 17-21.
                sifs_us: 16,
                ..Self::ofdm_54()
            },
            "meshtest" => Self::meshtest(),
            _ => return None,
        })
    }

    /// ns-2.35's 914 MHz WaveLAN (`tcl/lib/ns-default.tcl`, `mac/wireless-phy.cc`): received 250.01 m away, sensed
    /// 550.02 m away.
    fn wavelan_914() -> Self {
        Self {
            frequency_mhz: 914.0,
            // 0.28183815 W.
            tx_power_dbm: 24.5,
            antenna_gain_dbi: 0.0,
            antenna_height_m: 1.5,
            path_loss: PathLoss::TwoRay,
            path_loss_exponent: 4.0,
            shadowing_sigma_db: 0.0,
            fading: Fading::None,
            rician_k_db: 6.0,
            reception: Reception::Threshold,
            // 3.652e-10 W and 1.559e-11 W.
            receive_threshold_dbm: -64.374_692_311_377_39,
            carrier_sense_threshold_dbm: -78.071_538_848_111_59,
            capture_db: 10.0,
            noise_figure_db: 10.0,
            bandwidth_mhz: 22.0,
            interference_floor_dbm: -92.0,
            phy: PhyKind::Dsss,
            data_rate_mbps: 2.0,
            basic_rate_mbps: 2.0,
            plcp_us: 192.0,
            // ns-2.35 counts a four-address header (30), FCS (4) and no LLC.
            data_overhead_bytes: 34,
            slot_us: 20,
            cca_us: 0,
            sifs_us: 10,
            cw_min: 31,
            cw_max: 1023,
            acknowledge: true,
            rts_threshold_bytes: 0,
            short_retry_limit: 7,
            long_retry_limit: 4,
            immediate_access: false,
            backoff_includes_cw: false,
            eifs_replaces_difs: false,
            queue_packets: 50,
            queue_classes: true,
            card_buffers: 0,
            card_send_us: 0.0,
            card_send_us_per_byte: 0.0,
            card_receive_buffers: 0,
            card_receive_us: 0.0,
            card_receive_us_per_byte: 0.0,
            link_delay_us: 25,
            arp: Arp::Host,
            arp_answer_delay_ms: 0,
            basic_rates_mbps: Vec::new(),
            rate_control: RateControl::Fixed,
            error_model: ErrorModel::UnionBound,
            access_point: None,
            // 100 time units of 1024 us.
            beacon_interval_ms: 102.4,
            join_dbm: -76.0,
            leave_dbm: -82.0,
            missed_beacons: 10,
            site: None,
        }
    }

    /// The radio of ns-2's WaveLAN with the medium access of the first cards: no acknowledgement, no RTS.
    fn wavelan_i() -> Self {
        Self {
            acknowledge: false,
            rts_threshold_bytes: NO_RTS,
            arp: Arp::None,
            ..Self::wavelan_914().with_standard_access()
        }
    }

    /// With SINR reception, and the medium access of IEEE 802.11 where ns-2 departs from it.
    fn with_standard_access(self) -> Self {
        Self {
            reception: Reception::Sinr,
            immediate_access: true,
            backoff_includes_cw: true,
            eifs_replaces_difs: true,
            cca_us: DSSS_CCA_US,
            ..self
        }
    }

    /// With a card that Desilva and Das (2000), Table 1, measured: its buffers for sending and receiving, and how long
    /// a packet of 1500 bytes and one of 68 take into it and out of it, ms.
    fn with_card(self, buffers: [u32; 2], send_ms: [f64; 2], receive_ms: [f64; 2]) -> Self {
        // The straight line through the two points: us for any packet, and us for each byte.
        let line = |[mtu, rreq]: [f64; 2]| {
            let us_per_byte = 1e3 * (mtu - rreq) / (1500.0 - 68.0);
            (1e3 * rreq - 68.0 * us_per_byte, us_per_byte)
        };
        let (send, receive) = (line(send_ms), line(receive_ms));
        Self {
            card_buffers: buffers[0],
            card_send_us: send.0,
            card_send_us_per_byte: send.1,
            card_receive_buffers: buffers[1],
            card_receive_us: receive.0,
            card_receive_us_per_byte: receive.1,
            ..self
        }
    }

    /// A common 2.4 GHz card outdoors: 16 dBm, 2 dBi antennas, two-ray ground, -62 dBm energy detection.
    fn wifi_24ghz() -> Self {
        Self {
            frequency_mhz: 2437.0,
            tx_power_dbm: 16.0,
            antenna_gain_dbi: 2.0,
            receive_threshold_dbm: -94.0,
            carrier_sense_threshold_dbm: -88.0,
            noise_figure_db: 7.0,
            interference_floor_dbm: -100.0,
            data_rate_mbps: 11.0,
            basic_rate_mbps: 1.0,
            // Header 24, LLC/SNAP 8, FCS 4.
            data_overhead_bytes: 36,
            rts_threshold_bytes: NO_RTS,
            link_delay_us: 0,
            ..Self::wavelan_914().with_standard_access()
        }
    }

    /// 802.11g without stations of 802.11b: all eight rates of OFDM, the mandatory ones as basic rate set (17.2.3.2).
    fn ofdm_54() -> Self {
        Self {
            phy: PhyKind::Ofdm,
            data_rate_mbps: 54.0,
            basic_rate_mbps: 6.0,
            basic_rates_mbps: vec![6.0, 12.0, 24.0],
            rate_control: RateControl::Minstrel,
            error_model: ErrorModel::Nist,
            slot_us: 9,
            cca_us: OFDM_CCA_US,
            cw_min: 15,
            bandwidth_mhz: 20.0,
            ..Self::wifi_24ghz()
        }
    }

    /// The radios of MeshTest: cables instead of antennas, a path loss as in free space, and a network with an access
    /// point. The origin of each figure is in docs/concepts/reproductions.md.
    fn meshtest() -> Self {
        Self {
            antenna_gain_dbi: 0.0,
            path_loss: PathLoss::FreeSpace,
            arp_answer_delay_ms: 4000,
            access_point: Some(0),
            ..Self::ofdm_54()
        }
    }

    /// What is wrong with the settings, if anything: (key, reason). The site has its own check.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let finite = [
            ("frequency_mhz", self.frequency_mhz, 1.0, 1e6),
            ("tx_power_dbm", self.tx_power_dbm, -100.0, 100.0),
            ("antenna_gain_dbi", self.antenna_gain_dbi, -50.0, 100.0),
            ("antenna_height_m", self.antenna_height_m, 0.01, 1e5),
            ("path_loss_exponent", self.path_loss_exponent, 1.0, 10.0),
            ("shadowing_sigma_db", self.shadowing_sigma_db, 0.0, 30.0),
            ("rician_k_db", self.rician_k_db, -30.0, 60.0),
            ("receive_threshold_dbm", self.receive_threshold_dbm, -200.0, 100.0),
            ("carrier_sense_threshold_dbm", self.carrier_sense_threshold_dbm, -200.0, 100.0),
            ("capture_db", self.capture_db, 0.0, 100.0),
            ("noise_figure_db", self.noise_figure_db, 0.0, 60.0),
            ("bandwidth_mhz", self.bandwidth_mhz, 0.001, 10_000.0),
            ("interference_floor_dbm", self.interference_floor_dbm, -200.0, 100.0),
            ("plcp_us", self.plcp_us, 0.0, 10_000.0),
            ("card_send_us", self.card_send_us, 0.0, 1e6),
            ("card_send_us_per_byte", self.card_send_us_per_byte, 0.0, 1000.0),
            ("card_receive_us", self.card_receive_us, 0.0, 1e6),
            ("card_receive_us_per_byte", self.card_receive_us_per_byte, 0.0, 1000.0),
            ("beacon_interval_ms", self.beacon_interval_ms, 1.0, 67_108.0),
            ("join_dbm", self.join_dbm, -200.0, 100.0),
            ("leave_dbm", self.leave_dbm, -200.0, self.join_dbm),
        ];
        check_ranges(&finite)?;
        self.check_rates()?;
        self.check_counts()
    }

    fn check_rates(&self) -> Result<(), (&'static str, String)> {
        let rates = self.phy.rates();
        let single = [("data_rate_mbps", self.data_rate_mbps), ("basic_rate_mbps", self.basic_rate_mbps)];
        let set = self.basic_rates_mbps.iter().map(|&r| ("basic_rates_mbps", r));
        match single.into_iter().chain(set).find(|(_, rate)| !rates.contains(rate)) {
            Some((key, rate)) => Err((key, format!("{rate} Mb/s is not one of {rates:?}"))),
            None if self.basic_rates_mbps.len() > rates.len() => {
                Err(("basic_rates_mbps", format!("more than {} rates", rates.len())))
            }
            None => Ok(()),
        }
    }

    fn check_counts(&self) -> Result<(), (&'static str, String)> {
        let counts = [
            ("slot_us", f64::from(self.slot_us), 1.0, 10_000.0),
            ("sifs_us", f64::from(self.sifs_us), 5.0, 10_000.0),
            ("cw_min", f64::from(self.cw_min), 1.0, 32_767.0),
            ("cw_max", f64::from(self.cw_max), f64::from(self.cw_min), 32_767.0),
            ("short_retry_limit", f64::from(self.short_retry_limit), 1.0, 255.0),
            ("long_retry_limit", f64::from(self.long_retry_limit), 1.0, 255.0),
            ("queue_packets", f64::from(self.queue_packets), 1.0, 1_000_000.0),
            ("card_buffers", f64::from(self.card_buffers), 0.0, 10_000.0),
            ("card_receive_buffers", f64::from(self.card_receive_buffers), 0.0, 10_000.0),
            ("link_delay_us", f64::from(self.link_delay_us), 0.0, 1_000_000.0),
            ("data_overhead_bytes", f64::from(self.data_overhead_bytes), 0.0, 1000.0),
            ("arp_answer_delay_ms", f64::from(self.arp_answer_delay_ms), 0.0, 60_000.0),
            ("missed_beacons", f64::from(self.missed_beacons), 1.0, 10_000.0),
        ];
        check_ranges(&counts)
    }
}

/// Checks that each (key, value, lowest, highest) is in its range.
fn check_ranges(values: &[(&'static str, f64, f64, f64)]) -> Result<(), (&'static str, String)> {
    match values.iter().find(|(_, value, low, high)| !(low..=high).contains(&value)) {
        Some((key, value, low, high)) => Err((key, format!("{value} is not between {low} and {high}"))),
        None => Ok(()),
    }
}
