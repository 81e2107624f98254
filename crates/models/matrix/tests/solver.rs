//! The solver, against layouts whose solution is known, and against the annealer.

use wayhop_core::{Purpose, stream};
use wayhop_matrix::{
    Effort, Quality, Settings, SettingsReport, Size, Switch, TargetLosses, anneal, follow, pairs, solve,
};

const SOME: Effort = Effort { starts: 20, kept: 3, moves: 20_000, hops: 200, moves_a_hop: 800 };

/// Free space at 2437 MHz between random places in a square of 1 km, dB.
fn random(radios: usize, seed: u64) -> Vec<[f64; 2]> {
    let mut rng = stream(seed, Purpose::Mobility, 0);
    (0..radios).map(|_| [rng.range(0.0, 1000.0), rng.range(0.0, 1000.0)]).collect()
}

fn free_space(places: &[[f64; 2]], beyond_db: f64) -> TargetLosses {
    let loss = |(i, j): (usize, usize)| {
        let [x, y] = [0, 1].map(|axis| places[i][axis] - places[j][axis]);
        // 20 log10(4 pi d / lambda), lambda = 0.123 m.
        10.0 * libm::log10(x * x + y * y) + 40.19
    };
    TargetLosses { loss_db: pairs(places.len()).map(loss).collect(), beyond_db }
}

#[test]
fn path_losses_that_the_box_can_make_are_found_again() {
    let switch = Switch::new(6, 3, 60.0, 1.0, 46.0).unwrap();
    let mut rng = stream(3, Purpose::Mobility, 0);
    let truth = Settings((0..18).map(|_| rng.below(40) as u16).collect());
    let wanted = TargetLosses { loss_db: switch.path_losses_db(&truth), beyond_db: f64::INFINITY };
    let found = solve(&switch, &wanted, SOME, 1);
    let report = SettingsReport::of(&switch, &wanted, &found);
    assert!(report.mean_error_db.unwrap() < 0.1, "{report:?}");
}

#[test]
fn it_beats_the_annealer_and_is_the_same_each_time() {
    let switch = Switch::new(12, 4, 127.0, 1.0, 46.0).unwrap();
    for seed in 0..3 {
        let wanted = free_space(&random(12, seed), f64::INFINITY);
        let found = solve(&switch, &wanted, SOME, 1);
        let ours = SettingsReport::of(&switch, &wanted, &found).mean_error_db.unwrap();
        let theirs = SettingsReport::of(&switch, &wanted, &anneal(&switch, &wanted, 300_000, 1))
            .mean_error_db
            .unwrap();
        assert!(ours < theirs && ours < 0.7, "layout {seed}: {ours} dB, annealer {theirs} dB");
        assert_eq!(solve(&switch, &wanted, SOME, 1), found);
    }
}

#[test]
fn links_beyond_range_do_not_appear_and_the_others_gain() {
    let switch = Switch::new(12, 4, 127.0, 1.0, 46.0).unwrap();
    let places = random(12, 5);
    // Range 400 m: 20 log10(400) + 40.19.
    let beyond_db = 92.23;
    let one_sided = free_space(&places, beyond_db);
    let settings = solve(&switch, &one_sided, SOME, 1);
    let report = SettingsReport::of(&switch, &one_sided, &settings);
    assert_eq!(report.false_links, 0, "{report:?}");
    // Judged by the same links, a solution that cares for the exact loss of links beyond range does worse.
    let both = solve(&switch, &free_space(&places, f64::INFINITY), SOME, 1);
    let other = SettingsReport::of(&switch, &one_sided, &both);
    assert!(report.mean_error_db.unwrap() < other.mean_error_db.unwrap(), "{report:?} {other:?}");
}

#[test]
fn a_second_of_motion_is_followed_better_than_by_waiting() {
    let switch = Switch::new(8, 4, 127.0, 1.0, 46.0).unwrap();
    let mut places = random(8, 9);
    let mut settings = solve(&switch, &free_space(&places, f64::INFINITY), SOME, 1);
    let (mut followed, mut stale) = (0.0, 0.0);
    for second in 0..10 {
        for (i, place) in places.iter_mut().enumerate() {
            place[i % 2] += 30.0;
        }
        let wanted = free_space(&places, f64::INFINITY);
        let mean = |s: &Settings| SettingsReport::of(&switch, &wanted, s).mean_error_db.unwrap();
        stale += mean(&settings);
        settings = follow(&switch, &wanted, &settings, Effort::QUICK, second);
        followed += mean(&settings);
    }
    assert!(followed < stale, "{followed} {stale}");
}

