//! What became of each frame at its receivers: in places where the cause is certain, and in sums over crowded air.

use std::collections::BTreeMap;

use proptest::prelude::*;
use wayhop_core::Time;
use wayhop_radio::{EVERYONE, Fading, Fate, FrameKind, RadioConfig, Watching};

use crate::air::{Air, Told, preset};

const PRESETS: [&str; 4] = ["wavelan-914-ns2", "wavelan-914-cmu", "wavelan-914-sinr", "80211b"];

/// Stations of whose frames all is told; backoffs of no slots.
fn watched(config: &RadioConfig, places: &[(f64, f64)]) -> Air {
    let mut air = Air::new(config, places, 1);
    air.log.watches_all = true;
    air.radio.watch(Watching { stations: vec![false; places.len()], listeners: vec![false; places.len()] });
    air
}

fn at_once(name: &str) -> RadioConfig {
    RadioConfig { cw_min: 1, ..preset(name) }
}

fn at(air: &Air, station: u32, from: u32) -> Vec<Told> {
    air.log.fates.iter().filter(|t| t.station == station && t.from == from).copied().collect()
}

#[test]
fn frames_of_hidden_stations_collide_and_each_names_the_other() {
    // 480 m apart, deaf to each other: carrier sense ends at 260 m.
    for name in ["wavelan-914-cmu", "wavelan-914-sinr"] {
        let c = RadioConfig { carrier_sense_threshold_dbm: -65.0, ..at_once(name) };
        let mut air = watched(&c, &[(-240.0, 0.0), (0.0, 0.0), (240.0, 0.0)]);
        let left = air.send(0, EVERYONE, 1000);
        let right = air.send(2, EVERYONE, 1000);
        air.run(1.0);
        assert!(air.log.received.is_empty());
        let told = |from| at(&air, 1, from).first().copied().expect("a row");
        let (a, b) = (told(0), told(2));
        assert_eq!((a.packet, b.packet), (Some(left), Some(right)), "{name}");
        // With SINR the receiver is on one of the two when the other comes.
        let causes = [a.fate, b.fate];
        assert!(causes.contains(&Fate::Collision), "{name}: {causes:?}");
        assert!(causes.iter().all(|c| [Fate::Collision, Fate::Receiving].contains(c)), "{name}: {causes:?}");
        assert_eq!((a.other, b.other), (Some((2, Some(right))), Some((0, Some(left)))), "{name}");
        assert!(at(&air, 2, 0).is_empty(), "who is out of range of a broadcast is not asked");
    }
}

#[test]
fn the_earlier_of_two_frames_is_received_and_the_weak_one_meets_a_busy_receiver() {
    let c = RadioConfig { carrier_sense_threshold_dbm: -66.0, ..at_once("wavelan-914-cmu") };
    let mut air = watched(&c, &[(-130.0, 0.0), (0.0, 0.0), (245.0, 0.0)]);
    let near = air.send(0, EVERYONE, 1000);
    air.run(0.0005);
    air.send_at(Time::from_secs_f64(0.0005), 2, EVERYONE, 1000);
    air.run(1.0);
    assert_eq!(at(&air, 1, 0)[0].fate, Fate::Received);
    assert_eq!((at(&air, 1, 2)[0].fate, at(&air, 1, 2)[0].other), (Fate::Receiving, Some((0, Some(near)))));
}

#[test]
fn a_station_that_sends_hears_nothing() {
    for name in PRESETS {
        let mut air = watched(&at_once(name), &[(0.0, 0.0), (50.0, 0.0)]);
        let both = [air.send(0, EVERYONE, 500), air.send(1, EVERYONE, 500)];
        air.run(1.0);
        let (a, b) = (at(&air, 1, 0)[0], at(&air, 0, 1)[0]);
        assert_eq!([a.fate, b.fate], [Fate::Sending; 2], "{name}");
        // Each was sending its own packet.
        assert_eq!((a.other, b.other), (Some((1, Some(both[1]))), Some((0, Some(both[0])))), "{name}");
    }
}

