//! A station's antenna.

use super::config::StationAntenna;
use crate::config::RadioConfig;
use crate::units::db_to_ratio;

#[derive(Copy, Clone, Debug)]
pub(crate) struct Antenna {
    /// Gain above the radio's `antenna_gain_dbi`, dB.
    pub(crate) extra_gain_db: f64,
    pub(crate) height_m: f64,
    /// The same gain as a power ratio.
    gain: f64,
    lobe: Option<Lobe>,
}

#[derive(Copy, Clone, Debug)]
struct Lobe {
    /// Unit vector east and north.
    towards: [f64; 2],
    exponent: f64,
    /// The back lobe against the front, a power ratio.
    back: f64,
}

impl Antenna {
    /// The radio's own.
    pub(crate) fn plain(radio: &RadioConfig) -> Self {
        Self { extra_gain_db: 0.0, height_m: radio.antenna_height_m, gain: 1.0, lobe: None }
    }

    pub(crate) fn new(a: &StationAntenna, radio: &RadioConfig) -> Self {
        let extra_gain_db = a.gain_dbi - radio.antenna_gain_dbi;
        let lobe = a.beam.map(|b| {
            let angle = b.bearing_deg.to_radians();
            // Half the power at half the width: ((1 + cos(w/2)) / 2)^m = 1/2.
            let at_edge = f64::midpoint(1.0, libm::cos((b.width_deg * 0.5).to_radians()));
            Lobe {
                towards: [libm::sin(angle), libm::cos(angle)],
                exponent: -core::f64::consts::LN_2 / libm::log(at_edge),
                back: db_to_ratio(-b.front_to_back_db),
            }
        });
        Self { extra_gain_db, height_m: a.height_m, gain: db_to_ratio(extra_gain_db), lobe }
    }

    /// The gain of the antenna at `here` for a station at `there`, above the radio's own: a power ratio.
    pub(crate) fn gain_towards(&self, here: [f64; 2], there: [f64; 2]) -> f64 {
        let Some(lobe) = &self.lobe else { return self.gain };
        let (dx, dy) = (there[0] - here[0], there[1] - here[1]);
        let length = libm::sqrt(dx * dx + dy * dy);
        if length == 0.0 {
            return self.gain;
        }
        let cosine = (dx * lobe.towards[0] + dy * lobe.towards[1]) / length;
        let front = libm::pow(f64::midpoint(1.0, cosine).max(0.0), lobe.exponent);
        self.gain * front.max(lobe.back)
    }
}
