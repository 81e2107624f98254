//! Stations that are notified of a frame only when they need to know, against ones that are all told at once.

use proptest::prelude::*;
use wayhop_core::{Leg, Position, Purpose, Rng, Span, Time, stream};
use wayhop_radio::{EVERYONE, RadioConfig, Watching};

use crate::air::{Air, preset};

#[derive(Clone, Debug)]
struct Setting {
    seed: u64,
    stations: usize,
    /// Of the square that they are in, m.
    side_m: f64,
    /// Metres per second.
    speed: f64,
    packets: usize,
    /// Whether stations overhear, and whether all frames are captured.
    listening: [bool; 2],
    config: RadioConfig,
}

const SECONDS: f64 = 0.4;

fn settings() -> impl Strategy<Value = Setting> {
    let presets = prop::sample::select(vec!["wavelan-914-cmu", "wavelan-914-ns2", "wavelan-i"]);
    let rules =
        (any::<[bool; 3]>(), prop::sample::select(vec![0, 15]), prop::sample::select(vec![0, 300, 3000]));
    let config = (presets, rules, 0.0..20.0).prop_map(|(name, (switches, cca_us, rts), capture_db)| {
        let [immediate_access, backoff_includes_cw, eifs_replaces_difs] = switches;
        RadioConfig {
            immediate_access,
            backoff_includes_cw,
            eifs_replaces_difs,
            cca_us,
            rts_threshold_bytes: rts,
            capture_db,
            ..preset(name)
        }
    });
    let speeds = prop::sample::select(vec![0.0, 20.0, 2000.0]);
    let numbers = (any::<u64>(), 2..40usize, 1..150usize);
    (numbers, 300.0..3000.0, speeds, any::<[bool; 2]>(), config).prop_map(
        |((seed, stations, packets), side_m, speed, listening, config)| Setting {
            seed,
            stations,
            side_m,
            speed,
            packets,
            listening,
            config,
        },
    )
}

/// Legs of some tens of milliseconds, each from where the one before ended, or sometimes from anywhere else.
fn legs(start: Position, speed: f64, side_m: f64, r: &mut Rng) -> Vec<Leg> {
    let (mut legs, mut at, mut from) = (Vec::new(), start, Time::ZERO);
    while from < Time::from_secs_f64(SECONDS) {
        let until = from + Span::from_micros(5_000 + r.below(40_000));
        let (angle, speed) = (r.range(0.0, std::f64::consts::TAU), r.range(0.0, speed));
        let velocity = [speed * angle.cos(), speed * angle.sin(), 0.0];
        let leg = Leg { from, until, start: at, velocity };
        (at, from) = (leg.position(until), until);
        if r.below(10) == 0 {
            at = Position::new(r.range(0.0, side_m), r.range(0.0, side_m), 0.0);
        }
        legs.push(leg);
    }
    legs.push(Leg { from, ..Leg::at_rest(at) });
    legs
}

/// Watching the fates of frames has all stations told at once. Here nothing is watched.
fn tell_all(air: &mut Air, stations: usize) {
    let nobody = vec![false; stations];
    air.radio.watch(Watching { stations: nobody.clone(), listeners: nobody });
}

/// All that a run shows to its host, and counts.
fn run(s: &Setting, all_told: bool) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut r = stream(s.seed, Purpose::Mobility, 0);
    let mut place = || (r.range(0.0, s.side_m), r.range(0.0, s.side_m));
    let places: Vec<(f64, f64)> = (0..s.stations).map(|_| place()).collect();
    let mut air = Air::new(&s.config, &places, s.seed);
    let [overhear, capturing] = s.listening;
    air.radio.set_overhear(overhear);
    air.radio.set_capturing(capturing);
    if s.speed > 0.0 {
        let legs = places.iter().map(|&(x, y)| legs(Position::new(x, y, 0.0), s.speed, s.side_m, &mut r));
        air.log.legs = legs.collect();
        let turns = air.log.legs.iter().flat_map(|legs| legs.windows(2));
        let jumps = turns.filter(|w| w[0].position(w[1].from) != w[1].start).map(|w| w[1].from);
        air.log.jumps = jumps.collect();
        air.log.jumps.sort_unstable();
        air.log.s_per_m = 1.0 / s.speed;
    }
    if all_told {
        tell_all(&mut air, s.stations);
    }
    let mut times: Vec<u64> = (0..s.packets).map(|_| r.below((SECONDS * 0.8e9) as u64)).collect();
    times.sort_unstable();
    for nanos in times {
        let at = Time::from_nanos(nanos);
        air.run_until(at);
        let from = r.below(s.stations as u64) as u32;
        let to = match r.below(3) {
            0 => EVERYONE,
            _ => (from + 1 + r.below(s.stations as u64 - 1) as u32) % s.stations as u32,
        };
        air.send_at(at, from, to, 20 + r.below(600) as usize);
    }
    air.run(SECONDS);
    let counters: Vec<_> = (0..s.stations as u32).map(|i| *air.radio.counters(i)).collect();
    let log = air.log;
    (log.sent, log.data_sent, log.received, log.ready, log.overheard, log.finished, counters)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn stations_told_later_do_the_same_as_stations_told_at_once(s in settings()) {
        prop_assert_eq!(run(&s, false), run(&s, true));
    }
}
