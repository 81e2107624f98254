//! 802.11a/g on the air: rates, control answers, and an access point with its stations.

use crate::air::{Air, preset};
use wayhop_core::{Span, Time, TxStatus};
use wayhop_radio::{EVERYONE, FrameKind, LinkOverride, RadioConfig, RateControl};

/// Airtime of an OFDM frame of `octets` bytes, us: preamble and SIGNAL 20, then symbols of 4 us
/// with SERVICE and tail bits.
fn frame_us(octets: u32, mbps: u32) -> u32 {
    20 + 4 * (8 * octets + 22).div_ceil(4 * mbps)
}

/// What a lone sender without errors carries, Mb/s of payload: (payload, IP packet) octets; SIFS, DIFS, ACK at 24 Mb/s, a mean backoff of
/// 7.5 slots of 9 us.
fn dcf_mbps(payload: u32, packet: u32, sifs_us: u32, extension_us: u32) -> f64 {
    let data = frame_us(packet + 36, 54) + extension_us;
    let ack = frame_us(14, 24) + extension_us;
    let difs = sifs_us + 18;
    f64::from(8 * payload) / (f64::from(difs + data + sifs_us + ack) + 67.5)
}

#[test]
fn a_lone_saturated_sender_at_54_mbps_gets_what_the_arithmetic_of_the_standard_says() {
    let (g, a) = (dcf_mbps(1470, 1498, 10, 6), dcf_mbps(1470, 1498, 16, 0));
    // UDP at 1470 octets: 29.9 Mb/s at most.
    assert!((g - 29.9).abs() < 0.05, "{g}");
    for (name, expect) in [("80211g-54", g), ("80211a-54", a)] {
        let config = RadioConfig { rate_control: RateControl::Fixed, ..preset(name) };
        let mut air = Air::new(&config, &[(0.0, 0.0), (20.0, 0.0)], 1);
        air.saturate(0, 1, 1498);
        air.run(5.0);
        let got = air.goodput_kbps(0, 1, 28, 5.0) / 1e3;
        assert!((got / expect - 1.0).abs() < 0.01, "{name}: {got} Mb/s, expected {expect}");
    }
}

#[test]
fn rate_controls_carry_near_what_the_best_fixed_rate_does_at_every_distance() {
    // Free space, so that rates end one after the other.
    let base = RadioConfig { path_loss: wayhop_radio::PathLoss::FreeSpace, ..preset("80211g-54") };
    for distance in [20.0, 150.0, 300.0, 600.0, 1_000.0] {
        let carried = |config: &RadioConfig| {
            let mut air = Air::new(config, &[(0.0, 0.0), (distance, 0.0)], 3);
            air.saturate(0, 1, 1498);
            air.run(4.0);
            air.goodput_kbps(0, 1, 28, 4.0)
        };
        let fixed = [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0].map(|r| {
            carried(&RadioConfig { rate_control: RateControl::Fixed, data_rate_mbps: r, ..base.clone() })
        });
        let best = fixed.into_iter().fold(0.0, f64::max);
        for (control, share) in [(RateControl::Minstrel, 0.85), (RateControl::Arf, 0.6)] {
            let got = carried(&RadioConfig { rate_control: control, ..base.clone() });
            // Within the time that they take to find it, and what they try besides. ARF tries too fast a rate with one frame in ten
            // and loses that one.
            assert!(
                got >= share * best && got <= 1.02 * best,
                "{control:?}, {distance} m: {got}, best {best} of {fixed:?}"
            );
        }
    }
}

#[test]
fn frames_say_at_which_rate_they_were_sent_and_answers_follow_the_basic_rate_set() {
    for (rate, control) in [(54.0, 240), (36.0, 240), (18.0, 120), (9.0, 60), (6.0, 60)] {
        let config = RadioConfig {
            rate_control: RateControl::Fixed,
            data_rate_mbps: rate,
            rts_threshold_bytes: 1000,
            ..preset("80211g-54")
        };
        let mut air = Air::new(&config, &[(0.0, 0.0), (20.0, 0.0)], 1);
        air.send(0, 1, 1498);
        air.send(0, EVERYONE, 100);
        air.run(0.1);
        let rates: Vec<_> = air.log.sent.iter().map(|s| (s.2, s.4)).collect();
        let expect = [
            (FrameKind::Rts, control),
            (FrameKind::Cts, control),
            (FrameKind::Data, (rate * 10.0) as u16),
            (FrameKind::Ack, control),
            (FrameKind::Broadcast, 60),
        ];
        assert_eq!(rates, expect, "{rate} Mb/s");
        // The NAV of the RTS reaches to the end of the ACK, whatever the rates.
        let us = |t: Time| t.as_nanos() as f64 / 1e3;
        let [rts, ack] = [0, 3].map(|i| &air.log.sent[i]);
        let frame = |octets, tenths: u16| f64::from(frame_us(octets, u32::from(tenths / 10)) + 6);
        let reserved = us(rts.0) + frame(20, control) + f64::from(rts.3);
        let over = us(ack.0) + frame(14, control);
        assert!((reserved - over).abs() < 2.0, "{rate} Mb/s: {reserved} {over}");
    }
}

