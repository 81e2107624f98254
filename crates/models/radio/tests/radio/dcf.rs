//! The distributed coordination function against arithmetic, Bianchi's model and the standard's figures.

use crate::air::{Air, preset};
use wayhop_core::{Time, TxStatus};
use wayhop_radio::{EVERYONE, FrameKind, RadioConfig};

/// One exchange takes this long, ms; it carries 1472 octets of UDP payload in a 1500-octet packet.
#[test]
fn a_lone_saturated_sender_gets_what_the_arithmetic_says() {
    for (name, distance_m, seconds, exchange_ms, tolerance) in [
        // DIFS 50 + mean backoff 15 slots of 20 (ns-2 draws 0..=30) + RTS 272 + CTS 248 + DATA 6328 + ACK 248 + 3 SIFS of 10,
        // and four flights of 180 m at 0.6 us.
        ("wavelan-914-cmu", 180.0, 60.0, 7.4784, 0.005),
        // 802.11b, no RTS: DIFS 50 + mean backoff 15.5 slots of 20 + DATA (192 + 1118) + SIFS 10 + ACK (192 + 112).
        ("80211b", 50.0, 20.0, 0.050 + 0.310 + 1.310 + 0.010 + 0.304, 0.01),
        // DIFS 10 + 2 * 9, mean backoff 7.5 slots of 9, DATA at 24 Mb/s 20 + 129 symbols of 4 + 6, SIFS 10, ACK at 6 Mb/s
        // 20 + 6 symbols of 4 + 6. A CTS before each frame would cost a seventh of it, slots of 20 us an eighth.
        ("80211g", 20.0, 20.0, 0.028 + 0.0675 + 0.542 + 0.010 + 0.050, 0.01),
    ] {
        let mut air = Air::new(&preset(name), &[(0.0, 0.0), (distance_m, 0.0)], 1);
        air.saturate(0, 1, 1500);
        air.run(seconds);
        let expect = 1472.0 * 8.0 / exchange_ms;
        let got = air.goodput_kbps(0, 1, 28, seconds);
        assert!((got / expect - 1.0).abs() < tolerance, "{name}: {got} kb/s, expected {expect}");
        let protects = air.log.sent.iter().any(|s| !matches!(s.2, FrameKind::Data | FrameKind::Ack));
        assert_eq!(protects, name == "wavelan-914-cmu", "{name}");
    }
}

/// Bianchi (2000), equations 7 and 9: the chance that a station transmits in a slot, by bisection of its fixed point.
fn bianchi_tau(n: f64, w: f64, stages: i32) -> f64 {
    let (mut low, mut high) = (0.0f64, 1.0f64);
    for _ in 0..100 {
        let tau = f64::midpoint(low, high);
        let p = 1.0 - (1.0 - tau).powf(n - 1.0);
        let of_p =
            2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * (w + 1.0) + p * w * (1.0 - (2.0 * p).powi(stages)));
        if of_p > tau { low = tau } else { high = tau }
    }
    low
}

#[test]
fn saturated_stations_share_the_medium_as_bianchi_says() {
    // Stations around one receiver that all hear each other, RTS/CTS, as many retries as it takes.
    let config = RadioConfig {
        immediate_access: false,
        backoff_includes_cw: true,
        eifs_replaces_difs: true,
        cca_us: 19,
        short_retry_limit: 255,
        long_retry_limit: 255,
        ..preset("wavelan-914-cmu")
    };
    for n in [2u32, 5, 10, 20, 50] {
        let mut places = vec![(0.0, 0.0)];
        places.extend((0..n).map(|i| {
            let a = f64::from(i) / f64::from(n) * std::f64::consts::TAU;
            (100.0 * a.cos(), 100.0 * a.sin())
        }));
        let mut air = Air::new(&config, &places, 7);
        (1..=n).for_each(|i| air.saturate(i, 0, 1500));
        let seconds = 120.0;
        air.run(seconds);
        let got: f64 = (1..=n).map(|i| air.goodput_kbps(i, 0, 28, seconds)).sum();

        let tau = bianchi_tau(f64::from(n), 32.0, 5);
        let nf = f64::from(n);
        let p_tr = 1.0 - (1.0 - tau).powf(nf);
        let p_s = nf * tau * (1.0 - tau).powf(nf - 1.0) / p_tr;
        // All in ms. After a collision the stations that only heard it wait EIFS.
        let success = 0.272 + 0.248 + 6.328 + 0.248 + 3.0 * 0.010 + 0.050;
        let collision = 0.272 + 0.364;
        let slot = (1.0 - p_tr) * 0.020 + p_tr * p_s * success + p_tr * (1.0 - p_s) * collision;
        let expect = p_s * p_tr * 1472.0 * 8.0 / slot;
        assert!((got / expect - 1.0).abs() < 0.03, "{n} stations: {got} kb/s, Bianchi {expect}");
        let fairest: Vec<f64> = (1..=n).map(|i| air.goodput_kbps(i, 0, 28, seconds) / got).collect();
        // Fifty stations send too few packets each for this.
        assert!(n > 20 || fairest.iter().all(|s| (s * nf - 1.0).abs() < 0.35), "{fairest:?}");
    }
}