#[test]
fn every_attempt_at_a_station_out_of_range_is_too_weak() {
    for name in ["wavelan-914-ns2", "wavelan-914-sinr"] {
        // 300 m are beyond 250 m, and sensed; 5 km are beyond everything.
        for far in [300.0, 5_000.0] {
            let c = preset(name);
            let mut air = watched(&c, &[(0.0, 0.0), (far, 0.0)]);
            let id = air.send(0, 1, 1000);
            air.run(2.0);
            let rows = at(&air, 1, 0);
            let attempts: Vec<u8> = rows.iter().map(|t| t.attempt).collect();
            assert_eq!(attempts, (1..=c.short_retry_limit).collect::<Vec<_>>(), "{name}");
            for t in rows {
                assert_eq!((t.kind, t.fate, t.packet), (FrameKind::Rts, Fate::TooWeak, Some(id)));
                assert!(t.watts < t.needed_watts && t.watts > 0.0);
            }
        }
    }
}

#[test]
fn an_exchange_is_four_frames_received() {
    for name in ["wavelan-914-ns2", "wavelan-914-sinr"] {
        let mut air = watched(&preset(name), &[(0.0, 0.0), (100.0, 0.0)]);
        let id = air.send(0, 1, 1000);
        air.run(1.0);
        let seen: Vec<_> =
            air.log.fates.iter().map(|t| (t.from, t.kind, t.fate, t.packet, t.attempt)).collect();
        let (a, b) = (0, 1);
        let frames = [(a, FrameKind::Rts), (b, FrameKind::Cts), (a, FrameKind::Data), (b, FrameKind::Ack)];
        let expect: Vec<_> = frames.map(|(from, kind)| (from, kind, Fate::Received, Some(id), 1)).to_vec();
        assert_eq!(seen, expect, "{name}");
        assert!(air.log.fates.iter().all(|t| t.began < t.ended));
    }
}

#[test]
fn a_cts_that_the_medium_forbids_is_withheld() {
    // Station 2 reserves the medium of 1, and goes down; 0, which has not heard it, sends an RTS meanwhile.
    let c = RadioConfig { carrier_sense_threshold_dbm: -64.4, ..at_once("wavelan-914-cmu") };
    let mut air = watched(&c, &[(0.0, 0.0), (240.0, 0.0), (480.0, 0.0)]);
    air.send(2, 77, 1500);
    air.run(0.0005);
    air.radio.switch_off(Time::from_secs_f64(0.0005), 2, &mut air.log);
    air.run(0.0006);
    let id = air.send_at(Time::from_secs_f64(0.0006), 0, 1, 1500);
    air.run(0.0015);
    let rts = at(&air, 1, 0)[0];
    assert_eq!((rts.kind, rts.fate, rts.packet), (FrameKind::Rts, Fate::Received, Some(id)));
    let cts = at(&air, 0, 1)[0];
    assert_eq!((cts.kind, cts.fate, cts.packet), (FrameKind::Cts, Fate::Withheld, Some(id)));
    assert!(!air.log.sent.iter().any(|s| s.1 == 1), "station 1 sent nothing");
}

#[test]
fn stations_that_go_down_lose_what_they_receive_and_cut_short_what_they_send() {
    for name in PRESETS {
        let middle = Time::from_secs_f64(0.001);
        for off in [0, 1] {
            let mut air = watched(&at_once(name), &[(0.0, 0.0), (50.0, 0.0)]);
            air.send(0, EVERYONE, 1400);
            air.run(0.001);
            air.radio.switch_off(middle, off, &mut air.log);
            air.run(1.0);
            let expect = if off == 0 { Fate::CutShort } else { Fate::NodeDown };
            assert_eq!(at(&air, 1, 0)[0].fate, expect, "{name}");
            assert!(air.log.received.is_empty());
        }
        let mut air = watched(&at_once(name), &[(0.0, 0.0), (50.0, 0.0)]);
        air.radio.switch_off(Time::ZERO, 1, &mut air.log);
        air.send(0, EVERYONE, 1400);
        air.run(1.0);
        assert_eq!(at(&air, 1, 0)[0].fate, Fate::NodeDown, "{name}");
    }
}

