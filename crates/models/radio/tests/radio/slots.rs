//! Many stations against a simulation of the DCF by slots, in which frames that begin in the same slot collide and all stations count on
//! from the same moment: the model of Bianchi (IEEE JSAC 18(3), 2000) without its approximation.

use wayhop_core::{Purpose, TxStatus, stream};
use wayhop_radio::{Counters, RadioConfig};

use crate::air::Air;

/// Times of an exchange, us.
struct Exchange {
    slot: f64,
    success: f64,
    collision: f64,
}

/// Packets a second, and the share of first frames (RTS, or data) that were answered.
#[derive(Debug)]
struct Carried {
    packets_per_s: f64,
    received: f64,
}

fn by_slots(stations: usize, config: &RadioConfig, times: &Exchange, seconds: f64) -> Carried {
    let mut rng = stream(1, Purpose::Backoff, 99);
    let mut windows = vec![config.cw_min; stations];
    let mut draw = |cw: u32| rng.below(u64::from(cw) + 1);
    let mut counts: Vec<u64> = windows.iter().map(|&cw| draw(cw)).collect();
    let mut tries = vec![0; stations];
    let (mut now, mut sent, mut received) = (0.0, 0u64, 0u64);
    while now < seconds * 1e6 {
        let idle = counts.iter().copied().min().expect("stations");
        for c in &mut counts {
            *c -= idle;
        }
        let senders: Vec<usize> = (0..stations).filter(|&i| counts[i] == 0).collect();
        let is_alone = senders.len() == 1;
        now += idle as f64 * times.slot + if is_alone { times.success } else { times.collision };
        sent += senders.len() as u64;
        received += u64::from(is_alone);
        for i in senders {
            tries[i] = if is_alone || tries[i] + 1 == config.short_retry_limit { 0 } else { tries[i] + 1 };
            windows[i] = if tries[i] == 0 { config.cw_min } else { (windows[i] * 2 + 1).min(config.cw_max) };
            counts[i] = draw(windows[i]);
        }
    }
    Carried { packets_per_s: received as f64 / seconds, received: received as f64 / sent as f64 }
}

fn by_radio(stations: u32, config: &RadioConfig, seconds: f64) -> Carried {
    // On a circle around the receiver, so that no frame is stronger than another one.
    let mut places = vec![(0.0, 0.0)];
    places.extend((0..stations).map(|i| {
        let a = f64::from(i) / f64::from(stations) * std::f64::consts::TAU;
        (50.0 * a.cos(), 50.0 * a.sin())
    }));
    let mut air = Air::new(config, &places, 7);
    (1..=stations).for_each(|i| air.saturate(i, 0, 1500));
    air.run(seconds);
    let first = |c: &Counters| if config.rts_threshold_bytes == 0 { c.rts } else { c.data };
    let sent: u64 = (1..=stations).map(|i| u64::from(first(air.radio.counters(i)))).sum();
    let packets = air.log.finished.iter().filter(|f| f.2 == TxStatus::Acked).count() as f64;
    Carried { packets_per_s: packets / seconds, received: packets / sent as f64 }
}

/// Airtime of this many bytes at a rate, us.
type Airtime<'a> = &'a dyn Fn(f64, f64) -> f64;

#[test]
fn saturated_stations_share_the_medium_as_in_a_simulation_by_slots() {
    // 802.11b: 192 us of preamble, 11 Mb/s, control frames at 1 Mb/s.
    let b = |bytes: f64, rate: f64| 192.0 + bytes * 8.0 / rate;
    // 802.11g: 20 us of preamble, symbols of 4 us with 96 bits at 24 Mb/s and 24 at 6 Mb/s, 6 us of extension.
    let g = |bytes: f64, rate: f64| 20.0 + 4.0 * ((22.0 + bytes * 8.0) / (4.0 * rate)).ceil() + 6.0;
    let [rts, answer, data] = [20.0, 14.0, 1536.0];
    let (sifs, seconds) = (10.0, 20.0);
    let presets: [(&str, Airtime<'_>, [f64; 2], f64); 2] =
        [("80211b", &b, [11.0, 1.0], 20.0), ("80211g", &g, [24.0, 6.0], 9.0)];
    for (preset, airtime, [fast, slow], slot) in presets {
        let difs = sifs + 2.0 * slot;
        let end = airtime(data, fast) + sifs + airtime(answer, slow) + difs;
        let clear = airtime(rts, slow) + sifs + airtime(answer, slow) + sifs;
        // Who could not read a frame waits for an EIFS: as long as an ACK would take.
        let lost_rts = airtime(rts, slow) + sifs + airtime(answer, slow) + difs;
        // An RTS at 1 Mb/s often survives another one of the same strength, by its spreading.
        for with_rts in [false, true].into_iter().take(if preset == "80211b" { 1 } else { 2 }) {
            let preset = RadioConfig::preset(preset).expect("a preset");
            // The same limit for all, and no capture by the others, as in the simulation.
            let config =
                RadioConfig { long_retry_limit: preset.short_retry_limit, capture_db: 200.0, ..preset };
            let (config, success, collision) = if with_rts {
                (RadioConfig { rts_threshold_bytes: 0, ..config }, clear + end, lost_rts)
            } else {
                (config, end, end)
            };
            for n in [5, 20, 50] {
                let slots = by_slots(n, &config, &Exchange { slot, success, collision }, seconds);
                let radio = by_radio(n as u32, &config, seconds);
                let ratio = radio.packets_per_s / slots.packets_per_s;
                println!("{n} stations, RTS {with_rts}: {slots:?} by slots, {radio:?}: {ratio:.3}");
                assert!((ratio - 1.0).abs() < 0.02, "{n} stations, RTS {with_rts}: {slots:?} {radio:?}");
                assert!((radio.received - slots.received).abs() < 0.03, "{n}: {slots:?} {radio:?}");
            }
        }
    }
}