#[test]
fn an_exchange_reserves_the_medium_for_exactly_its_length() {
    let mut air = Air::new(&preset("wavelan-914-cmu"), &[(0.0, 0.0), (200.0, 0.0)], 1);
    air.send(0, 1, 1500);
    air.run(1.0);
    let kinds: Vec<_> = air.log.sent.iter().map(|s| (s.1, s.2, s.3)).collect();
    // RTS reserves SIFS+CTS+SIFS+DATA+SIFS+ACK, CTS what is left, DATA SIFS+ACK, ACK nothing.
    assert_eq!(
        kinds,
        [
            (0, FrameKind::Rts, 30 + 248 + 6328 + 248),
            (1, FrameKind::Cts, 20 + 6328 + 248),
            (0, FrameKind::Data, 10 + 248),
            (1, FrameKind::Ack, 0)
        ]
    );
    assert_eq!(air.log.finished.len(), 1);
    assert_eq!(air.log.finished[0].2, TxStatus::Acked);
}

#[test]
fn seven_unanswered_rts_end_in_a_report() {
    let mut air = Air::new(&preset("wavelan-914-cmu"), &[(0.0, 0.0), (300.0, 0.0)], 1);
    air.send(0, 1, 100);
    air.run(1.0);
    assert_eq!(air.log.sent.iter().filter(|s| s.2 == FrameKind::Rts).count(), 7);
    assert_eq!(air.log.finished[0].2, TxStatus::NoAck { tries: 7 });
    assert!(air.log.received.is_empty());
}

#[test]
fn a_sender_waits_for_the_whole_cts_before_it_tries_again() {
    // RTS 272, SIFS 10, CTS 248, two flights of at most 2 us, DIFS 50: then a backoff of 0 to 62 slots of 20 us, as ns-2 has
    // it. (By the standard the wait would end a slot and the PHY's 192 us after the SIFS.)
    let mut slots = Vec::new();
    for seed in 0..300 {
        let mut air = Air::new(&preset("wavelan-914-cmu"), &[(0.0, 0.0), (300.0, 0.0)], seed);
        air.send(0, 1, 100);
        air.run(1.0);
        let gap = (air.log.sent[1].0.since(air.log.sent[0].0)).as_nanos() / 1000;
        assert!(gap >= 584 && (gap - 584).is_multiple_of(20), "{gap} us");
        slots.push((gap - 584) / 20);
    }
    slots.sort_unstable();
    assert_eq!((slots[0], slots[299]), (0, 62));
}

#[test]
fn wavelan_i_sends_once_and_knows_nothing() {
    let mut air = Air::new(&preset("wavelan-i"), &[(0.0, 0.0), (100.0, 0.0), (5000.0, 0.0)], 1);
    air.send(0, 1, 500);
    air.send(0, 2, 500);
    air.run(1.0);
    assert!(air.log.finished.iter().all(|f| f.2 == TxStatus::Unknown));
    assert_eq!(air.log.sent.len(), 2);
    assert_eq!(air.log.received.len(), 1);
}

#[test]
fn a_broadcast_reaches_all_in_range_once_and_nobody_answers() {
    let mut air =
        Air::new(&preset("wavelan-914-cmu"), &[(0.0, 0.0), (100.0, 0.0), (0.0, 249.0), (0.0, 251.0)], 1);
    air.send(0, EVERYONE, 100);
    air.run(1.0);
    let to: Vec<u32> = air.log.received.iter().map(|r| r.1).collect();
    assert_eq!(to, [1, 2]);
    assert_eq!(air.log.sent.len(), 1);
}