#[test]
fn presets_of_old_send_all_control_frames_at_their_basic_rate() {
    let mut air = Air::new(&preset("80211g"), &[(0.0, 0.0), (20.0, 0.0)], 1);
    air.send(0, 1, 1000);
    air.run(0.1);
    let rates: Vec<_> = air.log.sent.iter().map(|s| (s.2, s.4)).collect();
    assert_eq!(rates, [(FrameKind::Data, 240), (FrameKind::Ack, 60)]);
}

/// An access point and a station, with a path loss (dB) for each stretch of time (s). Returns
/// whether the station is associated at the end of each.
fn associated(losses: &[(f64, f64)]) -> (Vec<bool>, Air) {
    let mut air = Air::new(&preset("meshtest"), &[(0.0, 0.0), (10.0, 0.0)], 1);
    let mut until = 0.0;
    let mut states = Vec::new();
    air.begin();
    for &(db, seconds) in losses {
        for (from, to) in [(0, 1), (1, 0)] {
            air.radio.set_link(from, to, Some(LinkOverride::PathLoss(db)));
        }
        until += seconds;
        air.run(until);
        states.push(air.radio.is_associated(Time::from_secs_f64(until), 1));
    }
    (states, air)
}

#[test]
fn a_station_that_comes_joins_nearer_than_where_one_that_goes_leaves() {
    // 16 dBm sent: -76 dBm are 92 dB away, -82 dBm are 98 dB.
    let (states, air) = associated(&[
        (99.0, 1.0),
        (92.1, 1.0),
        (91.9, 1.0),
        (97.9, 1.0),
        (98.1, 1.0),
        (97.9, 1.0),
        (91.0, 1.0),
    ]);
    assert_eq!(states, [false, false, true, true, false, false, true]);
    let beacons: Vec<_> = air.log.sent.iter().filter(|s| s.2 == FrameKind::Beacon).collect();
    // One each 102.4 ms in 7 s, all by the access point at 6 Mb/s.
    assert_eq!(beacons.len(), 69);
    assert!(beacons.iter().all(|b| b.1 == 0 && b.4 == 60));
}

#[test]
fn beacons_that_do_not_come_any_more_end_an_association_after_ten_of_them() {
    let (states, _) = associated(&[(60.0, 1.0), (150.0, 0.9), (150.0, 0.3)]);
    assert_eq!(states, [true, true, false]);
}

#[test]
fn who_is_not_associated_exchanges_no_data() {
    let mut air = associated(&[(99.0, 1.0)]).1;
    let now = Time::from_secs_f64(1.0);
    for (from, to) in [(0, 1), (1, 0), (1, EVERYONE)] {
        air.send_at(now, from, to, 500);
    }
    air.run(1.5);
    assert!(air.log.received.is_empty() && air.log.sent.iter().all(|s| s.2 == FrameKind::Beacon));
    let statuses: Vec<_> = air.log.finished.iter().map(|f| f.2).collect();
    let refused = TxStatus::NoAck { tries: 0 };
    assert_eq!(statuses, [refused, refused, TxStatus::Unknown]);
    // Near enough, all three go.
    let mut air = associated(&[(60.0, 1.0)]).1;
    for (from, to) in [(0, 1), (1, 0), (1, EVERYONE)] {
        air.send_at(now, from, to, 500);
    }
    air.run(1.5);
    assert_eq!(air.log.received.len(), 3);
}

#[test]
fn beacons_go_on_while_the_access_point_has_data_all_the_time() {
    let mut air = associated(&[(60.0, 1.0)]).1;
    air.saturate_at(Time::from_secs_f64(1.0), 0, 1, 1498);
    air.run(6.0);
    let beacons =
        air.log.sent.iter().filter(|s| s.2 == FrameKind::Beacon && s.0 >= Time::from_secs_f64(1.0)).count();
    assert!((48..=49).contains(&beacons), "{beacons}");
    assert!(air.goodput_kbps(0, 1, 28, 5.0) > 28_000.0);
}

#[test]
fn a_packet_that_comes_during_a_beacon_waits_for_one_backoff() {
    let is_beacon = |s: &&(Time, u32, FrameKind, u16, u16)| s.2 == FrameKind::Beacon;
    let first = associated(&[(60.0, 1.0)]).1;
    let third = first.log.sent.iter().filter(is_beacon).nth(2).expect("a beacon").0;
    // The same beacons again, and in the middle of the third, which takes more than 100 us, a packet.
    let mut air = Air::new(&preset("meshtest"), &[(0.0, 0.0), (10.0, 0.0)], 1);
    air.begin();
    for (from, to) in [(0, 1), (1, 0)] {
        air.radio.set_link(from, to, Some(LinkOverride::PathLoss(60.0)));
    }
    let during = third + Span::from_micros(50);
    air.run(during.as_secs_f64());
    air.send_at(during, 0, 1, 500);
    air.run(1.0);
    assert_eq!(air.log.sent.iter().filter(is_beacon).nth(2).expect("a beacon").0, third);
    assert_eq!(air.log.received.len(), 1);
}
