use super::*;

const SEEDS: u64 = 3000;

/// Mean of `f` over fields of many seeds.
fn over_seeds(decay: Decay, distance_m: f64, time_s: Option<f64>, f: impl Fn(&Field) -> f64) -> f64 {
    (0..SEEDS).map(|s| f(&Field::new(s, Purpose::Shadowing, 0, decay, distance_m, time_s))).sum::<f64>()
        / SEEDS as f64
}

/// Standard errors of means over `SEEDS` of products of normals are at most sqrt(2 / SEEDS) = 0.026; four allowed.
const TOLERANCE: f64 = 0.1;

#[test]
fn the_cosine_is_one() {
    for i in -4000..4000 {
        let x = f64::from(i) / 997.0;
        let exact = libm::cos(x * 2.0 * core::f64::consts::PI);
        assert!((cos_cycles(x) - exact).abs() < 1e-7, "{x}");
    }
}

#[test]
fn values_are_standard_normal_whether_the_ends_are_far_apart_or_together() {
    for (a, b) in [([10.0, 20.0], [300.0, -40.0]), ([10.0, 20.0], [12.0, 20.0]), ([5.0, 5.0], [5.0, 5.0])] {
        let moment = |n: i32| {
            over_seeds(Decay::Exponential, 20.0, Some(10.0), |f| {
                let x = f.normal(a, b, 7.0);
                (0..n).fold(1.0, |p, _| p * x)
            })
        };
        assert!(moment(1).abs() < TOLERANCE && (moment(2) - 1.0).abs() < TOLERANCE, "{a:?} {b:?}");
        // The normal distribution's is 3; the standard error is sqrt(96 / SEEDS) = 0.18.
        assert!((moment(4) - 3.0).abs() < 0.6, "{}", moment(4));
    }
}

#[test]
fn both_directions_are_one_value() {
    let f = Field::new(5, Purpose::Shadowing, 0, Decay::Exponential, 20.0, Some(3.0));
    let g = Field::new(5, Purpose::Fading, 0, Decay::Gaussian, 1.0, None);
    for i in 0..100 {
        let (a, b) = ([f64::from(i) * 7.0, 3.0], [100.0, f64::from(i)]);
        assert_eq!(f.normal(a, b, f64::from(i)), f.normal(b, a, f64::from(i)));
        assert_eq!(g.complex(a, b), g.complex(b, a));
    }
}

#[test]
fn correlation_falls_with_the_way_of_an_end_as_the_formula_says() {
    let (a, b) = ([0.0, 0.0], [400.0, 100.0]);
    for (decay, expect) in [
        (Decay::Exponential, [(0.0, 1.0), (10.0, 0.607), (20.0, 0.368), (60.0, 0.050)]),
        (Decay::Gaussian, [(0.0, 1.0), (10.0, 0.882), (20.0, 0.607), (60.0, 0.011)]),
    ] {
        for (d, c) in expect {
            // In any direction: 3-4-5.
            let moved = [a[0] + 0.6 * d, a[1] - 0.8 * d];
            let got = over_seeds(decay, 20.0, None, |f| f.normal(a, b, 0.0) * f.normal(moved, b, 0.0));
            assert!((got - c).abs() < TOLERANCE, "{decay:?} {d} m: {got}, not {c}");
        }
    }
}

#[test]
fn correlation_falls_when_both_ends_move_by_the_product() {
    let (a, b) = ([0.0, 0.0], [400.0, 100.0]);
    let got = over_seeds(Decay::Exponential, 20.0, None, |f| {
        f.normal(a, b, 0.0) * f.normal([10.0, 0.0], [400.0, 110.0], 0.0)
    });
    // exp(-1/2) exp(-1/2).
    assert!((got - 0.368).abs() < TOLERANCE, "{got}");
}

#[test]
fn correlation_falls_with_time_for_ends_that_stand() {
    let (a, b) = ([0.0, 0.0], [671.0, 0.0]);
    for (t, c) in [(0.0, 1.0), (5.0, 0.607), (10.0, 0.368), (40.0, 0.018)] {
        let got = over_seeds(Decay::Exponential, 20.0, Some(10.0), |f| {
            f.normal(a, b, 100.0) * f.normal(a, b, 100.0 + t)
        });
        assert!((got - c).abs() < TOLERANCE, "{t} s: {got}, not {c}");
    }
    let still = Field::new(3, Purpose::Shadowing, 0, Decay::Exponential, 20.0, None);
    assert_eq!(still.normal(a, b, 0.0), still.normal(a, b, 1e5));
}

#[test]
fn one_seed_varies_over_the_site_as_many_seeds_do_at_one_place() {
    let f = Field::new(11, Purpose::Shadowing, 0, Decay::Exponential, 5.0, None);
    let n = 4000;
    let values: Vec<f64> =
        (0..n).map(|i| f.normal([f64::from(i) * 10.0, 0.0], [-500.0, f64::from(i) * 9.0], 0.0)).collect();
    let mean = values.iter().sum::<f64>() / f64::from(n);
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
    assert!(mean.abs() < 0.2 && (variance - 1.0).abs() < 0.25, "{mean} {variance}");
}

#[test]
fn complex_values_have_the_power_and_the_fades_of_rayleigh_fading() {
    let (a, b) = ([3.0, 4.0], [250.0, 90.0]);
    let power = |f: &Field| {
        let (re, im) = f.complex(a, b);
        re * re + im * im
    };
    let mean = over_seeds(Decay::Gaussian, 0.5, None, power);
    assert!((mean - 1.0).abs() < TOLERANCE, "{mean}");
    // 10 dB below the mean: 1 - exp(-0.1) = 9.5 % of all places.
    let faded = over_seeds(Decay::Gaussian, 0.5, None, |f| f64::from(u8::from(power(f) < 0.1)));
    assert!((faded - 0.095).abs() < 0.02, "{faded}");
}
