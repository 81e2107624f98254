//! Stations that are switched off and on.

use wayhop_core::{Time, TxStatus};
use wayhop_radio::{EVERYONE, FrameKind};

use crate::air::{Air, preset};

const PLACES: [(f64, f64); 3] = [(0.0, 0.0), (100.0, 0.0), (200.0, 0.0)];
const PRESETS: [&str; 3] = ["wavelan-914-ns2", "wavelan-914-sinr", "80211b"];

fn air(name: &str) -> Air {
    Air::new(&preset(name), &PLACES, 1)
}

fn off(air: &mut Air, at: f64, station: u32) {
    air.run(at);
    air.radio.switch_off(Time::from_secs_f64(at), station, &mut air.log);
}

fn on(air: &mut Air, at: f64, station: u32) {
    air.run(at);
    air.radio.switch_on(Time::from_secs_f64(at), station, &mut air.log);
}

/// When station 0 first puts data on the air.
fn first_data(preset: &str, to: u32) -> f64 {
    let mut a = air(preset);
    a.send(0, to, 1_400);
    a.run(1.0);
    let kind = if to == EVERYONE { FrameKind::Broadcast } else { FrameKind::Data };
    a.log.sent.iter().find(|s| s.2 == kind).expect("data").0.as_secs_f64()
}

#[test]
fn a_frame_that_is_cut_short_is_received_by_nobody() {
    for preset in PRESETS {
        for to in [1, EVERYONE] {
            let mut a = air(preset);
            a.send(0, to, 1_400);
            // 1,400 octets take more than 1 ms at 11 Mb/s: it is in the middle.
            off(&mut a, first_data(preset, to) + 0.0005, 0);
            assert_eq!(a.log.finished.len(), 1, "{preset}");
            assert_eq!((a.log.finished[0].1, a.log.finished[0].2), (0, TxStatus::NoAck { tries: 0 }));
            a.run(1.0);
            assert!(
                a.log.received.is_empty() && a.log.overheard.is_empty(),
                "{preset}: {:?}",
                a.log.received
            );
            // Nothing of it is left: others use the medium, and so does the station when it is on again.
            let next = Time::from_secs_f64(1.0);
            a.send_at(next, 1, 2, 500);
            a.run(2.0);
            assert_eq!(a.log.received.len(), 1, "{preset}");
            on(&mut a, 2.0, 0);
            a.send_at(Time::from_secs_f64(2.0), 0, to, 500);
            a.run(3.0);
            assert_eq!(a.log.finished.last().map(|f| f.1), Some(0), "{preset}");
            assert!(a.log.received.iter().any(|r| (r.1, r.2) == (1, 0)), "{preset}");
        }
    }
}

#[test]
fn nobody_answers_for_a_station_that_is_off() {
    for preset in PRESETS {
        let mut a = air(preset);
        off(&mut a, 0.0, 1);
        a.send(0, 1, 500);
        a.send(0, EVERYONE, 500);
        a.run(2.0);
        assert!(matches!(a.log.finished[0].2, TxStatus::NoAck { tries } if tries > 1), "{preset}");
        assert!(a.log.received.iter().all(|r| r.1 == 2), "{preset}: {:?}", a.log.received);
        assert!(a.log.sent.iter().all(|s| s.1 == 0), "{preset}");
    }
}

#[test]
fn a_station_that_is_back_is_not_taken_for_its_former_self() {
    // The first frame of the second life has the number after the last one: it is no repetition.
    let mut a = air("wavelan-914-ns2");
    a.send(0, 1, 500);
    off(&mut a, 0.1, 0);
    on(&mut a, 0.1, 0);
    a.send_at(Time::from_secs_f64(0.1), 0, 1, 500);
    a.run(1.0);
    assert_eq!(a.log.received.len(), 2);
}

#[test]
fn data_is_a_retry_only_after_data_of_the_same_packet() {
    for preset in ["wavelan-914-ns2", "wavelan-914-sinr"] {
        let mut a = air(preset);
        a.send(0, 1, 1_400);
        // Its data gets no ACK, and then seven RTS no CTS.
        let down = first_data(preset, 1) + 0.0005;
        off(&mut a, down, 1);
        a.send_at(Time::from_secs_f64(down), 0, 2, 1_400);
        a.run(2.0);
        let c = a.radio.counters(0);
        assert_eq!(a.log.finished.len(), 2, "{preset}");
        // All RTS but the first of each packet are retries; each has its data once.
        assert!(c.rts > 8, "{preset}: {c:?}");
        assert_eq!((c.data, c.retries), (2, c.rts - 2), "{preset}");
    }
}
