//! Path loss, shadowing and fading.

use wayhop_core::{Purpose, draw};

use crate::config::{Fading, PathLoss, RadioConfig, Reception};
use crate::units::{db_to_ratio, dbm_to_watts, watts_to_dbm};

/// The speed of light, m/s, as ns-2 has it.
pub const LIGHT_SPEED_M_PER_S: f64 = 3e8;

/// Received power as a function of distance, with the random parts keyed by (seed, transmitter, receiver, frame).
#[derive(Clone, Debug)]
pub struct Propagation {
    path_loss: PathLoss,
    /// Pt Gt Gr (lambda / 4 pi)^2: divided by d^2 it is Friis' received power, W.
    friis_w: f64,
    /// Pt Gt Gr ht^2 hr^2: divided by d^4 it is the two-ray received power, W.
    two_ray_w: f64,
    /// Square of the distance 4 pi ht hr / lambda where the two meet, m^2.
    crossover_squared_m2: f64,
    /// (ht hr)^2, m^4.
    height_product_squared_m4: f64,
    exponent: f64,
    shadowing_sigma_db: f64,
    fading: Fading,
    rician_k: f64,
    seed: u64,
}

impl Propagation {
    /// The propagation of a configuration; `seed` is the run's.
    pub fn new(c: &RadioConfig, seed: u64) -> Self {
        let lambda = LIGHT_SPEED_M_PER_S / (c.frequency_mhz * 1e6);
        let eirp = dbm_to_watts(c.tx_power_dbm) * db_to_ratio(2.0 * c.antenna_gain_dbi);
        let m = lambda / (4.0 * core::f64::consts::PI);
        let h = c.antenna_height_m;
        let crossover = 4.0 * core::f64::consts::PI * h * h / lambda;
        Self {
            path_loss: c.path_loss,
            friis_w: eirp * m * m,
            two_ray_w: eirp * h * h * h * h,
            crossover_squared_m2: crossover * crossover,
            height_product_squared_m4: h * h * h * h,
            exponent: c.path_loss_exponent,
            shadowing_sigma_db: c.shadowing_sigma_db,
            fading: c.fading,
            rician_k: db_to_ratio(c.rician_k_db),
            seed,
        }
    }

    /// The mean received power, W, at the square of a distance, m^2.
    #[inline]
    pub fn mean_watts(&self, distance_squared_m2: f64) -> f64 {
        match self.path_loss {
            PathLoss::TwoRay if distance_squared_m2 >= self.crossover_squared_m2 => {
                self.two_ray_w / (distance_squared_m2 * distance_squared_m2)
            }
            // Nearer than a millimetre the formula has no meaning; stations there hear each other perfectly.
            PathLoss::TwoRay | PathLoss::FreeSpace => self.friis_w / distance_squared_m2.max(1e-6),
            PathLoss::LogDistance => {
                self.friis_w / libm::pow(distance_squared_m2.max(1.0), self.exponent / 2.0)
            }
        }
    }

    /// The mean received power, W, at the square of a distance, m^2, with antennas at these heights, m, instead of the
    /// configured one. Heights matter to two-ray ground only.
    pub fn mean_watts_between(&self, distance_squared_m2: f64, height_m: f64, other_height_m: f64) -> f64 {
        let squared = height_m * height_m * other_height_m * other_height_m / self.height_product_squared_m4;
        if self.path_loss == PathLoss::TwoRay {
            return if distance_squared_m2 >= self.crossover_squared_m2 * squared {
                self.two_ray_w * squared / (distance_squared_m2 * distance_squared_m2)
            } else {
                self.friis_w / distance_squared_m2.max(1e-6)
            };
        }
        self.mean_watts(distance_squared_m2)
    }

    /// Whether the received power has a random part.
    pub fn is_random(&self) -> bool {
        self.shadowing_sigma_db > 0.0 || self.fading != Fading::None
    }

    /// The factor by which shadowing and fading change the power of `frame` from `transmitter` at `receiver`. The same
    /// arguments always give the same factor.
    pub fn random_gain(&self, transmitter: u32, receiver: u32, frame: u64) -> f64 {
        let key = [u64::from(transmitter), u64::from(receiver), frame];
        let mut gain = 1.0;
        if self.shadowing_sigma_db > 0.0 {
            let (n, _) = normal_pair(draw(self.seed, Purpose::Shadowing, key));
            gain *= db_to_ratio(n * self.shadowing_sigma_db);
        }
        let bits = || draw(self.seed, Purpose::Fading, key);
        match self.fading {
            Fading::None => {}
            // The squared envelope of Rayleigh fading is exponential with mean one.
            Fading::Rayleigh => gain *= -libm::log(open_unit(bits())),
            Fading::Rician => {
                let (a, b) = normal_pair(bits());
                let k = self.rician_k;
                let scatter = libm::sqrt(0.5 / (k + 1.0));
                let re = libm::sqrt(k / (k + 1.0)) + a * scatter;
                let im = b * scatter;
                gain *= re * re + im * im;
            }
        }
        gain
    }

    /// The farthest distance, m, at which the power can reach `floor_watts`, with the random part `margin_db` above
    /// its mean.
    pub fn range_m(&self, floor_watts: f64, margin_db: f64) -> f64 {
        let floor = floor_watts / db_to_ratio(margin_db);
        let (mut low, mut high) = (0.0f64, 1.0f64);
        while self.mean_watts(high * high) >= floor && high < 1e9 {
            high *= 2.0;
        }
        for _ in 0..200 {
            let mid = 0.5 * (low + high);
            if self.mean_watts(mid * mid) >= floor { low = mid } else { high = mid }
        }
        high
    }