#[test]
fn an_address_that_nobody_has_and_a_link_by_order() {
    let mut air = watched(&preset("wavelan-914-cmu"), &[(0.0, 0.0), (50.0, 0.0)]);
    air.send(0, 77, 1000);
    air.run(2.0);
    assert!(!air.log.fates.is_empty());
    assert!(air.log.fates.iter().all(|t| t.fate == Fate::NoStation && t.station == wayhop_radio::NOBODY));

    let mut air = watched(&preset("wavelan-914-cmu"), &[(0.0, 0.0), (50.0, 0.0)]);
    air.radio.set_link(0, 1, Some(wayhop_radio::LinkOverride::Down));
    air.send(0, 1, 1000);
    air.run(2.0);
    assert!(at(&air, 1, 0).len() > 1 && at(&air, 1, 0).iter().all(|t| t.fate == Fate::Link));
}

/// A path loss is that of the threshold: a tenth of a decibel above or below decides, wherever the stations are and however they fade.
#[test]
fn a_path_loss_by_order_takes_the_place_of_distance_and_fading() {
    let c = RadioConfig { fading: Fading::Rayleigh, ..preset("wavelan-914-cmu") };
    let reach_db = c.tx_power_dbm - c.receive_threshold_dbm;
    for x in [10.0, 5_000.0] {
        for (more_db, is_heard) in [(-0.1, true), (0.1, false), (60.0, false)] {
            let mut air = watched(&c, &[(0.0, 0.0), (x, 0.0)]);
            let loss = Some(wayhop_radio::LinkOverride::PathLoss(reach_db + more_db));
            air.radio.set_link(0, 1, loss);
            air.radio.set_link(1, 0, loss);
            for _ in 0..20 {
                air.send(0, 1, 100);
            }
            air.run(5.0);
            let received = at(&air, 1, 0).iter().filter(|t| t.fate == Fate::Received).count();
            assert_eq!(received > 0, is_heard, "{x} m, {more_db} dB: {received}");
            assert!(!is_heard || received >= 20, "none is lost: {received}");
        }
    }
}

#[test]
fn fading_is_told_from_distance() {
    let c = RadioConfig { fading: Fading::Rayleigh, ..preset("wavelan-914-cmu") };
    for (x, to, on_average) in [(200.0, EVERYONE, Fate::Faded), (300.0, 1, Fate::TooWeak)] {
        let mut air = watched(&c, &[(0.0, 0.0), (x, 0.0)]);
        for _ in 0..40 {
            air.send(0, to, 100);
        }
        air.run(5.0);
        let rows = at(&air, 1, 0);
        let lost = rows.iter().filter(|t| t.fate != Fate::Received);
        assert!(lost.clone().count() > 3 && lost.clone().all(|t| t.fate == on_average), "{x}: {rows:?}");
        assert!(rows.iter().all(|t| (t.fate == Fate::Received) == (t.watts >= t.needed_watts)));
    }
}

#[test]
fn noise_alone_is_told_from_a_collision() {
    // Distance by distance until bits are lost: nobody else is there.
    let mut noise = 0;
    for x in (100..2_000).step_by(20) {
        let c = RadioConfig {
            receive_threshold_dbm: -120.0,
            carrier_sense_threshold_dbm: -120.0,
            ..preset("80211b")
        };
        let mut air = watched(&c, &[(0.0, 0.0), (f64::from(x), 0.0)]);
        air.send(0, EVERYONE, 1500);
        air.run(1.0);
        let fate = at(&air, 1, 0).first().map(|t| t.fate);
        assert!(matches!(fate, None | Some(Fate::Received | Fate::Noise | Fate::TooWeak)), "{x} m: {fate:?}");
        noise += u32::from(fate == Some(Fate::Noise));
    }
    assert!(noise > 0);
}