#[test]
fn more_quality_is_nearer_for_layouts_and_in_motion() {
    let switch = Switch::new(12, 4, 127.0, 1.0, 46.0).unwrap();
    let mean = |s: &Settings, w: &TargetLosses| SettingsReport::of(&switch, w, s).mean_error_db.unwrap();
    let mut layouts = [0.0; 2];
    let mut motion = [0.0; 3];
    for seed in 0..3 {
        let mut places = random(12, seed);
        let wanted = free_space(&places, f64::INFINITY);
        let [fast, normal] =
            [Quality::Fast, Quality::Normal].map(|q| solve(&switch, &wanted, q.layout(), seed));
        layouts[0] += mean(&fast, &wanted);
        layouts[1] += mean(&normal, &wanted);
        let mut now = [fast.clone(), fast.clone(), fast];
        for second in 0..6 {
            for (i, place) in places.iter_mut().enumerate() {
                place[i % 2] += 30.0;
            }
            let wanted = free_space(&places, f64::INFINITY);
            for (k, quality) in [Quality::Fast, Quality::Normal, Quality::Best].into_iter().enumerate() {
                now[k] = follow(&switch, &wanted, &now[k], quality.motion(&switch), second);
                motion[k] += mean(&now[k], &wanted);
            }
        }
    }
    assert!(layouts[1] < layouts[0] && layouts[0] / 3.0 < 0.7, "{layouts:?}");
    assert!(motion[2] < motion[1] && motion[1] < motion[0], "{motion:?}");
}

#[test]
fn layouts_at_the_edge_of_what_the_box_can_are_solved_as_well_as_they_can_be() {
    let switch = Switch::new(3, 1, 127.0, 1.0, 46.0).unwrap();
    // Nearer than the insertion loss, at the same place, and farther than all attenuators.
    for loss in [f64::NEG_INFINITY, 0.0, 400.0] {
        let wanted = TargetLosses { loss_db: vec![loss; 3], beyond_db: f64::INFINITY };
        let settings =
            solve(&switch, &wanted, Effort { starts: 3, kept: 1, moves: 500, hops: 5, moves_a_hop: 50 }, 1);
        let losses = switch.path_losses_db(&settings);
        let extreme = if loss > 0.0 { 46.0 + 254.0 } else { 46.0 };
        assert!(losses.iter().all(|l| (l - extreme).abs() < 1e-3), "{loss}: {losses:?}");
    }
}

/// The paper's second arrangement: a switch of 16 x 4 and one of 8 x 2.
fn second_arrangement(radios: usize) -> Switch {
    let sizes = [Size { inputs: 16, buses: 4 }, Size { inputs: 8, buses: 2 }];
    Switch::joined(radios, sizes, 2, 127.0, 1.0, 46.0).unwrap()
}

#[test]
fn path_losses_that_two_switches_can_make_are_found_again() {
    let sizes = [Size { inputs: 4, buses: 3 }, Size { inputs: 4, buses: 2 }];
    let switch = Switch::joined(6, sizes, 2, 60.0, 1.0, 46.0).unwrap();
    let mut rng = stream(3, Purpose::Mobility, 0);
    let truth = Settings((0..switch.attenuators()).map(|_| rng.below(40) as u16).collect());
    let wanted = TargetLosses { loss_db: switch.path_losses_db(&truth), beyond_db: f64::INFINITY };
    let report = SettingsReport::of(&switch, &wanted, &solve(&switch, &wanted, SOME, 1));
    assert!(report.mean_error_db.unwrap() < 0.2, "{report:?}");
}

#[test]
fn two_switches_are_solved_better_than_by_annealing_and_followed() {
    const LITTLE: Effort = Effort { starts: 8, kept: 2, moves: 10_000, hops: 60, moves_a_hop: 400 };
    let switch = second_arrangement(20);
    let mut places = random(20, 2);
    let wanted = free_space(&places, f64::INFINITY);
    let mut settings = solve(&switch, &wanted, LITTLE, 1);
    assert_eq!(solve(&switch, &wanted, LITTLE, 1), settings, "the same each time");
    let mean = |s: &Settings, w: &TargetLosses| SettingsReport::of(&switch, w, s).mean_error_db.unwrap();
    let annealed = anneal(&switch, &wanted, 60_000, 1);
    let (ours, theirs) = (mean(&settings, &wanted), mean(&annealed, &wanted));
    assert!(ours < theirs, "{ours} dB, annealer {theirs} dB");
    let (mut followed, mut stale) = (0.0, 0.0);
    for second in 0..3 {
        for (i, place) in places.iter_mut().enumerate() {
            place[i % 2] += 30.0;
        }
        let wanted = free_space(&places, f64::INFINITY);
        stale += mean(&settings, &wanted);
        settings = follow(&switch, &wanted, &settings, Effort::QUICK, second);
        followed += mean(&settings, &wanted);
    }
    assert!(followed < stale, "{followed} {stale}");
}
