use super::*;
use crate::units::watts_to_dbm;

fn radio() -> RadioConfig {
    RadioConfig::preset("wavelan-i").unwrap()
}

fn end(station: u32, x: f64, y: f64) -> End {
    End { station, at: Position::new(x, y, 0.0) }
}

/// A zone that changes nothing.
fn zone(corners: &[[f64; 2]]) -> Zone {
    let (ends, corners) = (ZoneEnds::Any, corners.to_vec());
    Zone { name: "yard".into(), corners, ends, loss_db: 0.0, rician_k_db: None, fade_distance_m: 1.0 }
}

/// What arrives over a link on this site, dBm.
fn dbm(c: &SiteConfig, seconds: f64, a: End, b: End) -> f64 {
    let radio = radio();
    let site = Site::new(c, &radio, 4, 1);
    let p = Propagation::new(&radio, 1);
    let now = Time::from_secs_f64(seconds);
    watts_to_dbm(site.watts(&p, now, a, b, a.at.distance_squared(b.at)))
}

/// What the site makes of the plain power, dB.
fn gain_db(c: &SiteConfig, a: End, b: End) -> f64 {
    dbm(c, 0.0, a, b) - dbm(&SiteConfig::neutral(), 0.0, a, b)
}

#[test]
fn a_neutral_site_changes_nothing() {
    let p = Propagation::new(&radio(), 1);
    for d in [0.0, 1.0, 50.0, 86.0, 87.0, 250.0, 900.0] {
        let (a, b) = (end(0, 0.0, 0.0), end(1, 0.6 * d, 0.8 * d));
        let plain = watts_to_dbm(p.mean_watts(a.at.distance_squared(b.at)));
        assert!((dbm(&SiteConfig::neutral(), 3.0, a, b) - plain).abs() < 1e-9, "{d}");
    }
}

#[test]
fn losses_of_the_site_and_of_a_pair_add_up_and_concern_nobody_else() {
    let pair = PairLoss { stations: [2, 0], loss_db: 7.5 };
    let c = SiteConfig { loss_db: 3.0, pairs: vec![pair], ..SiteConfig::neutral() };
    let (a, b, other) = (end(0, 0.0, 0.0), end(2, 200.0, 0.0), end(1, 200.0, 0.0));
    for (from, to, expect) in [(a, b, -10.5), (b, a, -10.5), (a, other, -3.0), (other, b, -3.0)] {
        assert!((gain_db(&c, from, to) - expect).abs() < 1e-9);
    }
}

#[test]
fn a_zone_counts_for_each_end_inside_or_for_both_together() {
    // An L: the square's north-east quarter is not in it.
    let corners = [[0.0, 0.0], [100.0, 0.0], [100.0, 50.0], [50.0, 50.0], [50.0, 100.0], [0.0, 100.0]];
    let zone = |ends| SiteConfig {
        zones: vec![Zone { ends, loss_db: 4.0, ..zone(&corners) }],
        ..SiteConfig::neutral()
    };
    let (inside, arm, notch, far) =
        (end(0, 20.0, 20.0), end(1, 20.0, 80.0), end(1, 80.0, 80.0), end(1, 500.0, 20.0));
    for (to, any, both) in [(arm, -8.0, -4.0), (notch, -4.0, 0.0), (far, -4.0, 0.0)] {
        assert!((gain_db(&zone(ZoneEnds::Any), inside, to) - any).abs() < 1e-9, "{to:?}");
        assert!((gain_db(&zone(ZoneEnds::Both), inside, to) - both).abs() < 1e-9, "{to:?}");
    }
    assert_eq!(gain_db(&zone(ZoneEnds::Any), notch, far), 0.0);
}