/// A crowd that sends to each other, and to all.
fn crowd(config: &RadioConfig, places: &[(f64, f64)], load: &[(u32, u32, usize)], watch: bool) -> Air {
    let mut air = Air::new(config, places, 7);
    if watch {
        air.log.watches_all = true;
        let stations = vec![false; places.len()];
        air.radio.watch(Watching { listeners: stations.clone(), stations });
    }
    for (i, &(from, to, len)) in load.iter().enumerate() {
        let at = i as f64 * 0.0007;
        air.run(at);
        air.send_at(Time::from_secs_f64(at), from, to, len);
    }
    // One goes down in the middle of it and comes back.
    let half = load.len() as f64 * 0.0007;
    air.run(half);
    air.radio.switch_off(Time::from_secs_f64(half), 0, &mut air.log);
    air.run(half + 0.02);
    air.radio.switch_on(Time::from_secs_f64(half + 0.02), 0, &mut air.log);
    air.run(half + 20.0);
    air
}

fn count<K: Ord>(all: impl Iterator<Item = K>) -> BTreeMap<K, usize> {
    let mut counts = BTreeMap::new();
    all.for_each(|k| *counts.entry(k).or_default() += 1);
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Each frame for one station that was sent has one row at it; what the host received is what has the outcome
    /// `received`; and watching changes nothing.
    #[test]
    fn attempts_are_received_or_lost_for_one_cause(
        which in 0..PRESETS.len(),
        fading in prop::sample::select(vec![Fading::None, Fading::Rayleigh]),
        places in prop::collection::vec((0.0..900.0, 0.0..500.0), 4..9),
        load in prop::collection::vec((any::<u32>(), any::<u32>(), 40_usize..1500), 20..60),
    ) {
        let config = RadioConfig { fading, ..preset(PRESETS[which]) };
        let n = places.len() as u32;
        let load: Vec<_> = load.into_iter().map(|(from, to, len)| {
            let (from, to) = (from % n, to % (n + 2));
            (from, if to >= n || to == from { EVERYONE } else { to }, len)
        }).collect();
        let air = crowd(&config, &places, &load, true);
        let log = &air.log;
        let meant = |t: &&Told| t.is_meant && t.fate != Fate::Withheld;
        let unicast = |k: FrameKind| k != FrameKind::Broadcast;

        // (time, sender) is a frame.
        let sent = count(log.sent.iter().filter(|s| unicast(s.2)).map(|s| (s.0, s.1)));
        let told = count(log.fates.iter().filter(meant).filter(|t| unicast(t.kind)).map(|t| (t.began, t.from)));
        prop_assert_eq!(sent, told);
        let broadcasts = count(log.fates.iter().filter(|t| t.kind == FrameKind::Broadcast)
            .map(|t| (t.began, t.from, t.station)));
        prop_assert!(broadcasts.values().all(|n| *n == 1));

        let carries = |k: FrameKind| matches!(k, FrameKind::Data | FrameKind::Broadcast);
        let received = count(log.received.iter().map(|r| (r.1, r.2, Some(r.4))));
        let rows = count(log.fates.iter().filter(|t| t.fate == Fate::Received && carries(t.kind))
            .map(|t| (t.station, t.from, t.packet)));
        prop_assert_eq!(received, rows);

        let in_order = log.fates.windows(2).all(|w| w[0].ended <= w[1].ended);
        prop_assert!(in_order);
        let unwatched = crowd(&config, &places, &load, false);
        prop_assert_eq!(&unwatched.log.received, &log.received);
        prop_assert_eq!(&unwatched.log.sent, &log.sent);
    }
}
