//! What overlapping frames do to each other, in both reception models.

use crate::air::{Air, preset};
use wayhop_core::Time;
use wayhop_radio::{EVERYONE, Fading, RadioConfig};

fn ns2() -> RadioConfig {
    preset("wavelan-914-cmu")
}
fn sinr() -> RadioConfig {
    preset("wavelan-914-sinr")
}

/// Two broadcasts that overlap: the first from the left begins at 0, the second from the right `lag_us` later, at
/// stations too far apart to hear each other. Returns the ids that the listener between them received, 1 and 2.
fn overlap(config: &RadioConfig, left_m: f64, right_m: f64, lag_us: u64) -> Vec<u64> {
    let far = RadioConfig { cw_min: 1, ..config.clone() };
    let mut air = Air::new(&far, &[(-left_m, 0.0), (0.0, 0.0), (right_m, 0.0)], 1);
    air.send_at(Time::ZERO, 0, EVERYONE, 1000);
    // Both begin after DIFS; no backoff is drawn from 0..1.
    air.run(lag_us as f64 * 1e-6);
    air.send_at(Time::from_nanos(lag_us * 1000), 2, EVERYONE, 1000);
    air.run(1.0);
    air.log.received.iter().filter(|r| r.1 == 1).map(|r| r.4).collect()
}

#[test]
fn of_two_overlapping_frames_the_reception_models_rules_say_which_survives() {
    let sensing = |config: RadioConfig, dbm| RadioConfig { carrier_sense_threshold_dbm: dbm, ..config };
    let loud = RadioConfig { interference_floor_dbm: -100.0, ..sinr() };
    for (rule, config, left_m, right_m, survivors) in [
        ("ns-2: like strength destroys both", sensing(ns2(), -64.0), 240.0, 240.0, &[][..]),
        // d^-4: 10 dB are a factor of 1.78 in distance.
        ("ns-2: the earlier survives a tenth of its power", sensing(ns2(), -66.0), 130.0, 245.0, &[1]),
        ("ns-2: a later stronger one never captures", sensing(ns2(), -66.0), 245.0, 130.0, &[]),
        ("SINR: a later stronger one takes the receiver over", sensing(loud, -64.0), 245.0, 100.0, &[2]),
        ("SINR: like strength destroys both", sensing(sinr(), -60.0), 240.0, 240.0, &[]),
    ] {
        assert_eq!(overlap(&config, left_m, right_m, 500), survivors, "{rule}");
    }
}

#[test]
fn sinr_many_weak_interferers_add_up() {
    // One interferer 13 dB under the frame does no harm at 2 Mb/s; thirty of them do.
    let run = |interferers: usize| {
        let config = RadioConfig { carrier_sense_threshold_dbm: -50.0, cw_min: 1, ..sinr() };
        let mut places = vec![(0.0, 0.0), (120.0, 0.0)];
        places.extend((0..interferers).map(|i| {
            let a = i as f64 / 40.0 * std::f64::consts::TAU;
            (120.0 + 255.0 * a.cos(), 255.0 * a.sin())
        }));
        let mut air = Air::new(&config, &places, 1);
        for i in 0..interferers {
            air.send(2 + i as u32, EVERYONE, 1000);
        }
        air.send(0, EVERYONE, 1000);
        air.run(0.5);
        air.log.received.iter().any(|r| r.1 == 1 && r.2 == 0)
    };
    assert!(run(1));
    assert!(!run(30));
}

#[test]
fn sinr_noise_alone_limits_the_range_as_the_link_budget_says() {
    // 2 Mb/s DQPSK: the frame error rate turns from 0 to 1 within a few metres of where SNR meets the modulation.
    let share = |distance: f64| {
        let config =
            RadioConfig { receive_threshold_dbm: -120.0, carrier_sense_threshold_dbm: -120.0, ..sinr() };
        let mut air = Air::new(
            &RadioConfig { interference_floor_dbm: -130.0, ..config },
            &[(0.0, 0.0), (distance, 0.0)],
            3,
        );
        for _ in 0..40 {
            air.send(0, EVERYONE, 500);
        }
        air.run(5.0);
        air.log.received.len()
    };
    // -174 + 10 log10(22e6) + 10 = -90.6 dBm of noise; -90.6 dBm is received 1131 m away.
    assert_eq!(share(900.0), 40);
    assert_eq!(share(2400.0), 0);
}