#[test]
fn fades_in_a_zone_move_with_the_car_and_stop_with_it() {
    let corners = [[-10.0, -10.0], [1010.0, -10.0], [1010.0, 10.0], [-10.0, 10.0]];
    let (ends, rician_k_db) = (ZoneEnds::Both, Some(-30.0));
    let zone = Zone { ends, rician_k_db, fade_distance_m: 2.0, ..zone(&corners) };
    let c = SiteConfig { zones: vec![zone], ..SiteConfig::neutral() };
    let lead = |x: f64| end(1, x + 90.0, 0.0);
    let gains: Vec<f64> = (0..9000)
        .map(|i| {
            let x = f64::from(i) * 0.1;
            gain_db(&c, end(0, x, 0.0), lead(x))
        })
        .collect();
    // Rayleigh: 1 - exp(-0.1) of the way is faded by 10 dB or more.
    let deep = gains.iter().filter(|g| **g < -10.0).count() as f64 / gains.len() as f64;
    assert!((deep - 0.095).abs() < 0.03, "{deep}");
    // A tenth of a metre changes little but in the deepest fades (independent values would differ by that much in 4 cases
    // of 10), and nothing changes while both stand.
    let jumps = gains.windows(2).filter(|w| (w[0] - w[1]).abs() > 6.0).count();
    assert!(jumps < 270, "{jumps}");
    let standing = |s| dbm(&c, s, end(0, 5.0, 0.0), lead(5.0));
    assert_eq!(standing(0.0), standing(500.0));
    // Outside it does not fade.
    assert!(gain_db(&c, end(0, 5.0, 50.0), lead(5.0)).abs() < 1e-9);
}

#[test]
fn shadowing_has_its_sigma_over_the_site_and_drift_over_time() {
    let sigma = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        libm::sqrt(values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n)
    };
    let c = SiteConfig { shadowing_sigma_db: 6.0, shadowing_distance_m: 5.0, ..SiteConfig::neutral() };
    let values: Vec<f64> = (0..3000)
        .map(|i| gain_db(&c, end(0, f64::from(i) * 10.0, 0.0), end(1, f64::from(i) * 7.0, 300.0)))
        .collect();
    assert!((sigma(&values) - 6.0).abs() < 0.8, "{}", sigma(&values));
    let c = SiteConfig { drift_sigma_db: 4.0, drift_time_s: 5.0, ..SiteConfig::neutral() };
    let (a, b) = (end(0, 0.0, 0.0), end(1, 600.0, 0.0));
    let values: Vec<f64> = (0..3000).map(|i| dbm(&c, f64::from(i) * 10.0, a, b)).collect();
    assert!((sigma(&values) - 4.0).abs() < 0.6, "{}", sigma(&values));
}

#[test]
fn a_link_is_the_same_in_both_directions() {
    let all = zone(&[[-1e4, -1e4], [1e4, -1e4], [1e4, 1e4], [-1e4, 1e4]]);
    let zone = Zone { loss_db: 1.0, rician_k_db: Some(3.0), fade_distance_m: 0.5, ..all };
    let beam = Beam { bearing_deg: 250.0, width_deg: 60.0, front_to_back_db: 15.0 };
    let c = SiteConfig {
        shadowing_sigma_db: 6.0,
        drift_sigma_db: 3.0,
        rician_k_db: Some(9.0),
        zones: vec![zone],
        antennas: vec![StationAntenna { station: 2, gain_dbi: 6.0, height_m: 2.74, beam: Some(beam) }],
        ..SiteConfig::neutral()
    };
    for i in 0..200 {
        let (a, b) = (end(0, f64::from(i) * 3.0, 4.0), end(2, 300.0, f64::from(i)));
        let there = dbm(&c, f64::from(i), a, b);
        assert!((there - dbm(&c, f64::from(i), b, a)).abs() < 1e-9);
    }
}