#[test]
fn the_tap_hears_what_is_for_others() {
    let mut air = Air::new(&preset("wavelan-914-cmu"), &[(0.0, 0.0), (100.0, 0.0), (0.0, 100.0)], 1);
    air.send(0, 1, 100);
    air.run(1.0);
    assert_eq!(air.log.overheard, [(2, 0)]);
}

#[test]
fn a_cts_is_withheld_while_the_nav_is_set() {
    // 3 sends to 2 for 6.9 ms; 1 hears only 2's CTS, 0 hears neither. 0's RTS reaches 1 undisturbed and stays unanswered
    // until the exchange that the CTS announced is over.
    let config = RadioConfig { carrier_sense_threshold_dbm: -64.374, ..preset("wavelan-914-cmu") };
    let mut air = Air::new(&config, &[(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (600.0, 0.0)], 1);
    air.send(3, 2, 1500);
    air.run(0.0015);
    air.send_at(wayhop_core::Time::from_nanos(1_500_000), 0, 1, 100);
    air.run(0.1);
    let first = |station, kind| air.log.sent.iter().find(|s| s.1 == station && s.2 == kind).map(|s| s.0);
    let over = first(2, FrameKind::Ack).expect("3's data is acknowledged");
    let asked = first(0, FrameKind::Rts).expect("0 asks");
    let answered = first(1, FrameKind::Cts).expect("1 answers in the end");
    assert!(asked < over && over < answered, "{asked} {over} {answered}");
}

#[test]
fn two_packets_that_are_4096_frames_apart_are_two() {
    let mut air = Air::new(&preset("wavelan-914-cmu"), &[(0.0, 0.0), (100.0, 0.0), (0.0, 100.0)], 1);
    let first = air.send(0, 1, 100);
    air.run(0.1);
    let mut second = 0;
    for k in 0..4_096_u32 {
        let at = 0.1 + 0.01 * f64::from(k);
        second = air.send_at(Time::from_secs_f64(at), 0, if k == 4_095 { 1 } else { 2 }, 100);
        air.run(at + 0.01);
    }
    let ids: Vec<u64> = air.log.received.iter().filter(|r| r.1 == 1).map(|r| r.4).collect();
    assert_eq!(ids, [first, second]);
}

#[test]
fn a_station_that_loses_its_turn_draws_again_from_twice_the_window() {
    // 1 and 2 begin together. 0, whom 2 does not reach, clears 1's data, but when their turn comes 1 hears that 2 is still at
    // it: it begins with an RTS again, DIFS and 0 to 62 slots after 2's frame. Without a doubled window it would be 0 to 30.
    let config = RadioConfig { immediate_access: true, ..preset("wavelan-914-cmu") };
    let mut slots = Vec::new();
    for seed in 0..300 {
        let mut air = Air::new(&config, &[(-200.0, 0.0), (0.0, 0.0), (400.0, 0.0)], seed);
        air.send(1, 0, 1500);
        air.send(2, EVERYONE, 100);
        air.run(1.0);
        let kinds: Vec<_> = air.log.sent.iter().map(|s| (s.1, s.2)).collect();
        let lost = [(1, FrameKind::Rts), (2, FrameKind::Broadcast), (0, FrameKind::Cts), (1, FrameKind::Rts)];
        assert_eq!(kinds[..4], lost);
        // The frame 728 us, 400 m on the way, EIFS 364 (1 cannot read it) and DIFS 50.
        let waited = air.log.sent[3].0.since(air.log.sent[1].0).as_nanos() - 1_143_333;
        assert!(waited.is_multiple_of(20_000), "{waited} ns are no slots");
        slots.push(waited / 20_000);
    }
    slots.sort_unstable();
    assert_eq!((slots[0], slots[299]), (0, 62));
}

#[test]
fn a_frame_is_handed_to_all_its_receivers_in_one_go_each_at_its_own_time() {
    let mut air = Air::new(&preset("wavelan-914-cmu"), &[(0.0, 0.0), (240.0, 0.0), (60.0, 0.0)], 1);
    air.send(0, EVERYONE, 100);
    air.run(1.0);
    let over = air.log.sent[0].0.as_nanos() + 728_000;
    // The farther one comes first, and knows that it hears the end 0.6 us after the other: 240 m and 60 m at 3e8 m/s.
    let seen: Vec<_> = air.log.received.iter().map(|r| (r.1, r.0.as_nanos() - over)).collect();
    assert_eq!(seen, [(1, 800), (2, 200)]);
}
