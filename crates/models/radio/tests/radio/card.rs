//! The card: one frame is moved at a time, as many are held as there are buffers.

use crate::air::{Air, preset};
use wayhop_core::Time;
use wayhop_radio::{CardConfig, RadioConfig};

fn saturated_mbps(radio: &str) -> f64 {
    let mut air = Air::new(&preset(radio), &[(0.0, 0.0), (50.0, 0.0)], 1);
    (0..20).for_each(|_| _ = air.send(0, 1, 1500));
    air.saturate(0, 1, 1500);
    air.run(20.0);
    air.goodput_kbps(0, 1, 28, 20.0) / 1e3
}

#[test]
fn a_card_of_one_buffer_takes_turns_and_one_of_ten_is_filled_while_it_sends() {
    for (card, exchange_ms, paper_mbps) in [
        // 3.46 ms into the card, then 6.33 ms on the air; the backoff passes meanwhile.
        ("wavelan-i-pcmcia", 9.79, 1.2),
        // DIFS 0.05 + mean backoff 15.5 slots of 0.02 + 6.33 ms.
        ("wavelan-i-isa", 6.69, 1.8),
    ] {
        let got = saturated_mbps(card);
        assert!((got - 1472.0 * 8.0 / (exchange_ms * 1e3)).abs() < 0.01, "{card}: {got} Mb/s");
        assert!((got - paper_mbps).abs() < 0.05, "{card}: {got} Mb/s");
    }
}

#[test]
fn a_frame_reaches_the_air_after_its_transfer() {
    // Desilva and Das (2000), Table 1.
    for (len, ms) in [(1500, 3.46), (68, 1.13)] {
        let mut air = Air::new(&preset("wavelan-i-pcmcia"), &[(0.0, 0.0), (50.0, 0.0)], 1);
        air.send(0, 1, len);
        air.run(1.0);
        let at = air.log.sent[0].0.as_secs_f64() * 1e3;
        assert!((at - ms).abs() < 0.1, "{len} octets at {at} ms");
    }
}

#[test]
fn a_card_receives_as_fast_as_the_faster_one_sends() {
    // Table 1: both cards receive 1.8 Mb/s; only the ISA card sends as fast.
    for receiver in ["wavelan-i-pcmcia", "wavelan-i-isa"] {
        let mut air = Air::new(&preset("wavelan-i-isa"), &[(0.0, 0.0), (50.0, 0.0)], 1);
        air.radio.set_card(1, CardConfig::from(&preset(receiver)));
        (0..20).for_each(|_| _ = air.send(0, 1, 1500));
        air.saturate(0, 1, 1500);
        air.run(20.0);
        let got = air.goodput_kbps(0, 1, 28, 20.0) / 1e3;
        assert!((got - 1.8).abs() < 0.05, "{receiver}: {got} Mb/s");
        assert_eq!(air.radio.counters(1).card_drops, 0);
    }
}

#[test]
fn a_station_with_a_card_of_its_own_leaves_the_others_theirs() {
    let mut air = Air::new(&preset("wavelan-i-pcmcia"), &[(0.0, 0.0), (50.0, 0.0)], 1);
    air.radio.set_card(0, CardConfig::from(&preset("wavelan-i-isa")));
    air.send(0, 1, 1500);
    air.send_at(Time::from_secs_f64(0.5), 1, 0, 1500);
    air.run(1.0);
    let at: Vec<f64> = air.log.sent.iter().map(|s| s.0.as_secs_f64() * 1e3).collect();
    assert!((at[0] - 0.96).abs() < 0.1 && (at[1] - 503.46).abs() < 0.1, "{at:?} ms");
}

#[test]
fn received_frames_leave_the_card_one_after_the_other() {
    // Three frames of 68 octets on the air for 192 + (68 + 34) * 4 = 600 us each, 2 ms out of the card.
    let slow =
        RadioConfig { card_receive_us: 2_000.0, card_receive_us_per_byte: 0.0, ..preset("wavelan-i-isa") };
    let mut air = Air::new(&slow, &[(0.0, 0.0), (50.0, 0.0)], 1);
    (0..3).for_each(|_| _ = air.send(0, 1, 68));
    air.run(1.0);
    let ready: Vec<f64> = air.log.ready.iter().map(|t| t.as_secs_f64() * 1e3).collect();
    let first = air.log.received[0].0.as_secs_f64() * 1e3 + 2.0;
    for (got, wanted) in ready.iter().zip([first, first + 2.0, first + 4.0]) {
        assert!((got - wanted).abs() < 1e-6, "{ready:?} ms, the first at {first}");
    }
}

#[test]
fn a_frame_that_finds_every_receive_buffer_taken_is_lost() {
    let slow = RadioConfig {
        card_receive_us: 100_000.0,
        card_receive_us_per_byte: 0.0,
        card_receive_buffers: 5,
        ..preset("wavelan-i-isa")
    };
    let mut air = Air::new(&slow, &[(0.0, 0.0), (50.0, 0.0)], 1);
    (0..12).for_each(|_| _ = air.send(0, 1, 68));
    air.run(0.09);
    assert_eq!((air.log.received.len(), air.radio.counters(1).card_drops), (5, 7));
    // The first was taken 0.1 s after it came.
    air.send_at(Time::from_secs_f64(0.12), 0, 1, 68);
    air.run(0.2);
    assert_eq!(air.log.received.len(), 6);
}
