//! The quality of a GPS position.

use serde::{Deserialize, Serialize};

/// What kind of position a receiver has, from none to the best (gpsd's `mode` and `status`).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FixStatus {
    /// No position.
    #[default]
    None,
    /// Latitude and longitude.
    #[serde(rename = "2d")]
    TwoD,
    /// Altitude, too.
    #[serde(rename = "3d")]
    ThreeD,
    /// With differential corrections.
    Dgps,
    /// Real-time kinematic corrections, ambiguities not resolved: some decimetres.
    RtkFloat,
    /// Real-time kinematic corrections, ambiguities resolved: some centimetres.
    RtkFixed,
    /// Dead reckoning, without satellites.
    DeadReckoning,
    /// Satellites and dead reckoning.
    GnssDeadReckoning,
    /// A receiver for the time, at a surveyed place.
    Surveyed,
    /// A simulated receiver: that of a node in an emulation or a lab.
    Simulated,
    /// The military code, P(Y).
    Precise,
}

crate::names!(FixStatus {
    None = "none",
    TwoD = "2d",
    ThreeD = "3d",
    Dgps = "dgps",
    RtkFloat = "rtk-float",
    RtkFixed = "rtk-fixed",
    DeadReckoning = "dead-reckoning",
    GnssDeadReckoning = "gnss-dead-reckoning",
    Surveyed = "surveyed",
    Simulated = "simulated",
    Precise = "precise",
});

impl FixStatus {
    /// Of gpsd's `mode` (0 and 1: no fix, 2, 3) and `status` (gpsd_json(5), since release 3.22). A status that says no more than
    /// that there is a fix (0, 1, or none) leaves the mode.
    pub const fn of_gpsd(mode: u8, status: Option<u8>) -> Self {
        match (mode, status) {
            (0 | 1, _) => Self::None,
            (_, Some(2)) => Self::Dgps,
            (_, Some(3)) => Self::RtkFixed,
            (_, Some(4)) => Self::RtkFloat,
            (_, Some(5)) => Self::DeadReckoning,
            (_, Some(6)) => Self::GnssDeadReckoning,
            (_, Some(7)) => Self::Surveyed,
            (_, Some(8)) => Self::Simulated,
            (_, Some(9)) => Self::Precise,
            (2, _) => Self::TwoD,
            _ => Self::ThreeD,
        }
    }

    /// gpsd's number, its `status`; 0 without a fix.
    pub const fn gpsd(self) -> u8 {
        match self {
            Self::None => 0,
            Self::TwoD | Self::ThreeD => 1,
            Self::Dgps => 2,
            Self::RtkFixed => 3,
            Self::RtkFloat => 4,
            Self::DeadReckoning => 5,
            Self::GnssDeadReckoning => 6,
            Self::Surveyed => 7,
            Self::Simulated => 8,
            Self::Precise => 9,
        }
    }
}

/// Where an accuracy comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccuracyFrom {
    /// The receiver's own standard deviations: NMEA's GST sentence, gpsd's class GST.
    Gst,
    /// gpsd's `epx`, `epy` and `epv`: by the receiver's driver, or computed from the satellites' places.
    Epx,
}

crate::names!(AccuracyFrom {
    Gst = "gst",
    Epx = "epx",
});

/// How good a position is, and when it was taken.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct FixQuality {
    /// gpsd's mode: 2 with latitude and longitude, 3 with altitude, too; 0 or 1 without a fix.
    pub mode: u8,
    /// What kind of position it is.
    pub status: FixStatus,
    /// When it was taken, by the receiver's clock: nanoseconds since 1970 (UTC).
    pub time_unix_ns: Option<u64>,
    /// Height above the WGS 84 ellipsoid, metres.
    pub altitude_m: Option<f64>,
    /// Horizontal accuracy, metres: the root of the sum of the squares of the deviations north and east.
    pub accuracy_m: Option<f64>,
    /// Vertical accuracy, metres.
    pub vertical_m: Option<f64>,
    /// Where both accuracies come from.
    pub accuracy_from: Option<AccuracyFrom>,
    /// Satellites used.
    pub satellites: Option<u8>,
    /// How old the differential or RTK corrections were that the receiver used, seconds.
    pub corrections_age_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpsds_numbers_are_those_of_its_manual() {
        // gpsd_json(5) of release 3.22: 2 DGPS, 3 RTK Fixed, 4 RTK Floating, 5 DR, 6 GNSSDR, 7 Time (surveyed), 8 Simulated, 9 P(Y).
        assert_eq!(FixStatus::of_gpsd(3, Some(3)), FixStatus::RtkFixed);
        assert_eq!(FixStatus::of_gpsd(3, Some(4)), FixStatus::RtkFloat);
        assert_eq!(FixStatus::of_gpsd(3, None), FixStatus::ThreeD);
        assert_eq!(FixStatus::of_gpsd(2, Some(1)), FixStatus::TwoD);
        assert_eq!(FixStatus::of_gpsd(1, Some(3)), FixStatus::None, "a status without a fix");
        for s in FixStatus::ALL.into_iter().filter(|s| s.gpsd() > 1) {
            assert_eq!(FixStatus::of_gpsd(3, Some(s.gpsd())), s);
        }
    }

    #[test]
    fn messages_have_the_names_of_tables() {
        for s in FixStatus::ALL {
            assert_eq!(serde_json::to_value(s).unwrap(), s.name());
        }
        for a in [AccuracyFrom::Gst, AccuracyFrom::Epx] {
            assert_eq!(serde_json::to_value(a).unwrap(), a.name());
        }
    }
}
