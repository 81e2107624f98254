//! The path losses of the walk.

use std::sync::atomic::AtomicBool;

use wayhop_core::Time;

use super::levels::Levels;
use super::plan::{Experiment, FILES, Motion, Transport};
use crate::Runs;

fn with_runs(test: impl FnOnce(&Runs<'_>, &Levels)) {
    let dir = tempfile::tempdir().expect("a folder");
    let stop = AtomicBool::new(false);
    let runs = Runs::new(dir.path(), FILES, false, &stop).expect("written");
    let base = runs.resolve(FILES[0].0, &[]).unwrap_or_else(|e| panic!("{e:?}"));
    test(&runs, &Levels::new(&base).expect("a switch"));
}

#[test]
fn the_matrix_makes_free_space_from_its_insertion_loss_on() {
    with_runs(|_, levels| {
        assert_eq!(levels.wanted_db[0], 46.0);
        // tables/s2 of the paper: 98.2 dB at 792 m, 92.2 dB at 400 m. 20 log10(4 pi d f / c) by hand.
        for (second, db) in [(198, 98.2), (248, 100.1), (150, 95.8), (100, 92.2)] {
            let by_hand = 20.0 * (4.0 * std::f64::consts::PI * 4.0 * second as f64 * 2.437e9 / 3e8).log10();
            assert!((levels.wanted_db[second] - by_hand).abs() < 1e-6);
            assert!((levels.wanted_db[second] - db).abs() < 0.06, "{second}: {}", levels.wanted_db[second]);
        }
        // One bus alone hits a single link within half a step of 1 dB; four do it no worse.
        assert!(levels.worst_db() <= 0.5, "{}", levels.worst_db());
    });
}

#[test]
fn a_run_has_a_step_each_second_and_stands_still_before_it_walks() {
    with_runs(|runs, levels| {
        for experiment in Experiment::ALL {
            let plan = experiment.plan(levels, 3, None);
            let scenario = runs.ready(&plan, 3).unwrap_or_else(|e| panic!("{e:?}"));
            let steps = &scenario.path_losses[0].steps;
            assert_eq!(steps.len() as u64 * 1_000_000_000, scenario.duration.as_nanos());
            let error = super::levels::error_db(3, experiment.motion.number());
            let at = |s: usize| steps[s].1;
            let expect = |away: usize| (levels.made_db[away] + error).max(46.0);
            let near = |a: f64, b: f64| (a - b).abs() < 1e-3;
            match experiment.motion {
                Motion::WalkAway => {
                    assert!(near(at(0), at(10)) && near(at(9), expect(0)) && near(at(208), expect(198)));
                }
                Motion::DriveBy => {
                    assert!(near(at(0), expect(300)) && near(at(300), expect(0)) && near(at(200), at(400)));
                }
            }
            let sender =
                scenario.tracks[1].leg_at(Time::from_secs_f64(110.5)).position(Time::from_secs_f64(110.5));
            let second = 110.5 - experiment.motion.rest_s() as f64;
            assert!((sender.x - experiment.motion.place_m(second)).abs() < 1e-6);
        }
    });
}

/// The first 20 s of each walk-away, of one run: as far as 100 m, where nothing is lost.
#[test]
fn udp_and_tcp_carry_near_what_the_arithmetic_of_80211g_allows() {
    with_runs(|runs, levels| {
        // TCP: 1450 octets take 393.5 us with DIFS, mean backoff and ACK, and a TCP ACK 177.5 us: 20.3 Mb/s with one for each segment, 24.05
        // with one for two. Both ends count their backoffs at the same time, which saves up to half of one, 4 %.
        for (transport, least, most) in [(Transport::Udp, 28.0, 29.05), (Transport::Tcp, 20.3, 25.0)] {
            let experiment = Experiment { motion: Motion::WalkAway, transport };
            let mut plan = experiment.plan(levels, 1, None);
            plan.sets.push("duration_s=40".to_owned());
            let scenario = runs.ready(&plan, 1).unwrap_or_else(|e| panic!("{e:?}"));
            let watch =
                super::watch::ReceiverWatch::new(10, 30, if transport == Transport::Udp { 28 } else { 40 });
            let seen = runs.run(&scenario, watch).unwrap_or_else(|e| panic!("{e:?}")).seen();
            let mean = seen.mbps[5..25].iter().sum::<f64>() / 20.0;
            assert!((least..=most).contains(&mean), "{transport:?}: {mean} Mb/s");
            // 40 m away: 72.2 dB, so 16 dBm arrive as -56.2 dBm, but for the run's error.
            let signal = seen.signal_dbm[10].expect("packets came");
            let error = super::levels::error_db(1, experiment.motion.number());
            assert!((signal + 56.2 + error).abs() < 0.3, "{signal} {error}");
            assert!((signal - levels.signal_dbm(10, error)).abs() < 0.01, "{signal}");
        }
    });
}
