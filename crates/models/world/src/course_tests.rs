use super::*;

fn p(x: f64, y: f64) -> Position {
    Position::new(x, y, 0.0)
}

/// An L of 300 m + 400 m, with a stop near its corner and one 100 m from its end.
fn road() -> Course {
    Course::new(&[p(0.0, 0.0), p(300.0, 0.0), p(300.0, 400.0)], &[p(300.5, -3.0), p(306.0, 300.0)], 20.0)
        .unwrap()
}

fn convoy(separation_s: f64, jitter_s: f64) -> Convoy {
    Convoy {
        course: road(),
        speed_min: 7.0,
        speed_max: 11.0,
        halt: Span::from_secs_f64(3.0),
        separation: Span::from_secs_f64(separation_s),
        jitter: Span::from_secs_f64(jitter_s),
        duration: Time::from_secs_f64(1000.0),
    }
}

/// Metres from the course's start to a place on the L, along the road.
fn along(at: Position) -> f64 {
    assert!(at.y.abs() < 1e-6 || (at.x - 300.0).abs() < 1e-6, "off the road: {at:?}");
    at.x + at.y
}

#[test]
fn a_road_is_driven_there_and_back_and_a_ring_round_and_round() {
    assert!((road().lap_m() - 1400.0).abs() < 1e-9);
    // Both stops in both directions.
    assert_eq!(road().halts(), 4);
    let square = [p(0.0, 0.0), p(100.0, 0.0), p(100.0, 100.0), p(0.0, 100.0), p(0.0, 0.0)];
    let ring = Course::new(&square, &[p(0.0, 1.0), p(500.0, 0.0)], 20.0).unwrap();
    assert!((ring.lap_m() - 400.0).abs() < 1e-9);
    assert_eq!(ring.halts(), 1);
    assert_eq!(Course::new(&[p(1.0, 1.0), p(1.0, 1.0)], &[], 20.0), None);
    assert_eq!(Course::new(&[], &[], 20.0), None);
}

#[test]
fn cars_stay_on_the_road_within_their_speeds_and_never_jump() {
    for track in convoy(20.0, 2.0).tracks(3, 4) {
        assert_eq!(track.jumps().count(), 0);
        // The jitter's blending changes a speed by up to 2 x 2 s in a lap of 172 s.
        for leg in track.legs().iter().filter(|l| !l.is_rest()) {
            let speed = leg.speed();
            assert!(speed < 0.001 || (7.0 * 0.975..11.0 * 1.025).contains(&speed), "{speed}");
        }
        (0..1000).for_each(|s| _ = along(track.position(Time::from_secs_f64(f64::from(s)))));
    }
}

#[test]
fn a_lap_takes_its_length_at_the_mean_speed_and_its_halts() {
    let c = convoy(20.0, 0.0);
    // (11 - 7) / ln(11 / 7) = 8.850 m/s; 1400 m and 4 halts of 3 s: 170.2 s.
    assert!((c.mean_speed() - 8.850).abs() < 0.001);
    assert!((c.mean_lap_s() - 170.19).abs() < 0.01, "{}", c.mean_lap_s());
    // Over 200 laps of 6 stretches each; a lap varies by some 5 s, so the mean by 0.4 s.
    let long = Convoy { duration: Time::from_secs_f64(40_000.0), ..c };
    let track = &long.tracks(1, 1)[0];
    let turns: Vec<f64> =
        track.legs().iter().filter(|l| l.start == p(0.0, 0.0)).map(|l| l.from.as_secs_f64()).collect();
    let laps = turns.len() - 1;
    let mean = (turns[laps] - turns[0]) / laps as f64;
    assert!(laps > 200 && (mean - 170.19).abs() < 1.5, "{laps} laps, {mean} s");
}

#[test]
fn each_car_does_what_the_leader_did_the_separation_earlier() {
    let tracks = convoy(25.0, 0.0).tracks(7, 3);
    for s in 25..1000 {
        let (now, before) = (Time::from_secs_f64(f64::from(s)), Time::from_secs_f64(f64::from(s - 25)));
        for pair in tracks.windows(2) {
            assert!(pair[1].position(now).distance(pair[0].position(before)) < 1e-3, "{s}");
        }
    }
    // When it begins the last car is at the start, and the leader two separations ahead: 50 s, some 440 m.
    assert_eq!(tracks[2].position(Time::ZERO), p(0.0, 0.0));
    let lead = along(tracks[0].position(Time::ZERO));
    assert!((300.0..550.0).contains(&lead), "{lead}");
}

#[test]
fn jitter_makes_cars_early_and_late_but_keeps_their_order() {
    let tracks = convoy(20.0, 4.0).tracks(7, 5);
    // When each car passes the corner on its way out, in the leader's fourth lap from there. The cars in front have passed
    // it once more when the convoy begins behind them.
    let passes = |t: &Track| -> Vec<f64> {
        let at_corner = t.legs().iter().filter(|l| l.start == p(300.0, 0.0) && l.velocity[1] > 1.0);
        at_corner.map(|l| l.from.as_secs_f64()).collect()
    };
    let mut times = vec![passes(&tracks[0])[3]];
    for t in &tracks[1..] {
        let due = times[times.len() - 1] + 20.0;
        let nearest = passes(t).into_iter().min_by(|a, b| (a - due).abs().total_cmp(&(b - due).abs()));
        times.push(nearest.unwrap());
    }
    let gaps: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(gaps.iter().all(|g| (12.0 - 1e-6..28.0 + 1e-6).contains(g)), "{gaps:?}");
    assert!(gaps.iter().any(|g| (g - 20.0).abs() > 0.2), "{gaps:?}");
}

#[test]
fn every_car_halts_at_every_stop() {
    let track = &convoy(20.0, 0.0).tracks(5, 2)[1];
    let halts: Vec<Position> = track
        .legs()
        .iter()
        .filter(|l| l.is_rest() && (l.until.since(l.from).as_secs_f64() - 3.0).abs() < 1e-6)
        .map(|l| l.start)
        .take(4)
        .collect();
    let (corner, sign) = (p(300.0, 0.0), p(300.0, 300.0));
    assert_eq!(halts, [corner, sign, sign, corner]);
}

#[test]
fn the_same_seed_drives_the_same_and_another_one_differs() {
    let c = convoy(20.0, 1.0);
    assert_eq!(c.tracks(9, 3), c.tracks(9, 3));
    assert_ne!(c.tracks(9, 3), c.tracks(10, 3));
    // A car more changes where the others are, not how they drive.
    assert!(c.expected_legs(3) >= c.tracks(9, 3).iter().map(|t| t.legs().len()).sum::<usize>() as f64);
}