#[test]
fn sinr_a_frame_survives_by_the_bits_of_its_body_alone() {
    // A packet of 20 octets is 54 on the air. At 1 Mb/s a bit is wrong with exp(-g) / 2 (DBPSK), g being the SNR times 22.
    let distance: f64 = 1_410.0;
    let config = RadioConfig {
        receive_threshold_dbm: -120.0,
        carrier_sense_threshold_dbm: -120.0,
        interference_floor_dbm: -130.0,
        basic_rate_mbps: 1.0,
        ..sinr()
    };
    let mut air = Air::new(&config, &[(0.0, 0.0), (distance, 0.0)], 3);
    air.saturate(0, EVERYONE, 20);
    air.run(20.0);
    let (sent, received) = (air.log.sent.len() as f64, air.log.received.len() as f64);
    // Two-ray ground from 1.5 m to 1.5 m, against -174 + 10 log10(22e6) + 10 dBm.
    let signal = 24.5 + 20.0 * (1.5f64 * 1.5).log10() - 40.0 * distance.log10();
    let snr = 10f64.powf((signal - (-174.0 + 10.0 * 22e6f64.log10() + 10.0)) / 10.0);
    let wrong = 0.5 * (-22.0 * snr).exp();
    let share = |bits: i32| 1.0 - (1.0 - wrong).powi(bits);
    let sigma = (share(54 * 8) / sent).sqrt();
    let lost = 1.0 - received / sent;
    assert!((lost - share(54 * 8)).abs() < 4.0 * sigma, "{lost} of {sent}, expected {}", share(54 * 8));
    // With the 192 bits of preamble and header it would be more than that.
    assert!(lost < share(54 * 8 + 192) - 4.0 * sigma, "{lost}");
}

#[test]
fn fading_repeats_with_the_seed_and_differs_between_receivers() {
    let config = RadioConfig { fading: Fading::Rayleigh, shadowing_sigma_db: 4.0, ..sinr() };
    let run = |seed| {
        let mut air = Air::new(&config, &[(0.0, 0.0), (170.0, 0.0), (0.0, 170.0)], seed);
        for _ in 0..45 {
            air.send(0, EVERYONE, 500);
        }
        air.run(5.0);
        air.log.received.iter().map(|r| (r.1, r.4)).collect::<Vec<_>>()
    };
    let a = run(1);
    assert_eq!(a, run(1));
    assert_ne!(a, run(2));
    let at = |station| a.iter().filter(|r| r.0 == station).map(|r| r.1).collect::<Vec<_>>();
    assert_ne!(at(1), at(2));
    assert!(at(1).len() > 5 && at(1).len() < 45, "{}", at(1).len());
}

#[test]
fn a_hidden_terminal_is_silenced_by_the_cts() {
    // 0 and 2 cannot hear each other at all; 1 hears both. With RTS/CTS nearly all data survives.
    let config = RadioConfig { carrier_sense_threshold_dbm: -64.374, ..ns2() };
    let share = |config: &RadioConfig| {
        let mut air = Air::new(config, &[(0.0, 0.0), (200.0, 0.0), (400.0, 0.0)], 1);
        air.saturate(0, 1, 1000);
        air.saturate(2, 1, 1000);
        air.run(20.0);
        let data: u32 = [0, 2].iter().map(|&s| air.radio.counters(s).data).sum();
        f64::from(air.radio.counters(1).received) / f64::from(data)
    };
    assert!(share(&config) > 0.97, "{}", share(&config));
    let without = RadioConfig { rts_threshold_bytes: 3000, ..config };
    assert!(share(&without) < 0.8, "{}", share(&without));
}