    /// How far above its mean the random part is taken into account when far receivers are culled: 3 sigma of
    /// shadowing, and the fade that one frame in 10,000 exceeds.
    pub fn random_margin_db(&self) -> f64 {
        let fading = match self.fading {
            Fading::None => 0.0,
            // -ln(1e-4) = 9.2 times the mean.
            Fading::Rayleigh | Fading::Rician => 9.65,
        };
        3.0 * self.shadowing_sigma_db + fading
    }
}

impl RadioConfig {
    /// How far a frame reaches without shadowing, fading and interference, metres, to the whole metre: ns-2's threshold for
    /// 250 m is met at 250.01 m.
    pub fn nominal_range_m(&self) -> f64 {
        self.reach_m(self.receive_threshold_dbm)
    }

    /// What else than that range determines which stations hear each other, apart from interference, in words that
    /// follow the radio's name; `None` if nothing does.
    pub fn beyond_range(&self) -> Option<&'static str> {
        if self.site.is_some() {
            Some("has a `site`, whose obstacles and shadows weaken signals")
        } else if self.shadowing_sigma_db > 0.0 {
            Some("has shadowing, drawn for each frame")
        } else if self.fading != Fading::None {
            Some("has fading, drawn for each frame")
        } else if self.reception == Reception::Sinr {
            Some("has `reception = \"sinr\"`: how far a frame reaches depends on its rate and on noise")
        } else if self.access_point.is_some() {
            Some("has an access point that relays all frames")
        } else {
            None
        }
    }

    /// How far a frame makes the medium busy, under the same conditions, metres, to the whole metre.
    pub fn carrier_sense_range_m(&self) -> f64 {
        self.reach_m(self.carrier_sense_threshold_dbm)
    }

    /// The path loss between two antennas at the configured height, dB, with their gains and without the random part:
    /// the loss that attenuators between the radios' connectors have to add.
    pub fn mean_path_loss_db(&self, distance_m: f64) -> f64 {
        let watts = Propagation::new(self, 0).mean_watts(distance_m * distance_m);
        self.tx_power_dbm - watts_to_dbm(watts)
    }

    /// The path loss from which on a frame does not even make the medium busy, dB.
    pub fn silent_path_loss_db(&self) -> f64 {
        self.tx_power_dbm - self.carrier_sense_threshold_dbm
    }

    fn reach_m(&self, threshold_dbm: f64) -> f64 {
        Propagation::new(self, 0).range_m(dbm_to_watts(threshold_dbm), 0.0).round().max(1.0)
    }
}

/// A number in (0, 1].
fn open_unit(bits: u64) -> f64 {
    ((bits >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Two independent standard normals from 64 bits (Box and Muller 1958); 32 bits each reach 6.6 sigma.
pub(crate) fn normal_pair(bits: u64) -> (f64, f64) {
    let u = ((bits >> 32) + 1) as f64 / 4_294_967_296.0;
    let v = (bits & 0xffff_ffff) as f64 / 4_294_967_296.0;
    let r = libm::sqrt(-2.0 * libm::log(u));
    let angle = 2.0 * core::f64::consts::PI * v;
    (r * libm::cos(angle), r * libm::sin(angle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::watts_to_dbm;

    fn at(preset: &str) -> (RadioConfig, Propagation) {
        let c = RadioConfig::preset(preset).unwrap();
        let p = Propagation::new(&c, 1);
        (c, p)
    }

    #[test]
    fn the_wavelan_reaches_250_m_and_is_sensed_at_550_m() {
        // ns-2.35: 250.01 m and 550.02 m.
        let (c, p) = at("wavelan-914-cmu");
        assert!((p.range_m(dbm_to_watts(c.receive_threshold_dbm), 0.0) - 250.0).abs() < 0.05);
        assert_eq!(c.nominal_range_m(), 250.0);
        assert_eq!(c.carrier_sense_range_m(), 550.0);
        assert!((p.range_m(dbm_to_watts(c.carrier_sense_threshold_dbm), 0.0) - 550.0).abs() < 0.05);
    }

    #[test]
    fn two_ray_meets_friis_at_the_crossover() {
        let (_, p) = at("wavelan-914-cmu");
        let d2 = p.crossover_squared_m2;
        assert!((d2.sqrt() - 86.14).abs() < 0.1, "{}", d2.sqrt());
        let (below, above) = (p.mean_watts(d2 * 0.999_999), p.mean_watts(d2 * 1.000_001));
        assert!((below / above - 1.0).abs() < 1e-4);
    }

    #[test]
    fn rayleigh_and_rician_gains_have_mean_one_and_shadowing_its_sigma() {
        let n = 40_000u64;
        for fading in [Fading::Rayleigh, Fading::Rician] {
            let c = RadioConfig { fading, ..RadioConfig::preset("80211b").unwrap() };
            let p = Propagation::new(&c, 3);
            let mean = (0..n).map(|i| p.random_gain(1, 2, i)).sum::<f64>() / n as f64;
            assert!((mean - 1.0).abs() < 0.03, "{fading:?}: {mean}");
        }
        let c = RadioConfig { shadowing_sigma_db: 6.0, ..RadioConfig::preset("80211b").unwrap() };
        let p = Propagation::new(&c, 3);
        let db: Vec<f64> = (0..n).map(|i| watts_to_dbm(p.random_gain(4, 5, i)) - 30.0).collect();
        let mean = db.iter().sum::<f64>() / n as f64;
        let sigma = (db.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64).sqrt();
        assert!(mean.abs() < 0.15 && (sigma - 6.0).abs() < 0.15, "{mean} {sigma}");
    }
}