#[test]
fn a_yagi_has_its_gain_ahead_half_of_it_at_half_its_width_and_its_back_lobe_behind() {
    // Pointing east, 6 dB, 60 degrees wide, 15 dB front to back.
    let beam = Beam { bearing_deg: 90.0, width_deg: 60.0, front_to_back_db: 15.0 };
    let antenna = StationAntenna { station: 0, gain_dbi: 6.0, height_m: 1.5, beam: Some(beam) };
    let c = SiteConfig { antennas: vec![antenna], ..SiteConfig::neutral() };
    for (degrees_off, expect) in [(0.0, 6.0), (30.0, 6.0 - 3.0103), (-30.0, 6.0 - 3.0103), (180.0, -9.0)] {
        let angle = f64::to_radians(degrees_off);
        let there = end(1, 200.0 * libm::cos(angle), 200.0 * libm::sin(angle));
        let got = gain_db(&c, end(0, 0.0, 0.0), there);
        assert!((got - expect).abs() < 1e-3, "{degrees_off}: {got}");
    }
}

#[test]
fn height_counts_twice_in_decibels_for_each_end_beyond_the_crossover_only() {
    // Both at 2.74 m: crossover 4 pi 2.74^2 / 0.328 = 287 m; beyond, 20 log10(2.74 / 1.5) = 5.23 dB for each end.
    let high = |station| StationAntenna { station, gain_dbi: 0.0, height_m: 2.74, beam: None };
    let c = SiteConfig { antennas: vec![high(0), high(1)], ..SiteConfig::neutral() };
    let got = gain_db(&c, end(0, 0.0, 0.0), end(1, 500.0, 0.0));
    assert!((got - 2.0 * 5.233).abs() < 0.01, "{got}");
    assert!(gain_db(&c, end(0, 0.0, 0.0), end(1, 80.0, 0.0)).abs() < 1e-9);
    // At 200 m the plain antennas are beyond their crossover (86 m) and the high ones still in free space.
    let friis = 24.5 - 20.0 * libm::log10(4.0 * core::f64::consts::PI * 200.0 / (3e8 / 914e6));
    assert!((dbm(&c, 0.0, end(0, 0.0, 0.0), end(1, 200.0, 0.0)) - friis).abs() < 1e-9);
}

#[test]
fn culling_leaves_room_for_all_that_a_site_adds() {
    let c = SiteConfig {
        loss_db: 8.0,
        shadowing_sigma_db: 3.0,
        drift_sigma_db: 4.0,
        rician_k_db: Some(6.0),
        antennas: vec![StationAntenna { station: 1, gain_dbi: 6.0, height_m: 3.0, beam: None }],
        ..SiteConfig::neutral()
    };
    let site = Site::new(&c, &radio(), 2, 1);
    // 2 x 6 + 40 log10(3 / 1.5) - 8 + 3 x 5 + 9.65.
    assert!((site.margin_db() - (12.0 + 12.0412 - 8.0 + 15.0 + 9.65)).abs() < 1e-3);
}

#[test]
fn figures_out_of_range_are_named_by_their_key() {
    let zone = zone(&[[0.0, 0.0], [1.0, 0.0]]);
    let beam = Beam { bearing_deg: 0.0, width_deg: 300.0, front_to_back_db: 10.0 };
    let n = SiteConfig::neutral;
    for (c, key) in [
        (SiteConfig { shadowing_sigma_db: f64::NAN, ..n() }, "shadowing_sigma_db"),
        (SiteConfig { drift_time_s: 0.0, ..n() }, "drift_time_s"),
        (SiteConfig { zones: vec![zone], ..n() }, "zone[0].corners"),
        (
            SiteConfig {
                antennas: vec![StationAntenna { station: 0, gain_dbi: 0.0, height_m: 1.0, beam: Some(beam) }],
                ..n()
            },
            "antenna[0].beam_width_deg",
        ),
        (SiteConfig { pairs: vec![PairLoss { stations: [1, 1], loss_db: 1.0 }], ..n() }, "pair[0].nodes"),
    ] {
        assert_eq!(c.check().unwrap_err().0, key);
    }
    assert_eq!(n().check(), Ok(()));
}
