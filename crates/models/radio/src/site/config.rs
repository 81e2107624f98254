//! What a scenario says of its site, with nodes and places looked up.

use serde::{Deserialize, Serialize};

/// The effect of the surroundings on a signal, in addition to distance. If absent, none of it is computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteConfig {
    /// Loss on every link, dB: cables, connectors, car bodies, foliage.
    pub loss_db: f64,
    /// Standard deviation of the shadowing that depends on the positions of both ends, dB.
    pub shadowing_sigma_db: f64,
    /// Distance an end moves until the correlation of the shadowing has dropped to 1/e, metres (Gudmundson 1991).
    pub shadowing_distance_m: f64,
    /// Standard deviation of the shadowing that also changes with time, dB.
    pub drift_sigma_db: f64,
    /// Time until its correlation has dropped to 1/e, seconds.
    pub drift_time_s: f64,
    /// K factor of the fading outside zones, dB. None: no fading there.
    pub rician_k_db: Option<f64>,
    /// Distance an end moves until the correlation of the fading has dropped to 1/sqrt(e), metres.
    pub fade_distance_m: f64,
    /// Parts of the site with their own propagation.
    pub zones: Vec<Zone>,
    /// Antennas that differ from the radio's `antenna_gain_dbi` and `antenna_height_m`.
    pub antennas: Vec<StationAntenna>,
    /// Additional losses of single links.
    pub pairs: Vec<PairLoss>,
}

/// A part of the site with its own propagation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// For messages.
    pub name: String,
    /// Its corners, metres east and north, at least three; the last joins the first.
    pub corners: Vec<[f64; 2]>,
    /// The links affected.
    pub ends: ZoneEnds,
    /// Loss for each end inside, dB; with [`ZoneEnds::Both`], once per link.
    pub loss_db: f64,
    /// K factor of the fading of affected links, dB. None: the site's.
    pub rician_k_db: Option<f64>,
    /// As [`SiteConfig::fade_distance_m`].
    pub fade_distance_m: f64,
}

/// The links affected by a zone.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ZoneEnds {
    /// Those with at least one end inside.
    #[default]
    Any,
    /// Those with both ends inside.
    Both,
}

/// A station's antenna.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationAntenna {
    /// The station.
    pub station: u32,
    /// Gain, in the direction of the bearing if there is one, dBi.
    pub gain_dbi: f64,
    /// Height above the station's position, metres.
    pub height_m: f64,
    /// Where it points, if it does.
    pub beam: Option<Beam>,
}

/// The horizontal pattern of a directional antenna: the gain falls with ((1 + cos a) / 2)^m at the angle a off the
/// bearing, and never below the back lobe.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beam {
    /// Direction of the strongest signal, degrees clockwise from north.
    pub bearing_deg: f64,
    /// Full half-power beam width, degrees.
    pub width_deg: f64,
    /// How much weaker the back lobe is, dB.
    pub front_to_back_db: f64,
}

/// Loss of one link in both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairLoss {
    /// Its ends.
    pub stations: [u32; 2],
    /// Additional loss, dB.
    pub loss_db: f64,
}

/// The most corners of one zone: each costs a comparison per frame and receiver.
const MAX_CORNERS: usize = 1000;

impl SiteConfig {
    /// A site that changes nothing.
    pub fn neutral() -> Self {
        Self {
            loss_db: 0.0,
            shadowing_sigma_db: 0.0,
            shadowing_distance_m: 20.0,
            drift_sigma_db: 0.0,
            drift_time_s: 10.0,
            rician_k_db: None,
            fade_distance_m: 0.5,
            zones: Vec::new(),
            antennas: Vec::new(),
            pairs: Vec::new(),
        }
    }

    /// What is wrong with the figures, if anything: (key, reason).
    pub fn check(&self) -> Result<(), (String, String)> {
        let site = [
            ("loss_db", self.loss_db, LOSS_DB),
            ("shadowing_sigma_db", self.shadowing_sigma_db, (0.0, 30.0)),
            ("shadowing_distance_m", self.shadowing_distance_m, DISTANCE_M),
            ("drift_sigma_db", self.drift_sigma_db, (0.0, 30.0)),
            ("drift_time_s", self.drift_time_s, (0.001, 1e6)),
            ("rician_k_db", self.rician_k_db.unwrap_or(0.0), K_DB),
            ("fade_distance_m", self.fade_distance_m, DISTANCE_M),
        ];
        for (key, value, range) in site {
            within(|| key.to_owned(), value, range)?;
        }
        for (i, z) in self.zones.iter().enumerate() {
            let key = |field: &str| format!("zone[{i}].{field}");
            within(|| key("loss_db"), z.loss_db, LOSS_DB)?;
            within(|| key("rician_k_db"), z.rician_k_db.unwrap_or(0.0), K_DB)?;
            within(|| key("fade_distance_m"), z.fade_distance_m, DISTANCE_M)?;
            if !(3..=MAX_CORNERS).contains(&z.corners.len()) {
                let n = z.corners.len();
                return Err((key("corners"), format!("{n} corners; 3 to {MAX_CORNERS} are allowed")));
            }
            for &c in z.corners.iter().flatten() {
                within(|| key("corners"), c, (-1e9, 1e9))?;
            }
        }
        for (i, a) in self.antennas.iter().enumerate() {
            let key = |field: &str| format!("antenna[{i}].{field}");
            within(|| key("gain_dbi"), a.gain_dbi, (-50.0, 100.0))?;
            within(|| key("height_m"), a.height_m, (0.01, 1e5))?;
            if let Some(b) = a.beam {
                within(|| key("bearing_deg"), b.bearing_deg, (-360.0, 360.0))?;
                within(|| key("beam_width_deg"), b.width_deg, (1.0, 270.0))?;
                within(|| key("front_to_back_db"), b.front_to_back_db, (0.0, 100.0))?;
            }
        }
        for (i, p) in self.pairs.iter().enumerate() {
            within(|| format!("pair[{i}].loss_db"), p.loss_db, LOSS_DB)?;
            if p.stations[0] == p.stations[1] {
                return Err((format!("pair[{i}].nodes"), "both ends are the same node".to_owned()));
            }
        }
        Ok(())
    }
}

const LOSS_DB: (f64, f64) = (-100.0, 300.0);
const K_DB: (f64, f64) = (-30.0, 60.0);
const DISTANCE_M: (f64, f64) = (0.001, 1e6);

fn within(key: impl Fn() -> String, value: f64, (low, high): (f64, f64)) -> Result<(), (String, String)> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err((key(), format!("{value} is not between {low} and {high}")))
}
